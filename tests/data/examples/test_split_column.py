"""Splits that a column gives: used, counted and said; refused where files or ratios contradict it."""

import json
import shlex
from pathlib import Path

import pytest
from example_tables import corpus, labels
from typer.testing import CliRunner

from seqlab.analysis.doctor import diagnose
from seqlab.analysis.example_doctor import ExampleDiagnosis
from seqlab.cli.app import app
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.errors import DataError, UsageError
from seqlab.training.request import settings_from_request

WORDS = ["train", "train", "Training", "test", "dev"]
IGNORED = r"--set corpus\.split_column=none"
NOT_HELD_OUT = "looks like splits, but no row is held out by it:"
FILES = "write train, validation or test there, or put those rows into files for --validation and --test"
TINY = ["--steps", "1", "--hidden", "8", "--embedding", "8", "--threads", "1", "--batch-size", "4"]


def table(words: list[str], column: str = "split", count: int = 60) -> str:
    rows = [f"text {at},{'ab'[at // 7 % 2]},{words[at % len(words)]}\n" for at in range(count)]
    return f"text,label,{column}\n" + "".join(rows)


@pytest.mark.parametrize("column", ["split", "Partition", "fold", "set", "subset"])
def test_a_column_of_splits_is_used_and_said(write, column):
    result = open_examples("labeled", corpus(write("a.csv", table(WORDS, column)), split_ratios="80/10/10"))
    numbers = {split: [int(example.input[5:]) % 5 for example in some] for split, some in result.splits.items()}
    assert {split: set(some) for split, some in numbers.items()} == {"train": {0, 1, 2}, "validation": {4}, "test": {3}}
    assert result.rule == f"validation and test by the column '{column}'"
    assert result.notes == (
        f"the column '{column}' gives the splits: 36 train ('train' 24, 'Training' 12), 12 validation ('dev'), 12 test "
        f"(--set corpus.split_column=none ignores it)",
    )


def test_without_validation_rows_a_tenth_of_the_training_rows_is_held_out(write):
    result = open_examples("labeled", corpus(write("a.csv", table(["train", "test"]))))
    assert {split: len(some) for split, some in result.splits.items()} == {"train": 27, "validation": 3, "test": 30}
    assert result.rule.startswith("test by the column 'split'; validation is a tenth of the training examples")
    assert "30 train, 30 test, of which a tenth of train is for validation" in result.notes[0]


def test_json_lines_and_pairs_have_such_columns_too(write):
    rows = [{"source": f"s {at}", "target": f"t {at}", "split": "test" if at % 3 else "train"} for at in range(60)]
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert len(open_examples("pairs", corpus(path)).splits["test"]) == 40


@pytest.mark.parametrize(
    "content, settings, unused",
    [
        (table(WORDS), {"split_column": "none"}, "'split' (train 24, Training 12, test 12, dev 12)"),
        (
            table(["1", "2", "3"], "fold"),
            {},
            f"'fold' (1 20, 2 20, 3 20); 'fold' {NOT_HELD_OUT} to test on the rows with '3': --set "
            "corpus.split_column=fold=3",
        ),
        (table(["1", "", "3"], "fold"), {}, f"'fold' (1 20, empty 20, 3 20); 'fold' {NOT_HELD_OUT} {FILES}"),
        (
            table(["0", "1"], "test"),  # perhaps the result of one
            {},
            f"'test' (0 30, 1 30); 'test' {NOT_HELD_OUT} --set corpus.split_column=test uses it",
        ),
        (
            table(WORDS, "kind"),
            {},
            f"'kind' (train 24, Training 12, test 12, dev 12); 'kind' {NOT_HELD_OUT} --set corpus.split_column=kind "
            "uses it",
        ),
    ],
)
def test_what_divides_nothing_is_left_alone_and_said(write, content, settings, unused):
    result = open_examples("labeled", corpus(write("a.csv", content), **settings))
    assert {split: len(some) for split, some in result.splits.items()} == {"train": 54, "validation": 6}
    assert result.notes == (f"columns of a.csv: text 'text', label 'label'; not used: {unused}",)


@pytest.mark.parametrize(
    "words, column, sizes",
    [
        (["0", "0", "1"], "is_test", {"train": 36, "validation": 4, "test": 20}),
        (["True", "True", "False"], "isTrain", {"train": 36, "validation": 4, "test": 20}),
        (["no", "no", "yes"], "is_valid", {"train": 40, "validation": 20}),
        (["0", "0", "1"], "holdout", {"train": 36, "validation": 4, "test": 20}),
        (["Training", "Training", "PublicTest", "PrivateTest"], "Usage", {"train": 30, "validation": 15, "test": 15}),
        (["train", "train", "holdout"], "split", {"train": 36, "validation": 4, "test": 20}),
        (["train", "train", "test"], "train_test", {"train": 36, "validation": 4, "test": 20}),
        (["train", "train", "test"], "dataset", {"train": 36, "validation": 4, "test": 20}),
    ],
)
def test_words_and_names_of_published_tables_are_known(write, words, column, sizes):
    result = open_examples("labeled", corpus(write("a.csv", table(words, column))))
    assert {split: len(some) for split, some in result.splits.items()} == sizes


