"""Options that cannot apply to a run or to each other are refused with a sentence, and nothing is read in silence."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import seqlab as lab
from seqlab.training.progress import Reporter
from tests.small_runs import SMALL, train_small

PAIRS = "source\ttarget\n" + "".join(f"the {n}\tdas {n}\n" for n in range(40))
TABLE = "text\tlabel\n" + "".join(f"film {n}\t{'good' if n % 2 else 'bad'}\n" for n in range(40))
TEXT = "the cat sat on the mat and the dog ran to the sea. " * 40


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model, one of lines, a classifier and a translator, in a folder of these names."""
    folder = tmp_path_factory.mktemp("runs")
    for name, content in {"my.txt": TEXT, "lines.txt": TEXT.replace(". ", "\n"), "films.tsv": TABLE}.items():
        (folder / name).write_text(content)
    (folder / "pairs.tsv").write_text(PAIRS)
    train_small(folder / "my.txt", folder / "text")
    train_small(folder / "lines.txt", folder / "lines", documents="lines")
    examples = {name: value for name, value in SMALL.items() if name != "window"}
    for file in ("films", "pairs"):
        lab.train(folder / f"{file}.tsv", out=folder / file, reporter=Reporter(), **examples)
    return folder


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("evaluate text my.txt --split validation", "'validation' is a split of the run's own data"),
        ("evaluate text --mode all", "a language model has no mode 'all': expected window or carry"),
        ("evaluate films --mode window", "mode does nothing for a classifier"),
        ("evaluate films --mode example", "mode does nothing for a classifier"),
        ("predict films fine --beam 1", "beam does nothing for a classifier"),
        ("predict films fine --n-best 1 --max-length 1", "n_best and max_length do nothing for a classifier"),
        ("predict films fine --length-penalty 1", "length_penalty does nothing for a classifier"),
        ("predict films fine --attention", "has no attention to show"),
        ("predict films fine --picture a.png", "has no attention to show"),
        ("predict pairs fine --beam 2 --n-best 3", "n_best, in a beam of 2, is 3: give a number from 1 to 2"),
        ("predict pairs fine --beam 1 --length-penalty 1", "length_penalty does nothing with a beam of 1"),
        ("generate text --beam 2 --temperature 1", "--temperature does nothing in beam search"),
        ("generate text --beam 2 --top-k 1 --seed 0", "--top-k and --seed do nothing in beam search"),
        ("generate text --beam 2 --samples 1", "--samples does nothing in beam search"),
        ("generate text --beam 2 --stop a", "--stop does nothing in beam search"),
        ("generate text --beam 1 --length-penalty 0", "--length-penalty does nothing with a beam of 1"),
        ("generate text --n-best 1", "--n-best does nothing without beam search"),
        ("generate text --length-penalty 0", "--length-penalty does nothing without beam search"),
        ("generate text --temperature 0 --top-p 0.5", "top_p does nothing at temperature 0"),
        ("generate text --temperature 0 --seed 0", "seed does nothing at temperature 0"),
        ("inspect text --text hi --text-file my.txt", "both --text and --text-file were given: give one"),
        ("inspect text", "expected a text to read"),
        ("generate text --temperature 0 --samples 2", "at temperature 0 all 2 texts would be the same"),
        ("generate text --top-k 1 --samples 2", "with top_k=1 all 2 texts would be the same"),
        ("generate text --top-k 1 --temperature 2 --seed 3", "temperature and seed do nothing with top_k=1"),
        ("train my.txt --set train.lr=1 --set train.lr=2 --out twice", "--set gives train.lr twice, as 1 and as 2"),
        (
            "train my.txt --set task.window=8 --window 16 --out twice",
            "task.window is given as 8 and, by an option, as 16",
        ),
        ("doctor films.tsv --set task.beam=1 --set task.beam=2", "--set gives task.beam twice"),
        ("index films.tsv --column text=text --column text=label --out i", "--column gives text twice"),
        (
            "train my.txt --init text --recipe speedrun/5-minutes --out other",
            "--init uses backbone.name = 'gru', and 'lstm'",
        ),
    ],
)
def test_an_option_that_cannot_apply_is_refused(
    runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab, command: str, words: str
) -> None:
    monkeypatch.chdir(runs)
    answer = seqlab(*command.split())
    assert answer.code == 2 and words in answer.err, answer.err


