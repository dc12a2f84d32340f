"""What is said of a set in its parts: labels, tags, and inputs on two sides."""

import gzip
import subprocess

import pytest
from example_tables import corpus, labels, many, reviews

from seqlab.data.content_notes import content_notes
from seqlab.data.examples.checks import few_examples_note, label_notes
from seqlab.data.examples.example import UNSCORED, LabeledText, TaggedSentence
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.errors import DataError

ADVICE = "Correct it, or add training examples of it."


@pytest.mark.parametrize("split", ["validation", "test"])
def test_an_unknown_label_is_said_with_its_line(write, split):
    train = write("a.tsv", reviews(*many(20)))
    unknown = write("b.tsv", reviews(("x", "odd"), ("y", "strange")))
    with pytest.raises(DataError) as refused:
        open_examples("labeled", corpus(train, **{split: (unknown,)}))
    assert (
        str(refused.value)
        == f"'{unknown}', line 3: unknown label 'strange'. The training split has 'even', 'odd'. {ADVICE}"
    )


def test_one_label_cannot_be_learnt(write):
    path = write("a.tsv", reviews(*((text, "x") for text, _ in many(20))))
    with pytest.raises(DataError, match=r"a\.tsv' has only the label 'x'"):
        open_examples("labeled", corpus(path))
    path = write("a.conll", "a\tO\n\n" * 5 + "b\t_\n")
    dev = write("dev.conll", "c\tO\n")
    with pytest.raises(DataError, match="has only the tag 'O'"):
        open_examples("tagged", corpus(path, validation=(dev,)))
    path = write("b.conll", "a\t_\n")
    with pytest.raises(DataError, match="has no tag; training needs"):
        open_examples("tagged", corpus(path, validation=(dev,)))


def test_a_label_may_look_like_the_mark_of_unscored_tags(write):
    path = write("a.tsv", reviews(*((text, "_" if label == "odd" else label) for text, label in many(20))))
    examples = open_examples("labeled", corpus(path))
    assert set(labels(examples, "train")) == {UNSCORED, "even"}


def test_unknown_tags_are_kept_and_counted(write):
    train = write("a.conll", "a\tN\nb\tV\n")
    dev = write("b.conll", "c\tN\nd\tX\n\ne\tY\nf\tX\ng\t_\n")
    examples = open_examples("tagged", corpus(train, validation=(dev,)))
    assert examples.splits["validation"] == [
        TaggedSentence(("c", "d"), ("N", "X")),
        TaggedSentence(("e", "f", "g"), ("Y", "X", "_")),
    ]
    assert examples.notes == (
        "1 of the 7 words is tagged '_': it is read, but neither trained on nor scored",
        "3 of the 4 validation tags do not occur in the training split ('X', 'Y'; 'X' in the sentence at "
        f"'{dev}', line 1): each counts as an error, and the mean of nats leaves them out",
    )


def test_a_part_of_which_no_tag_is_known_is_refused(write):
    train, dev = write("a.conll", "a\tN\nb\tV\n"), write("b.conll", "c\tX\n\nd\tY\n")
    with pytest.raises(DataError, match=r"b\.conll', line 1: unknown tag 'X', like all others of the validation split"):
        open_examples("tagged", corpus(train, validation=(dev,)))
    with pytest.raises(DataError, match=r"line 1: unknown tag 'X', like all others of the given split"):
        open_unsplit("tagged", corpus(dev), ("N", "V"))
    assert "1 of the 2 given tags" in open_unsplit("tagged", corpus(dev), ("N", "X")).notes[0]


def test_inputs_on_two_sides_are_counted_and_stay(write):
    train = write("a.tsv", reviews(*many(10)))
    dev = write("b.tsv", reviews(*many(20, 8), *many(4, 8)))
    test = write("c.tsv", reviews(("text 1", "even"), ("text 20", "odd"), ("text 21", "odd"), ("new", "odd")))
    examples = open_examples("labeled", corpus(train, validation=(dev,), test=(test,)))
    assert examples.notes == (
        "9 of the 38 examples repeat an earlier input, 7 of them with its first answer",
        "2 inputs have different labels in different examples, such as 'text 1': 'even', 'odd'",
        "4 of the 24 validation inputs (16.7%) are also in the training split",
        "1 of the 4 test inputs (25.0%) is also in the training split",
        "2 of the 4 test inputs (50.0%) are also in the validation split",
    )
    assert [len(split) for split in examples.splits.values()] == [10, 24, 4]


