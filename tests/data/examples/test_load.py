"""Sets of examples: their parts, their notes, and what is refused."""

import json
import subprocess
from pathlib import Path

import pytest
from example_tables import corpus, labels, many, reviews

from seqlab.config import ExampleKind
from seqlab.data.examples.checks import labels_of
from seqlab.data.examples.example import Example, Examples, LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.data.task_inference import infer_task
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.registry import CORPORA

# --- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.TSV"])
def test_one_line_is_enough_to_be_scored(write, name):
    examples = open_unsplit("labeled", corpus(write(name, reviews(("a", "x"))), validation=("nowhere",)))
    assert (examples.name, examples.splits) == ("a", {"whole": [LabeledText("a", "x")]})


def test_a_header_beside_a_table_without_one_is_removed_by_the_command(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train = write("tr.tsv", reviews(*many(20)).partition("\n")[2])
    held_out = write("va.tsv", reviews(*many(8, 50)))
    with pytest.raises(DataError, match=r"line 1: this is a header .* 'tr.tsv' has none") as said:
        open_examples("labeled", corpus(train, validation=[held_out], columns=("1", "2")))
    command = str(said.value).partition("give the new file: ")[2]
    subprocess.run(["sh", "-c", command], check=True)
    assert (tmp_path / "new.tsv").read_text() == held_out.read_text().partition("\n")[2]
    examples = open_examples("labeled", corpus(train, validation=["new.tsv"], columns=("1", "2")))
    assert len(examples.splits["validation"]) == 8


def test_several_files_are_joined(write):
    first, second = write("a.tsv", reviews(("a", "x"))), write("b.csv", "label,text\ny,b\n")
    assert open_unsplit("labeled", corpus(first, second)).splits == {
        "whole": [LabeledText("a", "x"), LabeledText("b", "y")]
    }
    first, second = write("a.conll", "a\tN"), write("b.conll", "b\tV")
    assert len(open_unsplit("tagged", corpus(first, second)).splits["whole"]) == 2
    first, second = write("a.tsv", "en\tde\na\tb\n"), write("b.tsv", "src\ttgt\nc\td\n")
    assert open_unsplit("pairs", corpus(first, second)).splits == {"whole": [TextPair("a", "b"), TextPair("c", "d")]}


@pytest.mark.parametrize("name", ["a.conll", "a.bio", "a.iob", "a.iob2", "a.txt", "a.tsv", "a.ner", "a"])
def test_words_in_columns_may_have_any_ending(write, name):
    assert open_unsplit("tagged", corpus(write(name, "a\tN\n"))).splits == {"whole": [TaggedSentence(("a",), ("N",))]}


def test_conllu_goes_by_its_ending(write):
    row = "1\ta\tb\tNOUN\tNN" + "\t_" * 5 + "\n"
    assert open_unsplit("tagged", corpus(write("a.conllu", row))).splits["whole"] == [TaggedSentence(("a",), ("NOUN",))]
    named = corpus(write("a.conllu", row), columns=("LEMMA", "XPOS"))
    assert open_unsplit("tagged", named).splits["whole"] == [TaggedSentence(("b",), ("NN",))]


def test_named_columns_reach_the_reader(write):
    path = write("a.jsonl", json.dumps({"a": "one", "b": "two"}))
    kinds: list[tuple[ExampleKind, Example]] = [
        ("labeled", LabeledText("two", "one")),
        ("pairs", TextPair("two", "one")),
    ]
    for kind, expected in kinds:
        assert open_unsplit(kind, corpus(path, columns=("b", "a"))).splits["whole"] == [expected]


def test_two_files_are_parallel(write):
    en, de = write("a.en", "one\ntwo\n"), write("a.de", "eins\nzwei\n")
    assert open_unsplit("pairs", corpus(en, de)).splits["whole"] == [TextPair("one", "eins"), TextPair("two", "zwei")]
    assert open_unsplit("pairs", corpus(de, en)).splits["whole"][0] == TextPair("eins", "one")
    texts = write("a.txt", "one\n"), write("b.txt", "eins\n")
    assert open_unsplit("pairs", corpus(*texts)).splits["whole"] == [TextPair("one", "eins")]


@pytest.mark.parametrize(
    "name, expected", [("big.en.tsv", "big"), ("here/train.tsv", "here"), (".big.tsv", ".big.tsv")]
)
def test_the_name_of_a_set(write, name, expected):
    assert open_unsplit("labeled", corpus(write(name, reviews(("a", "x"))))).name == expected


def test_the_name_of_a_set_in_the_folder_where_one_is(write, monkeypatch):
    path = Path(write("here/train.tsv", reviews(("a", "x"))))
    monkeypatch.chdir(path.parent)
    assert open_unsplit("labeled", corpus("train.tsv")).name == "here"


def test_what_was_noticed_is_told(write):
    path = write("a.tsv", b"\xef\xbb\xbf" + reviews(*many(20)).replace("\n", "\r\n").encode())
    assert open_examples("labeled", corpus(path)).notes == (
        "removed a byte-order mark at the start of a file",
        "read 21 CRLF line endings as LF",
    )


@pytest.mark.parametrize(
    "task, name, message",
    [
        ("labeled", "a.conll", "does not have the suffix of a table"),
        ("labeled", "a", "there is only 'x'"),
        ("tagged", "a.csv", "does not have the suffix of tagged words"),
        ("tagged", "a.jsonl.gz", "does not have the suffix of tagged words"),
    ],
)
def test_a_file_of_another_kind_is_refused(write, task, name, message):
    with pytest.raises(DataError, match=message):
        open_examples(task, corpus(write(name, "x")))


@pytest.mark.parametrize("names", [["a.en"], ["a.en", "a.de", "a.fr"], ["a.en", "a.tsv"]])
def test_a_translation_needs_two_sides(write, names):
    with pytest.raises(UsageError, match=r"such as train\.en train\.de"):
        open_examples("pairs", corpus(*(write(name, "x\n") for name in names)))


@pytest.mark.parametrize("kind, suffix", [("labeled", "tsv"), ("tagged", "conll")])
def test_held_out_examples_that_are_trained_on_are_refused(write, kind, suffix):
    content = reviews(*many(12)) if kind == "labeled" else "".join(f"w{at} A\nx B\n\n" for at in range(12))
    path, copy = write(f"a.{suffix}", content), write(f"b.{suffix}", content)
    with pytest.raises(UsageError, match=rf"a.{suffix}' belongs to train and to validation: a model would be scored"):
        open_examples(kind, corpus(path, validation=(path,)))
    with pytest.raises(DataError, match="train and test have the same examples"):
        open_examples(kind, corpus(path, test=(copy,)))


@pytest.mark.parametrize("header", ["text,verified,lang", "a fine film,1,en"])
def test_advice_for_a_table_to_score_names_no_option_that_scoring_lacks(write, header):
    with pytest.raises(DataError, match="Rename two of them to 'text', 'label'; if this is no header") as error:
        open_unsplit("labeled", corpus(write("a.csv", f"{header}\nno film,0,en\n")))
    assert "--set" not in str(error.value)


def test_another_spelling_of_span_tags_is_said(write):
    path = write("a.conll", "".join(f"Anna{at} b-per\nLee i-per\nmet o\n\n" for at in range(20)))
    examples = open_examples("tagged", corpus(path))
    first = examples.splits["train"][0]
    assert isinstance(first, TaggedSentence) and first.tags == ("B-per", "I-per", "O")
    said = "span tags in another spelling: read 'b-per' as 'B-per', 'i-per' as 'I-per', 'o' as 'O'"
    assert said in examples.notes


@pytest.mark.parametrize(
    "spelled", [("B_PER", "I_PER"), ("PER_B", "PER_I"), ("B_first_name", "I_first_name"), ("B_PER", "I-PER")]
)
def test_underscores_in_span_tags_are_read_as_hyphens_and_said(write, spelled):
    path = write("a.conll", "".join(f"Anna{at} {spelled[0]}\nLee {spelled[1]}\nmet O\n\n" for at in range(20)))
    examples = open_examples("tagged", corpus(path))
    kind = "first_name" if "first" in spelled[0] else "PER"
    assert {tuple(labels_of(example)) for example in examples.splits["train"]} == {(f"B-{kind}", f"I-{kind}", "O")}
    assert any(f"read '{spelled[0]}' as 'B-{kind}'" in note for note in examples.notes)


def test_one_of_two_span_tags_with_underscores_is_used_and_both_are_counted(write):
    path = write("a.conll", "".join(f"Anna{at} B_PER,B_LOC\nmet O\n\n" for at in range(20)))
    examples = open_examples("tagged", corpus(path))
    assert {tuple(labels_of(example)) for example in examples.splits["train"]} == {("B-PER", "O")}
    assert any("words with two tags joined by a comma: 20" in note for note in examples.notes)


def test_a_tag_that_is_no_span_beside_span_tags_with_underscores_is_named(write):
    lines = "".join(f"Anna{at} B_PER\nLee I_PER\nmet O\nher NN\n\n" for at in range(20))
    [note] = [note for note in open_examples("tagged", corpus(write("a.conll", lines))).notes if "word by word" in note]
    assert "'NN' fits no scheme" in note


def test_columns_without_names_cannot_be_named(write):
    with pytest.raises(UsageError, match=r"Leave out corpus\.columns"):
        open_examples("tagged", corpus(write("a.conll", "a\tN\n"), columns=("FORM", "NER")))


@pytest.mark.parametrize("task", ["labeled", "tagged", "pairs"])
def test_what_is_not_there_is_refused(tmp_path, write, task):
    full = write("full.tsv", "text\tlabel\na\tb\n")
    for wrong in ("nowhere.tsv", "x" * 5000):
        with pytest.raises(MissingInput, match="there is no file or built-in corpus") as refused:
            open_examples(task, corpus(wrong))
        assert len(str(refused.value)) < 400
        with pytest.raises(MissingInput):
            open_examples(task, corpus(full, validation=(wrong,)))
    with pytest.raises(UsageError, match="standard input"):
        open_examples(task, corpus("-"))
    with pytest.raises(UsageError, match="standard input"):
        open_examples(task, corpus(full, test=("-",)))
    with pytest.raises(DataError, match="is a folder"):
        open_examples(task, corpus(str(tmp_path)))
    with pytest.raises(DataError, match="cannot be combined"):
        open_examples(task, corpus(full, "toy-words"))
    with pytest.raises(DataError, match=r"empty|no words"):
        open_examples(task, corpus(write("empty.tsv", "")))


# --- built in -------------------------------------------------------------------------------------------------------


def generated(difficulty):
    size = difficulty or 3
    splits = {split: [TextPair(f"{split} {size}", "x")] for split in ("train", "validation")}
    return Examples("reverse", splits, "made afresh")


@pytest.fixture
def corpus_of_pairs(monkeypatch):
    """The generator of 'reverse', replaced; a text that is asked for examples is never made."""
    monkeypatch.setattr(CORPORA, "load", lambda name: {"reverse": generated}[name])


def test_a_built_in_set_brings_its_parts(corpus_of_pairs):
    assert open_examples("pairs", corpus("reverse")) == generated(None)
    assert open_examples("pairs", corpus("reverse", difficulty=8)) == generated(8)
    whole = open_unsplit("pairs", corpus("reverse", difficulty=8, validation=("a.tsv",)))
    assert whole.splits == {"whole": [TextPair("train 8", "x"), TextPair("validation 8", "x")]}


def test_a_built_in_set_of_another_kind(corpus_of_pairs):
    with pytest.raises(DataError, match=r"'reverse' has no tagged sentences\. Train it with --task translate"):
        open_examples("tagged", corpus("reverse"))
    with pytest.raises(UsageError, match="has its own splits"):
        open_examples("pairs", corpus("reverse", validation=("a.tsv",)))


@pytest.mark.parametrize("name", ["toy-words", "tiny-shakespeare"])
def test_a_built_in_text_has_no_labels(corpus_of_pairs, name):
    with pytest.raises(DataError, match=f"'{name}' is a text, not a set of examples. Train it with --task language"):
        open_examples("labeled", corpus(name))


# --- real data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder, task, train, validation, test",
    [
        ("sst", "labeled", "train.tsv", "dev.tsv", "test.tsv"),
        ("ud-ewt", "tagged", "en_ewt-ud-train.conllu", "en_ewt-ud-dev.conllu", "en_ewt-ud-test.conllu"),
        ("wnut17", "tagged", "train.conll", "dev.conll", "test.conll"),
        ("multi30k-en-de", "pairs", "train.en train.de", "val.en val.de", "test2016.en test2016.de"),
    ],
)
def test_real_sets_open(shared_data, folder, task, train, validation, test):
    """The counts are those that the sets are published with."""
    if not (shared_data / folder).is_dir():
        pytest.skip(f"the measuring data is not here: no folder '{shared_data / folder}' (set SEQLAB_DATA)")
    source, *held_out = (
        tuple(str(shared_data / folder / name) for name in names.split()) for names in (train, validation, test)
    )
    examples = open_examples(task, corpus(*source, validation=held_out[0], test=held_out[1]))
    assert [len(split) for split in examples.splits.values()] == {
        "sst": [6920, 872, 1821],
        "ud-ewt": [12544, 2001, 2077],
        "wnut17": [3394, 1009, 1287],
        "multi30k-en-de": [29000, 1014, 1000],
    }[folder]
    assert examples.name == {"ud-ewt": "en_ewt-ud-train"}.get(folder, folder)
    said = (
        "also in the",
        "repeat an earlier",
        "from an earlier one only in case",
        "in different examples",
        "passed over lines of",
        "have tokens of Moses",
        "have tags, entities or escapes",
        "FORM is the word, UPOS its tag",
    )
    assert all(any(words in note for words in said) for note in examples.notes)
    assert infer_task(source) is not None
    if task == "tagged":
        kinds = {tag for tags in labels(examples, "train") for tag in tags}
        assert len(kinds) == {"ud-ewt": 17, "wnut17": 13}[folder]  # 17 parts of speech; 6 types of names and O