def test_a_column_with_another_name_is_used_if_it_is_named(write):
    path = write("a.csv", table(WORDS, "kind"))
    assert len(open_examples("labeled", corpus(path, split_column="Kind")).splits["test"]) == 12
    with pytest.raises(DataError, match=r"corpus\.split_column names 'part', but the other columns are 'kind'"):
        open_examples("labeled", corpus(path, split_column="part"))


def test_values_that_name_no_split_are_refused_with_their_line(write):
    with pytest.raises(DataError) as refused:
        open_examples("labeled", corpus(write("a.csv", table([*WORDS, "unsup"]))))
    assert "a.csv', line 7: the column 'split' gives the splits, but 10 examples have another" in str(refused.value)
    assert "'unsup' (10)" in str(refused.value)
    with pytest.raises(DataError, match=r"gives 30 validation \(.dev.\), 30 test, and none to train on"):
        open_examples("labeled", corpus(write("b.csv", table(["dev", "test"]))))
    with pytest.raises(DataError, match=r"c\.csv', line 2: there is no column 'split', which gives the splits of"):
        open_examples("labeled", corpus(write("a.csv", table(WORDS)), write("c.csv", "text,label\nx,a\ny,b\n")))


@pytest.mark.parametrize("word, split", [("train", "train"), ("Training", "train"), ("test", "test")])
@pytest.mark.parametrize("ratios", ["90/10", "80/10/10"])
def test_a_column_that_says_the_same_of_all_rows_is_said(write, word, split, ratios):
    result = open_examples("labeled", corpus(write("a.csv", table([word])), split_ratios=ratios))
    assert result.notes == (f"the column 'split' says only {split}: a fixed shuffle splits these rows {ratios}",)


@pytest.mark.parametrize("unanswered", [5, 20])
def test_the_split_of_rows_without_answers_is_said_with_what_they_are_for(write, unanswered):
    rows = [f"text {at},{'ab'[at % 2]},train\n" for at in range(50)]
    rows += [f"more {at},,test\n" for at in range(unanswered)]
    path = write("a.csv", "text,label,split\n" + "".join(rows))
    said = "of them are test rows by the column 'split', and no other row is"
    predict = f"seqlab predict RUN --file {path}"
    if unanswered == 20:
        with pytest.raises(DataError) as refused:
            open_examples("labeled", corpus(path))
        assert said in str(refused.value)
        assert str(refused.value).endswith(predict)
        limit = float(str(refused.value).split("corpus.skip_limit=")[1].split()[0])
        assert len(open_examples("labeled", corpus(path, skip_limit=limit)).splits["train"]) == 45
    else:
        skipped, only = open_examples("labeled", corpus(path)).notes
        assert said in skipped
        assert skipped.endswith(predict)
        assert only.startswith("the column 'split' says only train")


def test_files_for_splits_must_agree_with_the_column(write):
    path, held_out = write("a.csv", table(WORDS)), write("b.csv", table(["dev"], count=10))
    with pytest.raises(DataError, match=r"a\.csv', line 5: the file is given for the train split, .* 24 of the 60"):
        open_examples("labeled", corpus(path, validation=(held_out,)))
    train = write("c.csv", table(["train"]))
    assert open_examples("labeled", corpus(train, validation=(held_out,))).rule == "validation from files"


def test_ratios_contradict_the_column(write):
    path = write("a.csv", table(WORDS))
    with pytest.raises(UsageError, match=r"split_ratios is 80/10/10, but the column 'split' gives the splits: leave"):
        settings_from_request(path, {}, {}, {"split_ratios": "80/10/10"})
    settings_from_request(path, {}, {"corpus.split_column": "none"}, {"split_ratios": "80/10/10"})
    settings_from_request(write("b.csv", table(["train"])), {}, {}, {"split_ratios": "80/10/10"})


def test_a_file_that_is_scored_is_not_divided(write):
    path = write("a.csv", table([*WORDS, "unsup"]))
    result = open_unsplit("labeled", corpus(path))
    assert len(result.splits["whole"]) == 60
    assert result.notes == (
        "the column 'split' gives 30 train ('train' 20, 'Training' 10), 10 test, 10 validation ('dev'), 10 'unsup': "
        "all of them are scored",
    )