def test_span_tags_are_read_as_bio_in_all_parts(write):
    """By itself, the second file would be BIO with a slip."""
    train, dev = write("a.iob", "x\tI-p\ny\tB-p\n\nz\tO\n"), write("b.iob", "x\tI-p\ny\tI-p\nz\tI-q\n")
    examples = open_examples("tagged", corpus(train, validation=(dev,)))
    assert labels(examples, "train", "validation") == [("B-p", "B-p"), ("O",), ("B-p", "I-p", "B-q")]
    assert examples.notes[0] == "converted IOB1 tags to BIO"
    assert all("counts as an error" in note for note in examples.notes[1:])


def test_slips_in_span_tags_are_told(write):
    train = write("a.bio", "x\tB-p\ny\tI-p\nz\tO\nw\tI-p\n")
    examples = open_unsplit("tagged", corpus(train))
    assert examples.splits == {"whole": [TaggedSentence(("x", "y", "z", "w"), ("B-p", "I-p", "O", "B-p"))]}
    assert examples.notes == ("I- tags that continue no span of their type: 1, read as B-",)
    examples = open_unsplit("tagged", corpus(write("b.bio", "x\tS-p\ny\tE-p\n")))
    assert examples.splits == {"whole": [TaggedSentence(("x", "y"), ("B-p", "B-p"))]}
    assert examples.notes == (
        "converted BIOES tags to BIO",
        "I- or E- tags that continue no span of their type: 1, read as B-",
    )


def test_tags_that_mark_no_spans_stay_as_they_are(write):
    path = write("a.conll", "x\tDET\ny\tNOUN\n")
    assert open_unsplit("tagged", corpus(path)).notes == ()
    path = write("b.conll", "w\tO\n\nx\tS-p\ny\tNOUN\nz\tI-p\n")
    examples = open_unsplit("tagged", corpus(path))
    assert examples.splits["whole"][1] == TaggedSentence(("x", "y", "z"), ("S-p", "NOUN", "I-p"))
    assert examples.notes == (
        "tags are predicted word by word, not as spans: 'NOUN' fits no scheme (BIO, IOB1, BIOES), first in the "
        f"sentence at '{path}', line 3",
    )


def test_rows_that_repeat_and_labels_that_are_changed_or_alike_are_said(write):
    rows = [*many(12), ("text 1", "odd"), ("text 2", "Even"), ("text 3", " odd "), ("new", "Even")]
    one, other = write("a.tsv", reviews(*rows)), write("b.tsv", reviews(("other", "odd")))
    examples = open_examples("labeled", corpus(one, other, validation=(write("c.tsv", reviews(("x", "odd"))),)))
    assert examples.notes == (
        "joined 2 files into 17 examples: a.tsv (16), b.tsv (1)",
        "removed the spaces around 1 label",
        "'Even' (2), 'even' (6) differ only in case: they are different labels",
        "3 of the 18 examples repeat an earlier input, 2 of them with its first answer",
        "1 input has different labels in different examples, such as 'text 2': 'Even', 'even'",
    )


def test_an_answer_is_the_same_if_it_is_that_of_the_first_example(write):
    rows = [("text 1", "even"), *[("text 1", "odd")] * 3, *[("text 2", "odd")] * 2]
    train, dev = write("a.tsv", reviews(*rows)), write("b.tsv", reviews(("new", "odd")))
    repeated, several, *_ = open_examples("labeled", corpus(train, validation=(dev,))).notes
    assert repeated == "4 of the 7 examples repeat an earlier input, 1 of them with its first answer"
    assert several == "1 input has different labels in different examples, such as 'text 1': 'even', 'odd'"


def test_few_validation_examples_are_said():
    assert few_examples_note({"train": 9, "validation": 200}) == []
    [note] = few_examples_note({"validation": 1})
    assert note.startswith("results are based on 1 validation example, fewer than 200: a single one is 100.0% of them")