def test_words_that_are_not_scored_are_counted(write):
    path = write("a.conll", "".join(f"Anna{at} B-PER\nmet {'O' if at % 2 else '_'}\n\n" for at in range(20)))
    note = "10 of the 40 words are tagged '_': they are read, but neither trained on nor scored"
    assert note in open_examples("tagged", corpus(path)).notes
    assert note in open_unsplit("tagged", corpus(path)).notes


def test_a_built_in_corpus_is_read_before_a_file_of_its_name_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = open_examples("pairs", corpus("dates"))
    (tmp_path / "dates").write_text("my own dates\n" * 20)
    after = open_examples("pairs", corpus("dates"))
    note = "'dates' is the built-in corpus, not the file or folder of that name, which ./dates reads"
    assert after.splits == before.splits and {*after.notes} - {*before.notes} == {note}
    assert note in open_unsplit("pairs", corpus("dates")).notes


def test_tables_of_words_and_tags_are_refused_with_what_to_do(write):
    rows = [{"tokens": ["It", "is", "Rome"], "tags": ["O", "O", "B-LOC"]}] * 10
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=r"does not have the suffix .*to write a word and its tag on each line: jq -r"):
        open_examples("tagged", corpus(path))
    path = write("a.csv", "Word,Tag\n" + "Rome,B-LOC\nis,O\n" * 10)
    with pytest.raises(
        DataError, match=r"has span tags in 'Tag': a word on each row\. Write the word, a tab and its tag"
    ):
        open_examples("tagged", corpus(path))
