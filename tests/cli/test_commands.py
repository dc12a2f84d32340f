"""The command line: what it prints, its exit codes, and how fast it answers."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TEXT = "".join(f"the {w} sat on the {v}.\n" for w in ("cat", "dog", "hen", "fox") for v in ("mat", "hut", "sea")) * 30
SMALL = ["--hidden", "16", "--embedding", "8", "--window", "16", "--batch-size", "8", "--threads", "1"]


def test_the_whole_way(seqlab, text: Path) -> None:
    trained = seqlab("train", "my.txt", "--arch", "gru", "--steps", "20", *SMALL)
    assert trained.code == 0
    assert "kneser-ney" in trained.out and "curves.png" in trained.out and "gru" in trained.out
    assert "is still better than the model" in trained.out, "20 steps do not beat counting"
    assert "validation loss" in trained.err
    assert "  seqlab generate runs/my-gru-1\n" in trained.out, "a prompt may be strange to the text"
    assert "\n  seqlab speedrun my.txt  # " in trained.out
    assert Path("runs/my-gru-1/README.md").is_file()

    evaluated = seqlab("evaluate", "runs/my-gru-1", "--json")
    content = json.loads(evaluated.out)
    assert {"nats_per_token", "perplexity", "bits_per_char", "bits_per_byte", "tokens"} <= content.keys()
    shown = seqlab("evaluate", "runs/my-gru-1").out.partition("Loss by position")[2].splitlines()
    positions, losses = (line.split() for line in shown if line[:1].isdigit())
    assert losses == [f"{content['loss_by_position'][int(position) - 1]:.3f}" for position in positions]

    beam = seqlab("generate", "runs/my-gru-1", "--prompt", "the ", "--beam", "5", "--length", "20")
    assert beam.code == 0 and beam.out.startswith("the ")
    searched = ("generate", "runs/my-gru-1", "--prompt", "the ", "--beam", "5", "--length", "20", "--json")
    assert json.loads(seqlab(*searched).out)[0]["text"] + "\n" == beam.out
    once = seqlab("generate", "runs/my-gru-1", "--prompt", "the ", "--length", "40", "--seed", "7")
    assert once.out == seqlab("generate", "runs/my-gru-1", "--prompt", "the ", "--length", "40", "--seed", "7").out
    assert len(once.out) == len("the ") + 40 + 1
    several = json.loads(seqlab("generate", "runs/my-gru-1", "-n", "3", "-l", "9", "--json").out)
    assert len(several) == 3 and len(several[0]["text"]) == 9

    assert "finished" in seqlab("resume", "runs/my-gru-1").err
    further = seqlab("resume", "runs/my-gru-1", "--more", "5")
    assert "warms up again" in further.err and further.code == 0

    assert seqlab("train", "my.txt", "--steps", "2", *SMALL).code == 0
    listed = seqlab("runs", "--json")
    assert {entry["path"] for entry in json.loads(listed.out)} == {"runs/my-gru-1", "runs/my-lstm-1"}
    assert "my-gru-1" in seqlab("runs").out


@pytest.mark.parametrize("options", [["--documents", "lines"], ["--validation", "valid.txt"]])
def test_a_speedrun_is_suggested_only_for_what_it_reads(seqlab, text: Path, options: list[str]) -> None:
    Path("valid.txt").write_text("a hen sat on the sea\n" * 40, encoding="utf-8")
    trained = seqlab("train", "my.txt", "--steps", "2", *SMALL, *options)
    assert trained.code == 0 and "seqlab speedrun" not in trained.out


def test_standard_input_is_kept_for_resuming(seqlab, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Piped:
        buffer = io.BytesIO(TEXT.encode())

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", Piped())
    trained = seqlab("train", "-", "--steps", "4", "--out", "r", *SMALL)
    assert trained.code == 0
    assert "seqlab speedrun" not in trained.out, "it cannot read standard input again"
    assert Path("r/corpus.txt").read_text(encoding="utf-8") == TEXT
    assert seqlab("resume", "r", "--more", "2").code == 0
    assert seqlab("evaluate", "r").code == 0


def test_settings_reach_the_run_from_every_side(seqlab, text: Path) -> None:
    Path("a.toml").write_text("[train]\nlr = 0.5\nsteps = 3\n[backbone]\nname = 'rnn'\n", encoding="utf-8")
    done = seqlab("train", "my.txt", "--config", "a.toml", "--set", "train.lr=0.25", "--out", "r", *SMALL)
    assert done.code == 0, done.err
    settings = json.loads(Path("r/config.json").read_text(encoding="utf-8"))["settings"]
    assert settings["train"]["lr"] == 0.25
    assert settings["train"]["steps"] == 3
    assert settings["backbone"]["name"] == "rnn"
    assert settings["backbone"]["hidden"] == 16


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["train", "nothing.txt"], 66, ["nothing.txt", "python-docs"]),
        (["train", "my.txt", "--arch", "ltsm"], 2, ["did you mean 'lstm'"]),
        (["train", "my.txt", "--steps", "5", "--epochs", "1"], 2, ["contradict"]),
        (["train", "my.txt", "--set", "train.lrr=1"], 2, ["did you mean 'lr'"]),
        (["train", "my.txt", "--recipe", "dmo"], 2, ["did you mean 'demo'"]),
        (["train", "my.txt", "--hidden", "1000000000"], 2, ["backbone.hidden", "65536"]),
        (["train", "my.txt", "--hidden", "65536", "--layers", "256"], 2, ["GiB", "backbone.hidden=65536"]),
        (["train"], 2, ["no text was given"]),
        (["generate", "nowhere"], 66, ["there is no run 'nowhere'"]),
        (["evaluate", "."], 66, ["not a run"]),
        (["list", "arch"], 2, ["did you mean 'archs'"]),
        (["trian"], 2, ["trian"]),
    ],
)
def test_mistakes_get_a_message_and_a_code(
    seqlab, text: Path, arguments: list[str], code: int, words: list[str]
) -> None:
    answer = seqlab(*arguments)
    assert answer.code == code
    for word in words:
        assert word in answer.err


def test_an_existing_run_is_never_overwritten_by_accident(seqlab, text: Path) -> None:
    assert seqlab("train", "my.txt", "--steps", "1", "--out", "r", *SMALL).code == 0
    refused = seqlab("train", "my.txt", "--steps", "1", "--out", "r", *SMALL)
    assert refused.code == 2 and "--overwrite" in refused.err
    assert seqlab("train", "my.txt", "--steps", "1", "--out", "r", "--overwrite", *SMALL).code == 0
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear", encoding="utf-8")
    refused = seqlab("train", "my.txt", "--steps", "1", "--out", "mine", "--overwrite", *SMALL)
    assert refused.code == 2 and Path("mine/letter.txt").is_file()


def test_a_short_text_gets_smaller_windows_and_says_so(seqlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.txt").write_text(TEXT[:300], encoding="utf-8")
    done = seqlab("train", "short.txt", "--steps", "3", "--hidden", "8", "--threads", "1")
    assert done.code == 0 and "using a window of" in done.err
    Path("tiny.txt").write_text("hi", encoding="utf-8")
    assert seqlab("train", "tiny.txt").code == 65
    Path("empty.txt").write_text("", encoding="utf-8")
    assert seqlab("train", "empty.txt").code == 65


def test_lists(seqlab) -> None:
    for kind, name in [("archs", "lstm"), ("corpora", "python-docs"), ("tokenizers", "bpe"), ("recipes", "demo")]:
        assert name in seqlab("list", kind).out


def cpu_seconds(command: list[str], **options: Any) -> float:
    """The least processor time of a few tries: other work on the machine does not count."""
    times = []
    for _ in range(3):
        before = os.times()
        subprocess.run(command, capture_output=True, check=False, **options)
        after = os.times()
        times.append(after.children_user - before.children_user + after.children_system - before.children_system)
    return min(times)


def test_help_and_import_are_fast_and_import_nothing_heavy() -> None:
    assert cpu_seconds([sys.executable, "-c", "import seqlab"]) < 0.2
    assert cpu_seconds([sys.executable, "-m", "seqlab", "--help"]) < 0.5
    listing = "import sys, seqlab.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert not {"torch", "numpy", "matplotlib", "pydantic"} & set(done.stdout.split())


def test_completion_is_fast_and_knows_the_registry() -> None:

    environment = {
        **os.environ,
        "_SEQLAB_COMPLETE": "complete_bash",
        "COMP_WORDS": "seqlab train --arch ",
        "COMP_CWORD": "3",
    }
    command = [str(Path(sys.executable).parent / "seqlab")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "lstm" in done.stdout.split()
    assert cpu_seconds(command, env=environment) < 1.0


def test_help_shows_the_groups(seqlab) -> None:
    shown = seqlab("--help").out
    for group in ("Train", "Use", "Compare", "Inspect"):
        assert group in shown


def test_a_recipe_trains_one_model(seqlab, text: Path) -> None:
    """NAME for the only model of a recipe, NAME/MODEL for one of several; all of them are for compare."""
    for recipe in ("char-rnn", "attention-scaling"):
        refused = seqlab("train", "my.txt", "--recipe", recipe)
        assert refused.code == 2 and f"seqlab compare --recipe {recipe}" in refused.err
    unknown = seqlab("train", "my.txt", "--recipe", "char-rnn/gruu")
    assert unknown.code == 2 and "did you mean 'gru'" in unknown.err
    small = ["--steps", "2", "--layers", "1", *SMALL, "--set", "train.sample_tokens=0"]
    trained = seqlab("train", "my.txt", "--recipe", "char-rnn/gru", *small, "--out", "r")
    assert trained.code == 0, trained.err
    assert json.loads(Path("r/config.json").read_text())["settings"]["backbone"]["name"] == "gru"
    assert {path.name for path in Path().iterdir()} == {"my.txt", "r"}  # nothing is written elsewhere


def test_filling_gaps(seqlab, text: Path) -> None:
    encoder = ["--arch", "transformer-encoder", "--set", "backbone.heads=2"]
    refused = seqlab("train", "my.txt", *encoder, "--steps", "4", *SMALL)
    assert refused.code == 2 and "--task masked" in refused.err
    trained = seqlab("train", "my.txt", "--task", "masked", *encoder, "--steps", "4", "--out", "gaps", *SMALL)
    assert trained.code == 0, trained.err
    assert "unigram" in trained.out and "kneser" not in trained.out
    assert "seqlab generate" not in trained.out
    assert seqlab("evaluate", "gaps", "--json").code == 0
    carried = seqlab("evaluate", "gaps", "--mode", "carry")
    assert carried.code == 2 and "expected window" in carried.err
    written = seqlab("generate", "gaps", "--prompt", "the")
    assert written.code == 2 and "fill gaps" in written.err
    assert seqlab("resume", "gaps", "--more", "2").code == 0
    card = Path("gaps/README.md").read_text()
    assert "masked language model" in card and "run.evaluate()" in card and "generate" not in card


@pytest.mark.filterwarnings("always:.* are not in the vocabulary:seqlab.errors.SeqlabWarning")
def test_two_shares_of_unknown_tokens_are_told_apart(seqlab, text: Path) -> None:
    """Those of the whole validation text, and those of the tokens that are scored."""
    text.write_text(TEXT + "the owl sat on the oak.\n", encoding="utf-8")
    small = [*SMALL, "--arch", "gru", "--steps", "2", "--set", "train.sample_tokens=0"]
    trained = seqlab("train", "my.txt", "--tokenizer", "word", *small)
    assert " tokens of the validation text (" in trained.err + trained.out
    assert "% of the scored validation tokens are unknown." in trained.out