def test_labels_that_may_be_missing_values_and_invisible_characters_are_said(write):
    rows = [*many(12), ("text\u200b 13", "NA"), ("text\u200b 14", "NA"), ("text\u00ad 15", "n/a"), ("text 16", r"\N")]
    path, dev = write("a.tsv", reviews(*rows)), write("b.tsv", reviews(("x", "odd"), ("y", "NA")))
    examples = open_examples("labeled", corpus(path, validation=(dev,)))
    assert examples.notes == (
        r"'NA' (3), 'n/a' (1), '\N' (1) may stand for a missing label: it is learned like any other. Delete such rows "
        "if so",
    )
    assert content_notes(examples)[-1:] == [
        "invisible characters: 3, read as they are: U+200B zero width space (2), U+00AD soft hyphen (1)"
    ]


def test_labels_are_named_as_they_were_read_and_those_that_are_never_scored_are_said(write):
    rows = [*many(12), ("text 13", '"rare\nlabel"')]
    path = write("a.csv", "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    dev = write("b.csv", "text,label\nx,odd\n")
    test = write("c.csv", path.read_text() + "x,odd\n")
    known, missing = content_notes(open_examples("labeled", corpus(path, validation=(dev,), test=(test,))))
    assert known == r"3 labels in the training split: 'even' (6), 'odd' (6), 'rare\nlabel' (1)"
    assert missing == (
        r"no validation example has the labels 'even' (6), 'rare\nlabel' (1): validation results do not show whether "
        "the model recognizes them"
    )


def test_the_labels_of_every_split_are_counted_once():
    class Read(list[LabeledText]):
        times = 0

        def __iter__(self):
            self.times += 1
            return super().__iter__()

    splits = {
        "train": Read([LabeledText("a", "x"), LabeledText("b", "y")]),
        "validation": Read([LabeledText("c", "x")]),
    }
    assert len(label_notes(splits)) == 2
    assert [split.times for split in splits.values()] == [1, 1]


def test_tags_that_are_never_scored_are_said(write):
    path, dev = write("a.conll", "a B-x\nb I-x\nc O\n"), write("b.conll", "d B-x\ne O\n")
    known, missing = content_notes(open_examples("tagged", corpus(path, validation=(dev,))))
    assert known == "3 tags in the training split: 'B-x' (1), 'I-x' (1), 'O' (1)"
    assert missing.startswith("no validation word has the tag 'I-x' (1): validation results do not show")


def test_labels_that_are_measured_are_said(write):
    measured = [(f"text {at}", f"{at / 7 - 2:.4f}") for at in range(30)]
    dev = write("b.tsv", reviews(("x", "-2.0000")))
    notes = open_examples("labeled", corpus(write("a.tsv", reviews(*measured)), validation=(dev,))).notes
    assert any(
        note.startswith("the 30 different labels look like measured numbers, such as '-2.0000'") for note in notes
    )
    stars = [(f"text {at}", str(at % 5)) for at in range(30)]
    notes = open_examples("labeled", corpus(write("c.tsv", reviews(*stars)))).notes
    assert not any("measured" in note for note in notes)


@pytest.mark.parametrize(
    "name, line, said",
    [
        (
            "a.conll",
            "{}\tcat\tcat\tN\tNN\t_\t0\troot\t_\t_\n",
            r"UPOS and XPOS\. .*ends in \.conllu\. .*FORM., .UPOS.\]'$",
        ),
        ("a.conllu", "{}\tcat\tcat\t_\tNN\t_\t0\troot\t_\t_\n", r"two\. There are tags in XPOS\. .*FORM., .XPOS.\]'$"),
        ("a.conll", "cat{}\tN\t_\n", r"Column 2 has values such as 'N'\. .*: awk .*a\.conll > new\.conll"),
    ],
)
def test_the_column_that_has_tags_is_named_where_the_usual_one_has_none(write, name, line, said):
    path = write(name, "".join(f"{line.format(number)}\n" for number in range(1, 14)))
    with pytest.raises(DataError, match=said):
        open_examples("tagged", corpus(path, validation=(write(f"dev{path.suffix}", line.format(1)),)))


@pytest.mark.parametrize("packed", [False, True])
def test_the_command_for_another_column_of_tags_keeps_no_comment(write, tmp_path, packed):
    """Of two columns, the line '# 1895' would be a word and its tag."""
    lines = "".join(f"# {at}\n#tag{at}\tN\t_\nran\tV\t_\n\n" for at in range(20))
    path = write("my.conll.gz", gzip.compress(lines.encode())) if packed else write("my.conll", lines)
    with pytest.raises(DataError) as refused:
        open_examples("tagged", corpus(path))
    command = str(refused.value).partition("To read them as tags: ")[2]
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    assert (tmp_path / "new.conll").read_text() == "".join(f"#tag{at}\tN\nran\tV\n\n" for at in range(20))


@pytest.mark.parametrize("comment", ["# of 1895", "# n-tv.de [2009-10-17]", "#id 7 a"])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_a_column_of_nested_spans_that_has_none_is_said_and_the_printed_command_removes_it(
    write, tmp_path, separator, comment
):
    """As in GermEval: a number, a word, its tag, and the tag of a span within that."""
    rows = [("1", "Anna", "B-PER", "O"), ("2", "saw", "O", "O"), ("3", "Bonn{}", "B-LOC", "O")]
    sentence = "".join(separator.join(row) + "\n" for row in rows) + "\n"
    comment = comment.replace(" ", separator) + "\n"
    path = write("my text.conll", "".join(comment + sentence.format(at) for at in range(20)))
    with pytest.raises(DataError) as refused:
        open_examples("tagged", corpus(path))
    where = "Its tags are read from the last column, 4, and column 3 has span tags such as 'B-LOC'. To read these: "
    said, _, command = str(refused.value).partition(where)
    assert said.endswith("has only the tag 'O'; training needs at least two. ")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    examples = open_examples("tagged", corpus(tmp_path / "new.conll"))
    sentences = [example for some in examples.splits.values() for example in some]
    assert len(sentences) == 20
    assert TaggedSentence(("Anna", "saw", "Bonn7"), ("B-PER", "O", "B-LOC")) in sentences


def test_names_beside_a_last_column_without_content_are_said_and_the_printed_command_puts_them_last(write, tmp_path):
    """As in CoNLL-2012, whose names stand before the column of coreferences."""
    rows = [("0", "Anna", "NNP", "(PERSON)"), ("1", "saw", "VBD", "*"), ("2", "Bonn{}", "NNP", "(GPE*)")]
    lines = ["   ".join(["bc/cctv", *row, "-"]) for row in rows]
    sentence = "\n".join(lines) + "\n\n"
    path = write("a.conll", "#begin document (bc/cctv)\n" + "".join(sentence.format(at) for at in range(20)))
    with pytest.raises(DataError) as refused:
        open_examples("tagged", corpus(path))
    where = "Its tags are read from the last column, 6, and column 5 has span tags such as '(GPE*)'. To read these: "
    said, _, command = str(refused.value).partition(where)
    assert said.endswith("has only the tag '-'; training needs at least two. ")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    examples = open_examples("tagged", corpus(tmp_path / "new.conll"))
    sentences = [example for some in examples.splits.values() for example in some]
    assert [getattr(sentence, "words", ())[:2] for sentence in sentences] == [("Anna", "saw")] * 20


def test_other_tags_beside_a_last_column_without_content_are_said(write):
    rows = "".join(f"word{at} {'NV'[at % 2]} -\n" + ("\n" if at % 3 == 2 else "") for at in range(60))
    with pytest.raises(DataError, match=r"column, 3, and column 2 has values such as 'N'. To read these: awk "):
        open_examples("tagged", corpus(write("a.conll", rows)))


def test_types_of_names_without_a_prefix_are_said(write):
    """Their score is accuracy; tags of every word, such as parts of speech, need none."""

    def said(*tags: str) -> list[str]:
        lines = ["day{1} O", "Anna {0}", "met O", "Tom {0}", "again O", "there O", ""]
        rows = "\n".join(line.format(tags[at % len(tags)], at) for at in range(30) for line in lines)
        notes = open_examples("tagged", corpus(write("a.conll", rows))).notes
        return [note for note in notes if "word by word" in note]

    [note] = said("PERSON", "NAME")
    assert "'NAME', 'PERSON' have no B- or I- before them" in note or "'PERSON', 'NAME' have no" in note
    assert "the accuracy over all words, 67% of which are 'O', and no entity F1. Write 'B-" in note
    assert not said("B-PERSON", "B-NAME")
    pos = "".join(f"day{at} ADV\nAnna NOUN\nmet VERB\noh O\n\n" for at in range(30))
    assert not [note for note in open_examples("tagged", corpus(write("pos.conll", pos))).notes if "F1" in note]
