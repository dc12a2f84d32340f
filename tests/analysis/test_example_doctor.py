"""The doctor on tables, tagged words and pairs; and every command that it prints, run."""

import json
import shlex
from pathlib import Path

import pytest
from example_files import labelled, write_all
from typer.testing import CliRunner

from seqlab import api
from seqlab.analysis import suggestion
from seqlab.analysis.doctor import TextDiagnosis, diagnose
from seqlab.analysis.example_doctor import ExampleDiagnosis
from seqlab.cli.app import app
from seqlab.data.examples.checks import few_examples_note
from seqlab.errors import DataError, UsageError
from seqlab.runs.run import load
from seqlab.training import budget, timing

SMALL = {"--steps": "2", "--hidden": "8", "--embedding": "8", "--threads": "1", "--batch-size": "4"}


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(timing, "TIMED_STEPS", 1)
    for room in (budget, suggestion):
        monkeypatch.setattr(room, "default_threads", lambda: 1)


def run(*words):
    return CliRunner().invoke(app, list(words))


def examined(*source, **options) -> ExampleDiagnosis:
    result = diagnose(source, **options)
    assert isinstance(result, ExampleDiagnosis)
    assert result.refusal is None
    return result


@pytest.mark.parametrize(
    ("source", "options", "splits"),
    [
        (["my.txt"], [], None),
        (["my table.csv"], ["--set", 'corpus.columns=["body","stars"]'], {"train": 54, "validation": 6}),
        (["entities.conll"], ["--validation", "held out.conll"], {"train": 60, "validation": 60}),
        (["train.en", "train.de"], [], {"train": 54, "validation": 6}),
    ],
)
def test_the_printed_command_trains_what_was_examined(source, options, splits):
    write_all(Path())
    Path("my.txt").write_text("the lark sings.\n" * 40)
    Path("my table.csv").write_text(labelled().replace("\t", ",").replace("text,label", "body,stars"))
    Path("held out.conll").write_text(Path("entities.conll").read_text().replace("n0 ", "n60 "))
    report = run("doctor", *source, *options)
    assert report.exception is None, report.output
    command = shlex.split(report.output.rstrip().splitlines()[-1])
    small = [word for option in SMALL.items() for word in option]
    out = [] if splits else ["--out", "runs/text"]
    trained = run(*command[1:], *small, *out)
    assert trained.exception is None, (command, trained.output)
    (folder,) = Path("runs").iterdir()
    assert json.loads((folder / "config.json").read_text())["corpus"].get("examples") == splits
    if splits:
        examples = ", ".join(f"{count} {split}" for split, count in splits.items())
        assert f"{examples} examples for --task {load(folder).settings.task.name}" in report.output


MESSY = [
    *("Menü;Urteil", *(f"Teller Nummer {at};{'gut' if at % 12 else 'schlecht'}" for at in range(120))),
    *("Café;gut", "Café;schlecht", "Café;gut", ";gut", f"{'lang ' * 19}lang;gut", "kalt;lau"),
]


def test_what_is_said_about_a_table():
    Path("urteile.csv").write_bytes("\n".join(MESSY).encode("cp1252"))
    options = {"task": "classify", "assignments": ['corpus.columns=["Menü","Urteil"]', "task.max_length=10"]}
    result = examined("urteile.csv", **options)
    notes = " ".join(result.notes)
    for words in ("Windows-1252", "separated by semicolons", "skipped 1 of the 126 rows", "line 125: 'Menü' is empty"):
        assert words in notes
    assert sum(result.splits.values()) == 125
    counts = {label.label: label.train + label.validation for label in result.labels}
    assert counts == {"gut": 112, "schlecht": 11, "lau": 1}  # without the one that is too long
    assert sum(label.share for label in result.labels) == pytest.approx(1)
    assert result.lengths is not None
    assert (result.lengths.median, result.lengths.longest, result.lengths.limit, result.lengths.over) == (3, 20, 10, 1)
    assert result.inputs is not None
    assert (result.inputs.repeated, result.inputs.contradicting, result.inputs.in_training) == (2, 1, {"validation": 0})
    frequent, rare, unscored, few = result.warnings
    assert "no validation example has the label" in unscored
    assert "fewer than 200" in few
    assert "'gut' is" in frequent
    assert "times as frequent as 'lau'" in frequent
    assert "'lau (1)'" in rare
    assert "1 input has different labels in different examples, such as 'Café': 'gut', 'schlecht'" in result.notes
    assert [baseline.name for baseline in result.baselines] == ["majority", "naive Bayes"]
    assert result.estimate is not None
    assert result.command is not None
    assert shlex.split(result.command)[:3] == ["seqlab", "train", "urteile.csv"]
    said = " ".join(run("doctor", "urteile.csv", *shlex.split(result.command)[3:9]).output.split())
    for words in (
        "in the columns 'Menü' and 'Urteil'",
        "longest 20; longer than task.max_length (10) and left out of training: 1 of 112",
        "2 of the 125 examples repeat an earlier input, 1 of them with its first answer",
        "- 1 input has different labels",
        "labels: 3",
        "macro F1, %",
    ):
        assert words in said


