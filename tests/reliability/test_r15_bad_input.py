"""R15: whatever is given, the answer is a message with file and line, the right exit code and no traceback."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from reliability_runs import TEXT, TINY_OPTIONS, Answer, lines, outcome, resume, train

from seqlab.runs.layout import RunDirectory

Command = Callable[..., Answer]
OPTIONS = ["--steps", "1", *TINY_OPTIONS]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(answer: Answer, code: int, *words: str) -> None:
    assert answer.code == code, answer
    assert "\nerror: " in f"\n{answer.err}" or code == 2, answer.err
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err, (word, answer.err)


# --- texts ----------------------------------------------------------------------------------------------------------

BAD_TEXTS: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "bad UTF-8": (
        TEXT.encode() + b"caf\xe9\n",
        ("my.txt", f"line {TEXT.count(chr(10)) + 1}", f"offset {len(TEXT) + 3}"),
    ),
    "cut UTF-8": (TEXT.encode() + "é".encode()[:1], ("my.txt", f"line {TEXT.count(chr(10)) + 1}")),
    "NUL": (b"one\ntwo\0\n" + TEXT.encode(), ("my.txt", "line 2", "NUL")),
    "UTF-16": (TEXT.encode("utf-16"), ("my.txt", "UTF-16", "iconv")),
    "empty": (b"", ("my", "0 characters")),
    "a byte-order mark alone": (b"\xef\xbb\xbf", ("my", "0 characters")),
    "a line": (b"hello\n", ("my", "6 characters")),
}


@pytest.mark.parametrize("kind", BAD_TEXTS)
def test_texts_that_cannot_be_used(kind: str, command: Command) -> None:
    content, words = BAD_TEXTS[kind]
    Path("my.txt").write_bytes(content)
    refused(command("train", "my.txt", *OPTIONS), 65, *words)
    assert not Path("runs").exists()


def test_a_broken_archive(command: Command) -> None:
    Path("my.txt.gz").write_bytes(gzip.compress(TEXT.encode())[:-30])
    refused(command("train", "my.txt.gz", *OPTIONS), 65, "my.txt.gz")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xef\xbb\xbf" + TEXT.encode(), "byte-order mark"),
        (TEXT.replace("\n", "\r\n").encode(), f"{TEXT.count(chr(10))} line ends were CRLF"),
    ],
    ids=["BOM", "CRLF"],
)
def test_texts_that_are_put_right(content: bytes, said: str, command: Command, text: Path) -> None:
    Path("odd.txt").write_bytes(content)
    answer = command("train", "odd.txt", "--out", "odd", *OPTIONS, "--set", "train.sample=0")
    assert answer.code == 0 and said in answer.err
    assert outcome(Path("odd")) == outcome(train(text, Path("plain"), steps=1))


def test_a_text_shorter_than_one_window(command: Command) -> None:
    Path("short.txt").write_text(TEXT[:80])
    answer = command(
        "train", "short.txt", "--out", "run", "--steps", "2", "--hidden", "8", "--embedding", "4", "--threads", "1"
    )
    assert answer.code == 0
    assert "only 72 tokens" in answer.err and "asked for: 128 and 32" in answer.err
    assert command("generate", "run", "-l", "5").code == 0


@pytest.mark.parametrize("content", ["a" * 500, "\n" * 500, "ab\n" * 200, "é€𝄞\u200b" * 100], ids=ascii)
@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_monotonous_texts(content: str, documents: str, command: Command) -> None:
    Path("my.txt").write_text(content, encoding="utf-8")
    answer = command("train", "my.txt", "--out", "run", "--documents", documents, *OPTIONS)
    assert answer.code in (0, 65) and "Traceback" not in answer.err
    if answer.code == 0:
        assert command("generate", "run", "-l", "5").code == 0
        assert command("evaluate", "run").code == 0


def assert_a_long_line_is_no_matter(size: int, command: Command) -> None:
    Path("long.txt").write_text(TEXT + TEXT.replace("\n", " ") * (size // len(TEXT)) + "\n" + TEXT)
    for documents in ("stream", "lines"):
        answer = command("train", "long.txt", "--out", documents, "--documents", documents, *OPTIONS)
        assert answer.code == 0, answer.err


def test_a_long_line(command: Command) -> None:
    assert_a_long_line_is_no_matter(500_000, command)


@pytest.mark.slow
def test_a_line_of_ten_megabytes(command: Command) -> None:
    assert_a_long_line_is_no_matter(10_000_000, command)


@pytest.mark.parametrize(
    "name", ["$x_{$.txt", "[red]no.txt", "a b'\"c.txt", "-.txt", "日本語.txt", "..txt", "café.txt"]
)
def test_names_of_files(name: str, text: Path, command: Command) -> None:
    Path(name).write_bytes(text.read_bytes())
    answer = command("train", f"./{name}", *OPTIONS)
    assert answer.code == 0, answer.err
    (run,) = Path("runs").iterdir()
    assert command("generate", run, "-l", "5").code == 0
    assert name.split(".")[0] in json.loads((run / "config.json").read_text(encoding="utf-8"))["corpus"]["name"]


def test_a_name_that_is_not_utf8(text: Path, command: Command) -> None:
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    try:
        Path(name).write_bytes(text.read_bytes())
    except OSError:
        pytest.skip("this system has no such names")
    run = train(Path(name), Path("run"), steps=1)
    assert outcome(run) == outcome(train(text, Path("plain"), steps=1))
    assert resume(run, more=1) and command("evaluate", "run").code == 0


# --- the naughty strings --------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def naughty(shared_data: Path) -> list[str]:
    strings = json.loads((shared_data / "robustness" / "naughty-strings.json").read_text(encoding="utf-8"))
    assert len(strings) > 500
    return strings


def assert_prompts_are_no_matter(strings: list[str], run: Path, command: Command) -> None:
    for string in strings:
        answer = command("generate", run, f"--prompt={string}", "-l", "3")
        assert answer.code == 0, (string, answer.err)
        assert answer.out.startswith(string)


def assert_corpora_are_no_matter(strings: list[str], command: Command) -> None:
    for number, string in enumerate(strings):
        Path("naughty.txt").write_text((string + "\n") * (1 + 150 // (len(string) + 1)), encoding="utf-8", newline="")
        answer = command("train", "naughty.txt", "--out", f"run-{number}", *OPTIONS, "--set", "train.sample=3")
        assert answer.code == 0 or (answer.code == 65 and "naughty" in answer.err), (string, answer.err)


def test_naughty_prompts(naughty: list[str], tiny_run: Path, command: Command) -> None:
    assert_prompts_are_no_matter(naughty[::8], tiny_run, command)


@pytest.mark.slow
def test_every_naughty_prompt(naughty: list[str], tiny_run: Path, command: Command) -> None:
    assert_prompts_are_no_matter(naughty, tiny_run, command)


def test_naughty_corpora(naughty: list[str], command: Command) -> None:
    assert_corpora_are_no_matter(naughty[::30], command)


@pytest.mark.slow
def test_every_naughty_corpus(naughty: list[str], command: Command) -> None:
    assert_corpora_are_no_matter(naughty, command)


@pytest.mark.parametrize("tokenizer", ["char", "byte", "word", "bpe"])
def test_all_naughty_strings_at_once(tokenizer: str, naughty: list[str], command: Command) -> None:
    Path("naughty.txt").write_text("\n".join(naughty), encoding="utf-8", newline="")
    answer = command("train", "naughty.txt", "--out", "run", "--tokenizer", tokenizer, "--documents", "lines", *OPTIONS)
    assert answer.code == 0, answer.err
    assert command("generate", "run", "-l", "5").code == 0


# --- prompts --------------------------------------------------------------------------------------------------------


def test_unseen_characters_in_a_prompt(tiny_run: Path, command: Command) -> None:
    answer = command("generate", tiny_run, "--prompt", "the Ωλ", "-l", "5")
    assert answer.code == 0 and answer.out.startswith("the Ωλ")
    assert "note: " in answer.err and "'Ω' (U+03A9)" in answer.err and "'λ'" in answer.err


@pytest.mark.parametrize("prompt", ["\0", "\x1b[31m", "\u202e", "a" * 5000, "", " ", "\udcff"], ids=ascii)
def test_odd_prompts(prompt: str, tiny_run: Path, command: Command) -> None:
    answer = command("generate", tiny_run, "--prompt", prompt, "-l", "5")
    if "\udcff" in prompt:
        refused(answer, 65, "surrogate")
    else:
        assert answer.code == 0


# --- runs -----------------------------------------------------------------------------------------------------------

USES: dict[str, list[str]] = {"generate": ["-l", "3"], "evaluate": [], "resume": []}


@pytest.mark.parametrize("use", USES)
def test_runs_that_are_not_there(use: str, command: Command) -> None:
    refused(command(use, "no/such/run", *USES[use]), 66, "no/such/run")
    Path("folder").mkdir()
    refused(command(use, "folder", *USES[use]), 66, "folder", "not a run")
    Path("file").write_text("a file")
    refused(command(use, "file", *USES[use]), 66, "file")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("missing", ["config.json", "manifest.json", "tokenizer.json", "model.safetensors"])
def test_torn_runs(missing: str, use: str, tiny_run: Path, command: Command) -> None:
    (tiny_run / missing).unlink()
    refused(command(use, tiny_run, *USES[use]), 66, missing)


@pytest.mark.parametrize(
    "missing", ["manifest.json", "weights.safetensors", "optimiser.safetensors", "carry.safetensors"]
)
def test_torn_checkpoints(missing: str, tiny_run: Path, command: Command) -> None:
    (tiny_run / "checkpoints" / "step-10" / missing).unlink()
    refused(command("resume", tiny_run, "--more", "2"), 66, missing)


@pytest.mark.parametrize("missing", ["results.json", "metrics.jsonl", "README.md", "vocabulary.txt", "curves.png"])
def test_runs_that_can_do_without(missing: str, tiny_run: Path, command: Command) -> None:
    (tiny_run / missing).unlink(missing_ok=True)
    for use, options in USES.items():
        assert command(use, tiny_run, *options).code == 0
    assert command("resume", tiny_run, "--more", "2").code == 0
    assert lines(tiny_run)


def test_a_run_from_a_newer_version(tiny_run: Path, command: Command) -> None:
    config = json.loads((tiny_run / "config.json").read_text())
    RunDirectory(tiny_run).put("config.json", json.dumps({**config, "version": 2}).encode())
    for use, options in USES.items():
        refused(command(use, tiny_run, *options), 65, "newer seqlab", "Upgrade")


# --- settings -------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[list[str], int, tuple[str, ...]]] = {
    "a misspelt architecture": (["--arch", "lsmt"], 2, ("lsmt", "did you mean 'lstm'")),
    "an unknown tokenizer": (["--tokenizer", "chra"], 2, ("did you mean 'char'",)),
    "a misspelt setting": (["--set", "train.leraning=1"], 2, ("train.leraning",)),
    "a misspelt section": (["--set", "trian.lr=1"], 2, ("did you mean 'train'",)),
    "no assignment": (["--set", "lr"], 2, ("section.key=value",)),
    "two budgets": (["--steps", "5", "--epochs", "1"], 2, ("steps and epochs contradict each other",)),
    "no steps": (["--steps", "0"], 2, ("train.steps",)),
    "a negative learning rate": (["--lr", "-1"], 2, ("train.lr",)),
    "a learning rate in words": (["--lr", "fast"], 2, ("--lr",)),
    "a share of two": (["--dropout", "2"], 2, ("dropout",)),
    "an unknown option": (["--stpes", "5"], 2, ("--stpes",)),
    "an unknown recipe": (["--recipe", "dem"], 2, ("did you mean 'demo'",)),
    "no settings file": (["--config", "none.toml"], 66, ("none.toml",)),
    "an unknown device": (["--set", "train.device=abacus"], 2, ("train.device", "abacus")),
    "a device that is no device": (["--set", "train.device=meta"], 2, ("train.device", "meta")),
    "a vocabulary for characters": (["--vocabulary", "300"], 2, ("tokenizer.size",)),
    "an unknown run to start from": (["--init", "none"], 66, ("none",)),
    "the other direction": (["--set", "backbone.bidirectional=true"], 2, ("bidirectional",)),
    "an unknown batching": (["--batching", "rows"], 2, ("task.batching", "rows")),
    "an unknown initialisation": (["--set", "model.init=uniform:x"], 2, ("uniform:x",)),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_settings(what: str, text: Path, command: Command) -> None:
    arguments, code, words = WRONG[what]
    budget = [] if "--steps" in arguments or "--epochs" in arguments else ["--steps", "1"]
    refused(command("train", text, "--out", "run", *TINY_OPTIONS, *budget, *arguments), code, *words)
    assert not Path("run").exists()


def test_a_settings_file_that_is_not_one(text: Path, command: Command) -> None:
    Path("my.toml").write_text("[train\nlr = 1")
    refused(command("train", text, "--config", "my.toml"), 2, "my.toml")


@pytest.mark.parametrize(
    "option", [["--init", "{run}", "--hidden", "32"], ["--init", "{run}", "--arch", "gru"]], ids=str
)
def test_settings_that_contradict_the_run_to_start_from(
    option: list[str], text: Path, tiny_run: Path, command: Command
) -> None:
    refused(command("train", text, *(word.format(run=tiny_run) for word in option)), 2, "contradicts")


WRONG_USE: dict[str, tuple[list[str], int]] = {
    "a length below zero": (["generate", "{run}", "-l", "-5"], 2),
    "a temperature below zero": (["generate", "{run}", "--temperature", "-1"], 2),
    "a temperature that is no number": (["generate", "{run}", "--temperature", "nan"], 2),
    "no tokens to choose from": (["generate", "{run}", "--top-k", "0"], 2),
    "a beam of none": (["generate", "{run}", "--beam", "0"], 2),
    "a part that there is not": (["evaluate", "{run}", "--split", "test"], 2),
    "an unknown context": (["evaluate", "{run}", "--context", "all"], 2),
    "a text that is not there": (["evaluate", "{run}", "none.txt"], 66),
    "more of nothing": (["resume", "{run}", "--more", "0"], 2),
    "an unknown kind": (["list", "arch"], 2),
    "an unknown command": (["trian"], 2),
}


@pytest.mark.parametrize("what", WRONG_USE)
def test_wrong_uses(what: str, tiny_run: Path, command: Command) -> None:
    arguments, code = WRONG_USE[what]
    refused(command(*(word.format(run=tiny_run) for word in arguments)), code)


@pytest.mark.parametrize("text_given", ["none.txt", "tiny-shakespear", "folder"])
def test_texts_that_are_not_there(text_given: str, command: Command) -> None:
    Path("folder").mkdir()
    code = 65 if text_given == "folder" else 66
    refused(command("train", text_given, *OPTIONS), code, text_given)


def test_places_that_are_taken(text: Path, tiny_run: Path, command: Command) -> None:
    refused(command("train", text, "--out", tiny_run, *OPTIONS), 2, "--overwrite", f"seqlab resume {tiny_run}")
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    refused(command("train", text, "--out", "mine", "--overwrite", *OPTIONS), 2, "mine", "not a run")
    assert Path("mine/thesis.txt").read_text() == "years of work"
    Path("link").symlink_to(tiny_run)
    refused(command("train", text, "--out", "link", "--overwrite", *OPTIONS), 74, "link")
    refused(command("train", text, "--out", text / "run", *OPTIONS), 74, str(text))


def test_a_text_is_not_overwritten_by_the_run_on_it(text: Path, tiny_run: Path, command: Command) -> None:
    (tiny_run / "corpus.txt").write_text(TEXT)
    refused(command("train", tiny_run / "corpus.txt", "--out", tiny_run, "--overwrite", *OPTIONS), 2, "holds the text")
    assert (tiny_run / "corpus.txt").read_text() == TEXT
    refused(command("train", text, "--out", text, *OPTIONS), 2, str(text))


def test_a_cache_that_cannot_be_made(text: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(text / "cache"))
    refused(command("train", text, *OPTIONS), 74, str(text))


def test_a_learning_rate_that_breaks_the_model(text: Path, command: Command) -> None:
    for steps in ("1", "9"):
        options = [*TINY_OPTIONS, "--steps", steps, "--lr", "1e38", "--overwrite"]
        refused(command("train", text, "--out", "run", *options), 70, "lr")


BOUNDLESS: dict[str, list[str]] = {
    "epochs without end": ["--epochs", "inf"],
    "seconds without end": ["--seconds", "inf"],
    "a number of steps with 400 digits": ["--steps", "9" * 400],
    "a learning rate without bound": ["--lr", "inf", "--steps", "1"],
}


@pytest.mark.parametrize("what", BOUNDLESS)
def test_numbers_without_bound(what: str, text: Path, command: Command) -> None:
    refused(command("train", text, "--out", "run", *TINY_OPTIONS, *BOUNDLESS[what]), 2, "train.")