def test_the_doctor_agrees_and_the_printed_option_works(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write("a.csv", table(WORDS))
    found = diagnose([str(path)])
    assert isinstance(found, ExampleDiagnosis)
    assert found.splits == {"train": 36, "validation": 12, "test": 12}
    printed = (
        next(note for note in found.notes if "gives the splits" in note).rpartition("(")[2].partition(" ignores")[0]
    )
    result = CliRunner().invoke(app, ["train", str(path), *TINY, "--out", "r", *shlex.split(printed)])
    assert result.exception is None, result.output
    assert json.loads(Path("r/config.json").read_text())["corpus"]["examples"] == {"train": 54, "validation": 6}


def test_labels_are_those_of_the_training_rows(write):
    rows = "".join(f"text {at},{'ab'[at % 2]},{'train' if at < 50 else 'test'}\n" for at in range(60))
    result = open_examples("labeled", corpus(write("a.csv", "text,label,split\n" + rows)))
    assert set(labels(result, "test")) == {"a", "b"}
    with pytest.raises(DataError, match=r"line 62: unknown label 'c'"):
        open_examples("labeled", corpus(write("b.csv", "text,label,split\n" + rows + "text x,c,test\n")))


def test_a_column_that_separates_the_labels_is_said_to_give_the_splits(write):
    sides = [("neg", "train-2019")] * 40 + [("pos", "test-2020")] * 20
    rows = "".join(f"text {at},{label},{split}\n" for at, (label, split) in enumerate(sides))
    path = write("a.csv", "text,label,dataset\n" + rows)
    said = r"training split of '.*a\.csv' has only the label 'neg', and there is 'pos' in test; training needs"
    with pytest.raises(
        DataError, match=rf"{said} at least two. The column 'dataset' gives the splits: {IGNORED} ignores it"
    ):
        open_examples("labeled", corpus(path))
    assert open_examples("labeled", corpus(path, split_column="none")).splits["train"]


@pytest.mark.parametrize(("every", "advice"), [
    (4, "to test on the rows with '测试': --set 'corpus.split_column=split=测试'"),
    (2, "name the value of the test rows, one of '测试', '训练': --set corpus.split_column=split=VALUE"),
])  # fmt: skip
def test_the_value_of_test_rows_is_not_guessed_from_unknown_words(write, every, advice):
    rows = "".join(f"text {at},{'ab'[at // 7 % 2]},{'训练' if at % every else '测试'}\n" for at in range(60))
    notes = open_examples("labeled", corpus(write("a.csv", "text,label,split\n" + rows))).notes
    assert f"'split' {NOT_HELD_OUT} {advice}" in notes[0]


def test_the_user_names_the_value_of_test_rows(write):
    path = write("a.csv", table([str(number) for number in range(10)], "fold"))
    result = open_examples("labeled", corpus(path, split_column="fold=9"))
    assert {split: len(some) for split, some in result.splits.items()} == {"train": 48, "validation": 6, "test": 6}
    assert {int(example.input[5:]) % 10 for example in result.splits["test"]} == {9}
    with pytest.raises(DataError, match=r"the value '12' of 'fold', and no row has it: there is '0', '1'"):
        open_examples("labeled", corpus(path, split_column="fold=12"))
    with pytest.raises(DataError, match=r"To test on the rows with '9': --set corpus.split_column=fold=9\. "):
        open_examples("labeled", corpus(path, split_column="fold"))


def test_two_flags_are_not_taken_for_one(write):
    rows = [f"text {at},{'ab'[at // 7 % 2]},{int(at % 5 == 0)},{int(at % 5 == 1)}\n" for at in range(60)]
    result = open_examples("labeled", corpus(write("a.csv", "text,label,is_test,is_valid\n" + "".join(rows))))
    assert {split: len(some) for split, some in result.splits.items()} == {"train": 54, "validation": 6}
    assert f"'is_test' {NOT_HELD_OUT}" in result.notes[0]
    assert f"'is_valid' {NOT_HELD_OUT}" in result.notes[0]


def test_known_words_are_honored_beside_the_value_of_test_rows_and_others_are_said(write):
    path = write("a.csv", table(["train", "train", "dev", "final", "pilot"], "kind", 60))
    result = open_examples("labeled", corpus(path, split_column="kind=final"))
    assert {split: len(some) for split, some in result.splits.items()} == {"train": 36, "validation": 12, "test": 12}
    assert "12 rows whose value names no split are trained on: 'pilot' (12)" in result.notes


def test_unlabeled_rows_are_not_suggested_for_testing(write):
    path = write("a.csv", table(["TRAIN", "training", "eval", "x", "unlabeled", "training", "eval"]))
    with pytest.raises(DataError, match="Remove the rows with 'unlabeled' if their answers stand for none") as refused:
        open_examples("labeled", corpus(path))
    assert "=unlabeled" not in str(refused.value) and "'eval'" not in str(refused.value)