@pytest.mark.filterwarnings("ignore:.*of the given examples are unknown to the tokenizer:seqlab.errors.SeqlabWarning")
@pytest.mark.filterwarnings("ignore:.*translations were cut off:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize(
    "command",
    [
        "generate text --beam 2 --length-penalty 0.5 --n-best 2 -l 4",
        "generate text --temperature 0 --repetition-penalty 1.1 --stop t -l 4",
        "generate text --top-k 2 --top-p 0.5 --seed 1 -n 2 -l 4",
        "predict pairs fine --beam 2 --n-best 2 --length-penalty 1 --max-length 3",
    ],
)
def test_options_that_apply_are_taken(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab, command: str) -> None:
    monkeypatch.chdir(runs)
    answer = seqlab(*command.split())
    assert answer.code == 0, answer.err


def test_greedy_lines_are_written_once(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    assert seqlab("generate", "lines", "--temperature", "0", "-l", "4", "--json").out.count('"text"') == 1
    assert seqlab("generate", "lines", "-l", "4", "--json").out.count('"text"') == 10
    assert "default 1, or 10" in " ".join(seqlab("generate", "--help").out.replace("│", " ").split())
    strange = seqlab("generate", "lines", "-p", "tttttttt", "-l", "400").out
    assert "10 of 10 are new" in strange and "the others" not in strange, "there are no others to speak of"


def test_lines_that_a_stop_string_cuts_are_no_new_lines(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    stops = [word for letter in "aeo" for word in ("--stop", letter)]
    written = seqlab("generate", "lines", "-n", "20", "-l", "4", *stops).out
    cut = written.count("(cut at --stop)")
    assert cut and f"\n{cut} cut at --stop" in written and "20 of 20 are new" not in written
    rows = json.loads(seqlab("generate", "lines", "-n", "20", "-l", "4", "--json", *stops).out)
    unended = cut + written.count("(cut at --length)")
    assert sum(row["in_training_text"] is None and not row["finished"] for row in rows) == unended


def test_lines_that_did_not_end_are_marked(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    shown = seqlab("generate", "lines", "-l", "1", "-n", "20").out
    cut = shown.count("    (cut at --length)\n")
    assert cut and f"{cut} did not end: --length allows more.\n" in shown
    compared = re.search(r"of (\d+) whole lines are new", shown)
    assert (int(compared[1]) if compared else 0) == 20 - cut, "the beginning of a line is no line"
    stored = json.loads(seqlab("generate", "lines", "-l", "1", "-n", "20", "--json").out)
    assert sum(not one["finished"] and one["in_training_text"] is None for one in stored) == cut
    beam = ("generate", "lines", "-l", "1", "--beam", "9", "--n-best", "9")
    finished = [one["finished"] for one in json.loads(seqlab(*beam, "--json").out)]
    assert seqlab(*beam).out.count("    (cut at --length)\n") == finished.count(False) > 0


def test_lines_are_not_split_contiguously(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    refused = seqlab("train", "toy-words", "--documents", "lines", "--split", "contiguous")
    assert refused.code == 2 and "a shuffle assigns the lines to the splits" in refused.err


def test_a_text_is_given_once(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    for command in (["train"], ["compare"], ["doctor"]):
        refused = seqlab(*command, "toy-words", "--set", "corpus.source=other.txt")
        assert refused.code == 2 and "corpus.source" in refused.err, refused.err


def test_evaluate_says_how_it_scored(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    assert "mode window (windows of 16 tokens)" in " ".join(seqlab("evaluate", "text").out.split())
    carried = " ".join(seqlab("evaluate", "text", "--mode", "carry").out.split())
    assert "mode carry (the state runs through)" in carried and "windows" not in carried
    window, carry = (
        json.loads(seqlab("evaluate", "text", "--mode", mode, "--json").out).keys() for mode in ("window", "carry")
    )
    assert window - carry == {"window", "loss_by_position"} and carry <= window


@pytest.mark.filterwarnings("default::seqlab.errors.SeqlabWarning")
def test_evaluate_says_what_it_noticed_in_other_text(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab
) -> None:
    monkeypatch.chdir(runs)
    (tmp_path / "a.txt").write_bytes(("the café and the mat " * 20).encode("cp1252"))
    (tmp_path / "b.bin").write_bytes(b"\0\1\2")
    answer = seqlab("evaluate", "text", str(tmp_path))
    assert answer.code == 0
    assert "read a.txt as Windows-1252 (Latin-1), not UTF-8, such as 'café'" in answer.err
    assert "left out 1 file (binary): b.bin" in answer.err


@pytest.mark.parametrize("command", ["train", "compare --seeds 2", "doctor --documents stream"])
def test_the_readings_of_an_unclear_file_repeat_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("The DT\ncat NN\nsat VBD\n\n" * 8)
    answer = seqlab(*command.split(), "words.txt")
    assert answer.code == 2
    fitting = command.removesuffix(" --documents stream")  # tagged words have no documents
    for task, words in (("tag", fitting), ("language", command)):
        assert f"\n  seqlab {words} words.txt --task {task}   # " in answer.err


def test_columns_without_a_header_are_counted_in_the_order_of_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sms.tsv").write_text("ham\tsee you soon\n" * 8)
    answer = seqlab("compare", "sms.tsv")
    assert """--task classify --set 'corpus.columns=["2", "1"]'""" in answer.err
    assert """--task translate --set 'corpus.columns=["1", "2"]'""" in answer.err


def test_of_an_option_that_is_given_twice_the_last_value_holds_and_is_said(
    runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab
) -> None:
    monkeypatch.chdir(runs)
    answer = seqlab("train", "my.txt", "--steps", "2", "--hidden", "8", "--steps", "3", "--out", "twice")
    assert answer.code == 0 and "note: --steps was given 2 times: the last value holds, 3" in answer.err
    results = lab.load("twice").results
    assert results is not None and results.steps == 3
    answer = seqlab("inspect", "text", "--text", "hi", "--before", "--no-before")
    assert "--before was given 2 times" in answer.err


def test_a_reader_who_leaves_ends_a_command_quietly() -> None:
    command = [sys.executable, "-m", "seqlab", "list", "settings"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.wait() == 141
        assert process.stderr.read() == b""


def test_what_another_architecture_replaces_is_said(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    answer = seqlab("train", "my.txt", "--from", "text", "--arch", "lstm", "--steps", "1", "--out", "as-lstm")
    hidden = lab.load("text").settings.backbone.settings.hidden
    assert "backbone is lstm instead of gru" in answer.err and f"hidden 256 instead of {hidden}" in answer.err
    same = seqlab("train", "my.txt", "--from", "text", "--steps", "1", "--out", "as-it-was")
    assert "instead of" not in same.err


@pytest.mark.filterwarnings("default::seqlab.errors.SeqlabWarning")
def test_what_sampling_cuts_is_said(runs: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(runs)
    assert "top_k=5,000 leaves out nothing" in seqlab("generate", "text", "--top-k", "5000", "-l", "2").err
    assert "the stop string 'Ω!' does nothing" in seqlab("generate", "text", "--stop", "Ω!", "-l", "2").err
    assert "does nothing" not in seqlab("generate", "text", "--stop", "the", "-l", "2").err
    learned = {"backbone.positions": "learned"}
    train_small(runs / "my.txt", runs / "short", arch="transformer", settings=learned)
    limit = lab.load("short").model.limit
    assert limit is not None
    for options in ([], ["--beam", "2"], ["--json"]):
        answer = seqlab("generate", "short", "-p", "t" * (limit + 1), "-l", "2", *options)
        assert f"the prompt has {limit + 1:,} tokens, and the model reads at most {limit:,} at once" in answer.err
    assert "at once" not in seqlab("generate", "short", "-p", "t" * limit, "-l", "2").err
