"""R15, the other half: runs that are not there or torn, and settings that are wrong or contradict each other."""

import json
from pathlib import Path

import pytest
from reliability_runs import TEXT, TINY_OPTIONS, Command, lines, refused

from seqlab.runs.directory import RunDirectory

pytestmark = pytest.mark.usefixtures("folder")
OPTIONS = ["--steps", "1", *TINY_OPTIONS]


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
    "missing", ["manifest.json", "weights.safetensors", "optimizer.safetensors", "carry.safetensors"]
)
def test_torn_checkpoints(missing: str, tiny_run: Path, command: Command) -> None:
    (tiny_run / "checkpoints" / "step-10" / missing).unlink()
    answer = command("resume", tiny_run)
    assert answer.code == 0 and missing in answer.err and "Going back to the checkpoint of step 5" in answer.err
    for checkpoint in (tiny_run / "checkpoints").iterdir():
        (checkpoint / missing).unlink(missing_ok=True)
    refused(command("resume", tiny_run, "--more", "2"), 65, missing, "no earlier checkpoint")


@pytest.mark.parametrize("missing", ["results.json", "metrics.jsonl", "README.md", "vocabulary.txt", "curves.png"])
def test_runs_that_can_do_without(missing: str, tiny_run: Path, command: Command) -> None:
    (tiny_run / missing).unlink(missing_ok=True)
    for use, options in USES.items():
        assert command(use, tiny_run, *options).code == 0
    assert command("resume", tiny_run, "--more", "2").code == 0
    assert lines(tiny_run)


def test_a_run_from_a_newer_version(tiny_run: Path, command: Command) -> None:
    config = json.loads((tiny_run / "config.json").read_text())
    RunDirectory(tiny_run).write_file("config.json", json.dumps({**config, "version": 2}).encode())
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
    "a vocabulary for characters": (["--vocab-size", "300"], 2, ("tokenizer.vocab_size",)),
    "an unknown run to start from": (["--init", "none"], 66, ("none",)),
    "the other direction": (["--set", "backbone.bidirectional=true"], 2, ("reads ahead", "--task masked")),
    "an unknown batching": (["--batching", "rows"], 2, ("task.batching", "rows")),
    "an unknown initialisation": (["--set", "model.initialization=uniform:x"], 2, ("uniform:x",)),
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
    "an unknown context": (["evaluate", "{run}", "--mode", "all"], 2),
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
    refused(command("train", text, "--out", "link", "--overwrite", *OPTIONS), 2, "link")
    refused(command("train", text, "--out", text / "run", *OPTIONS), 74, str(text))


def test_a_text_is_not_overwritten_by_the_run_on_it(text: Path, tiny_run: Path, command: Command) -> None:
    (tiny_run / "corpus.txt").write_text(TEXT)
    refused(
        command("train", tiny_run / "corpus.txt", "--out", tiny_run, "--overwrite", *OPTIONS),
        2,
        "contains the training text",
    )
    assert (tiny_run / "corpus.txt").read_text() == TEXT
    refused(command("train", text, "--out", text, *OPTIONS), 2, str(text))


def test_a_run_is_not_overwritten_by_one_that_needs_it(text: Path, tiny_run: Path, command: Command) -> None:
    before = (tiny_run / "model.safetensors").read_bytes()
    out = ["--out", f"{tiny_run.parent}/../{tiny_run.parent.name}/{tiny_run.name}", "--overwrite", *OPTIONS]
    refused(command("train", text, "--init", tiny_run, *out), 2, "is the run to start from, and would be lost")
    teacher = f"task.teacher={tiny_run}"
    refused(command("train", text, "--set", teacher, *out), 2, "is the run that is the teacher, and would be lost")
    assert (tiny_run / "model.safetensors").read_bytes() == before


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
    "10^300 epochs": ["--epochs", "1e300"],
}


@pytest.mark.parametrize("what", BOUNDLESS)
def test_numbers_without_bound(what: str, text: Path, command: Command) -> None:
    refused(command("train", text, "--out", "run", *TINY_OPTIONS, *BOUNDLESS[what]), 2, "train.")
