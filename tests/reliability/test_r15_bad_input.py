"""R15: whatever is given, the answer is a message with file and line, the right exit code and no traceback."""

import gzip
import json
from pathlib import Path

import pytest
from reliability_runs import TEXT, TINY_OPTIONS, Command, outcome, refused, resume, train

pytestmark = pytest.mark.usefixtures("folder")
OPTIONS = ["--steps", "1", *TINY_OPTIONS]


# --- texts ----------------------------------------------------------------------------------------------------------

BAD_TEXTS: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "bad UTF-8": (
        TEXT.encode() + b"caf\x81\n",
        ("my.txt", f"line {TEXT.count(chr(10)) + 1}", f"offset {len(TEXT) + 3}"),
    ),
    "cut UTF-8": (TEXT.encode() + "é".encode()[:1], ("my.txt", f"line {TEXT.count(chr(10)) + 1}")),
    "NUL": (b"one\ntwo\0\n" + TEXT.encode(), ("my.txt", "line 2", "NUL")),
    "cut UTF-16": (TEXT.encode("utf-16")[:-1], ("my.txt", "UTF-16", "iconv")),
    "blank": (b" \n" * 100, ("my", "all of them spaces or line ends")),
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
        (TEXT.replace("\n", "\r\n").encode(), f"read {TEXT.count(chr(10))} CRLF line endings as LF"),
        (TEXT.encode("utf-16"), "read odd.txt as UTF-16"),
    ],
    ids=["BOM", "CRLF", "UTF-16"],
)
def test_texts_that_are_put_right(content: bytes, said: str, command: Command, text: Path) -> None:
    Path("odd.txt").write_bytes(content)
    answer = command("train", "odd.txt", "--out", "odd", *OPTIONS, "--set", "train.sample_tokens=0")
    assert answer.code == 0 and said in answer.err
    assert outcome(Path("odd")) == outcome(train(text, Path("plain"), steps=1))


def test_a_text_shorter_than_one_window(command: Command) -> None:
    Path("short.txt").write_text(TEXT[:80])
    answer = command(
        "train", "short.txt", "--out", "run", "--steps", "2", "--hidden", "8", "--embedding", "4", "--threads", "1"
    )
    assert answer.code == 0
    assert "only 72 tokens" in answer.err and "a window of" in answer.err
    assert "instead of 128 and a batch size of" in answer.err and "instead of 32" in answer.err
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
    """As running text: a line with separators, repeated, might be a table, and `train` would ask."""
    for number, string in enumerate(strings):
        Path("naughty.txt").write_text((string + "\n") * (1 + 150 // (len(string) + 1)), encoding="utf-8", newline="")
        options = [*OPTIONS, "--task", "language"]
        answer = command("train", "naughty.txt", "--out", f"run-{number}", *options, "--set", "train.sample_tokens=3")
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