def test_the_columns_of_a_task_that_is_named():
    Path("reviews.tsv").write_text(labelled().replace("text\tlabel", "words\tlabel"))
    assert examined("reviews.tsv", task="classify").columns == ("words", "label")


def test_held_out_files_that_repeat_the_training_file():
    write_all(Path())
    Path("most.conll").write_text(Path("entities.conll").read_text().strip().rpartition("\n\n")[0])
    result = examined("entities.conll", validation=["most.conll"])
    assert result.inputs is not None
    assert result.inputs.in_training == {"validation": 59}
    assert any(
        "59 of the 59 validation inputs (100.0%) are also in the training split" in note for note in result.notes
    )
    assert {label.label for label in result.labels} == {"O", "B-x"}
    assert few_examples_note({"validation": 59})[0] in result.warnings


def test_json():
    write_all(Path())
    content = json.loads(run("doctor", "reviews.tsv", "--json").stdout)
    assert content["splits"] == {"train": 54, "validation": 6}
    assert content["labels"][0]["label"] == "cold"
    assert content["estimate"]["sentence"]
    assert content["command"].startswith("seqlab train reviews.tsv --task classify")


def test_examples_that_training_refuses():
    Path("reviews.tsv").write_text(labelled().replace("warm", "cold"))
    result = run("doctor", "reviews.tsv", "--json")
    assert isinstance(result.exception, DataError)
    assert "only the label 'cold'" in json.loads(result.stdout)["refusal"] == str(result.exception)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["reviews.tsv", "--documents", "lines"], "corpus.documents does nothing for --task classify"),
        (["reviews.tsv", "--set", "train.lr=1"], "--set train.lr: the doctor takes settings of corpus and task"),
        (["my.txt", "--set", "corpus.split=scattered"], "--set corpus.split: of a running text"),
        (["my.txt", "--task", "masked"], "--task masked: of a running text"),
    ],
)
def test_options_that_do_not_apply_are_refused(words, reason):
    write_all(Path())
    Path("my.txt").write_text("the lark sings.\n" * 40)
    result = run("doctor", *words)
    assert isinstance(result.exception, UsageError)
    assert reason in str(result.exception)


def test_a_table_and_given_splits_as_running_text():
    """The command says what the report is about: without --task, training would read examples."""
    write_all(Path())
    result = diagnose(["reviews.tsv"], task="language", validation=["train.en"])
    assert isinstance(result, TextDiagnosis)
    assert result.command is not None
    assert "--task language" in result.command
    assert result.command.endswith("--validation train.en")
    assert any("held-out files are not examined" in note for note in result.notes)


def test_a_text_of_line_ends_is_refused_as_in_training():
    Path("empty.txt").write_bytes(b"\n" * 5_000_000)
    with pytest.raises(DataError, match="5,000,000 characters, all of them spaces or line ends") as refused:
        api.train("empty.txt")
    result = diagnose(["empty.txt"])
    assert (result.refusal, result.command) == (str(refused.value), None)


def test_characters_are_suggested_for_text_without_spaces():
    texts = ["".join(chr(0x4E00 + 37 * at + step) for step in range(11)) for at in range(60)]
    Path("zh.csv").write_text("text,label\n" + "".join(f"{text},{'ab'[at % 2]}\n" for at, text in enumerate(texts)))
    found = examined("zh.csv")
    assert "--tokenizer char" in found.warnings[0] and "--tokenizer char" in str(found.command)
    assert any(note.startswith("first example: ▁|") for note in found.notes)
    Path("my.txt").write_text("<msgid>\t" + "the lark sings.\n" * 40)
    assert any(note.startswith("the text begins: <msgid>") for note in diagnose(["my.txt"]).notes)
