"""R28: nothing is read, run or obeyed by accident: modules beside the text, own runs, pipes, escape sequences."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from reliability_runs import TEXT, TINY_OPTIONS, Command, environment, refused, train

from seqlab.comparison.execution.process import worker_command
from seqlab.data.text.corpus import open_corpus
from seqlab.processes import python_command

pytestmark = pytest.mark.usefixtures("folder")
OPTIONS = ["--steps", "1", *TINY_OPTIONS]


def test_a_worker_does_not_run_modules_of_the_working_directory(folder: Path) -> None:
    for name in ("filelock", "torch", "json"):
        (folder / f"{name}.py").write_text("open('executed', 'w')")
    commands = [worker_command(folder), python_command("import seqlab.api, sys; sys.exit('filelock.py' in sys.path)")]
    for command in commands:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, env=environment(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert not Path("executed").exists()


def test_runs_and_comparisons_in_a_folder_are_no_text(text: Path, folder: Path, command: Command) -> None:
    Path("my.txt").write_bytes(text.read_bytes())
    alone = "".join(open_corpus(["."]).blocks())
    train(Path("my.txt"), Path("runs/first"), steps=1)
    for name, file in (("finished", "results.json"), ("unfinished", "tuning/plan.json")):
        (Path("runs") / name / "locks").mkdir(parents=True)
        (Path("runs") / name / file).parent.mkdir(exist_ok=True)
        (Path("runs") / name / file).write_text('{"format": "seqlab-comparison"}')
    exported = command("export", "runs/first", "--out", "exported")
    assert exported.code == 0, exported.err
    Path("for-transformers").mkdir()
    Path("for-transformers/config.json").write_text('{"model_type": "gpt_neox"}')
    Path("for-transformers/model.safetensors").write_bytes(b"")
    corpus = open_corpus(["."])
    assert "".join(corpus.blocks()) == alone == TEXT
    [note] = corpus.fixes.notes()
    listed = note.removeprefix("left out 5 folders of seqlab runs, comparisons, indexes or exports: ")
    assert sorted(listed.split(", ")) == ["exported", "finished", "first", "for-transformers", "unfinished"]
    answer = command("train", ".", "--out", "runs/second", *OPTIONS)
    assert answer.code == 0 and "left out 5 folders" in answer.err
    assert command("evaluate", "runs/second").code == 0
    for place in ("runs/first", "runs/finished", "runs/unfinished"):
        refused(command("train", place, *OPTIONS), 65, "is a run or a comparison", "--from")


def test_a_manifest_alone_makes_no_run(text: Path) -> None:
    """Its folder is read: whoever copied the file there has texts of their own beside it."""
    train(text, Path("run"), steps=1)
    Path("own/build").mkdir(parents=True)
    Path("own/build/text.txt").write_text("so it goes")
    Path("own/build/manifest.json").write_bytes(Path("run/manifest.json").read_bytes())
    corpus = open_corpus(["own"])
    assert "so it goes" in "".join(corpus.blocks()) and not corpus.fixes.run_folders


@pytest.mark.parametrize("name", ["train", "compare", "doctor"])
def test_an_empty_name_is_not_this_folder(name: str, text: Path, command: Command) -> None:
    Path("my.txt").write_bytes(text.read_bytes())
    refused(command(name, ""), 2, "an empty name was given")


@pytest.mark.parametrize("words", [["train"], ["doctor"], ["train", "--task", "classify"], ["compare"]])
def test_pipes_and_devices_are_refused_at_once(words: list[str], command: Command) -> None:
    os.mkfifo("pipe.txt")
    for source in ("pipe.txt", "/dev/zero", "/dev/null"):
        refused(command(*words, source), 2, "is a pipe or a device", "standard input")


def test_the_text_of_a_run_that_has_become_a_pipe(text: Path, command: Command) -> None:
    Path("my.txt").write_bytes(text.read_bytes())
    run = train(Path("my.txt"), Path("run"), steps=1)
    Path("my.txt").unlink()
    os.mkfifo("my.txt")
    for name in ("evaluate", "audit", "resume"):
        refused(command(name, run), 2, "is a pipe or a device")


def test_names_that_are_not_utf8_are_shown(text: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.training.timing.TIMED_STEPS", 1)
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    try:
        Path(f"{name}.txt").write_bytes(text.read_bytes())
    except OSError:
        pytest.skip("this system has no such names")
    run = f"runs/{name}"
    for words in (
        ["train", f"{name}.txt", "--out", run, *OPTIONS],
        ["evaluate", run],
        ["evaluate", run, f"{name}.txt"],
        ["runs"],
        ["runs", "--json"],
        ["doctor", f"{name}.txt"],
        ["resume", run, "--more", "1"],
        ["generate", run, "-l", "3"],
        ["audit", run],
    ):
        answer = command(*words)
        assert answer.code in (0, 1), (words, answer.err)


def test_escape_sequences_are_shown_and_not_obeyed(text: Path, command: Command) -> None:
    name = "\x1b]0;title\x07\x1b[31mred"
    Path(f"{name}.txt").write_bytes(text.read_bytes())
    run = f"runs/{name}"
    for words in (["train", f"{name}.txt", "--out", run, *OPTIONS], ["runs"], ["evaluate", run], ["resume", f"{run}x"]):
        answer = command(*words)
        assert "\x1b" not in answer.out + answer.err, words
    assert "\\u001b[31mred" in command("resume", f"{run}x").err


def test_commands_to_type_next_are_quoted(text: Path, command: Command) -> None:
    run, corpus = "runs/a b; touch executed", Path(shutil.copy(text, "c d; touch executed.txt"))
    answer = command("train", corpus, "--out", run, *OPTIONS)
    *proposed, speedrun = [line.strip() for line in answer.out.splitlines() if line.startswith("  seqlab ")]
    assert len(proposed) == 4 and all(run in shlex.split(line) for line in proposed)
    assert str(corpus) in shlex.split(speedrun)
