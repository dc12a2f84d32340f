"""Sentences from CoNLL columns and CoNLL-U."""

import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.config import CorpusSettings
from seqlab.data.examples.conll import read_columns, read_conllu, read_words
from seqlab.data.examples.example import UNSCORED, TaggedSentence
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.load import open_examples
from seqlab.errors import DataError, UsageError

quick = settings(max_examples=100)
words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="\ufeff"), min_size=1, max_size=4
)
words = words.filter(lambda word: word != "#" and not word.startswith("-DOC"))
tagged = st.lists(st.tuples(words, st.sampled_from(["O", "B-x", "NN", ",", "_"])), min_size=1, max_size=4)


def sentences(path):
    return [located.example for located in read_columns(path, InputFixes())]


def conllu(*rows):
    return "".join(row.replace(" ", "\t") + "\n" for row in rows)


# --- plain columns --------------------------------------------------------------------------------------------------


@quick
@given(
    st.lists(tagged, min_size=1, max_size=4), st.sampled_from(["\t", " ", "  "]), st.integers(0, 2), st.integers(1, 3)
)
def test_sentences_come_back_as_they_were_written(tmp_path_factory, written, separator, between, blanks):
    """Whatever stands between word and tag, and however many lines between sentences."""
    rows = [[separator.join([word, *["x"] * between, tag]) for word, tag in sentence] for sentence in written]
    path = tmp_path_factory.mktemp("conll") / "a.conll"
    path.write_bytes(("\n" * (blanks + 1)).join("\n".join(sentence) for sentence in rows).encode())
    examples = read_columns(path, InputFixes())
    assert [list(zip(located.example.words, located.example.tags, strict=True)) for located in examples] == written
    starts = [1 + sum(len(sentence) + blanks for sentence in rows[:place]) for place in range(len(rows))]
    assert [located.location.line for located in examples] == starts


def test_documents_end_sentences_and_are_no_words(write):
    content = "-DOCSTART- -X- O O\n\nEU NNP B-NP I-ORG\nrejects VBZ B-VP O\n-DOCSTART- O\nPeter NNP B-NP I-PER\n"
    assert sentences(write("a.conll", content)) == [
        TaggedSentence(("EU", "rejects"), ("I-ORG", "O")),
        TaggedSentence(("Peter",), ("I-PER",)),
    ]


def test_document_lines_are_counted(write):
    fixes = InputFixes()
    read_columns(write("a.conll", "-DOCSTART- O\n\na O\n\n-DOCSTART- O\n\nb O\n"), fixes)
    assert fixes.notes() == ["passed over lines of -DOCSTART-: 2"]


def test_lines_of_whitespace_are_blank_and_a_hash_is_a_word(write):
    content = "# \tO\n#tag\tO\n\t\nx y\tB-z\r\n  \nlast\tO"
    assert sentences(write("a.bio", content)) == [
        TaggedSentence(("#", "#tag"), ("O", "O")),
        TaggedSentence(("x y",), ("B-z",)),
        TaggedSentence(("last",), ("O",)),
    ]


@pytest.mark.parametrize("header", ["", "token\tner\tconfidence\n"])
def test_span_tags_are_read_beside_a_last_column_of_numbers(write, header):
    path, fixes = write("a.conll", header + "Bob\tB-PER\t0.90\nmet\tO\t0.9\n\nAnn\tB-PER\t1\n"), InputFixes()
    expected = [TaggedSentence(("Bob", "met"), ("B-PER", "O")), TaggedSentence(("Ann",), ("B-PER",))]
    assert [located.example for located in read_columns(path, fixes)] == expected
    said = "columns of a.conll: column 1 is the word, column 2 its tag; column 3 has numbers, which are not used"
    assert fixes.notes()[0] == said
    numbers = write("b.conll", "Bob\tNN\t1\nmet\tVB\t0\n\nAnn\tNN\t1\n")  # no span tags: the numbers are tags
    assert sentences(numbers)[0].tags == ("1", "0")


COMMENTED = "# id = 1\na O\n# O\n# newdoc\n# #\n#tag B-x\n\n# text = b b b\nb B-x\n#\n"


def test_comments_are_passed_over_and_counted(write):
    """They begin the file, so they must not decide how many columns it has; "#" with a tag remains a word."""
    fixes = InputFixes()
    expected = [TaggedSentence(("a", "#", "#", "#tag"), ("O", "O", "#", "B-x")), TaggedSentence(("b",), ("B-x",))]
    assert [located.example for located in read_columns(write("a.conll", COMMENTED), fixes)] == expected
    assert fixes.notes() == ["passed over lines of comments, which begin with #: 4"]


def test_words_without_tags_are_read_past_comments_too(write):
    fixes = InputFixes()
    assert [*read_words(write("a.conll", COMMENTED), False, fixes).values()] == [("a", "#", "#", "#tag"), ("b",)]
    assert [*read_words(write("b.conll", "# id = 1\na\nb\n#\n\nc\n"), False, fixes).values()] == [
        ("a", "b", "#"),
        ("c",),
    ]
    assert fixes.notes() == ["passed over lines of comments, which begin with #: 5"]


def test_words_to_predict_are_those_of_training(write):
    """A word may have spaces; a sentence with a bad line keeps its place; a line without tags is a word."""
    for content in ("New York\tB-x\nis\tO\n\nb\tO\n", "New York\tX\tB-x\nis\tX\tO\n\nb\tX\tO\n"):
        path = write("a.conll", content)
        words = [sentence.words for sentence in sentences(path)]
        assert words == [("New York", "is"), ("b",)]
        assert [*read_words(path, False, InputFixes()).values()] == words
    fixes = InputFixes()
    path = write("b.conll", "a\tO\nb c\n\nNew York\tB-x,O\n\n\tO\n\nc\tO\n\n")
    assert [*read_words(path, False, fixes).values()] == [(), ("New York",), (), ("c",)]
    assert fixes.notes() == [
        "2 sentences of b.conll without a text to read (line 2: spaces separate its columns, but tabs those of line 1. "
        "Use one of both; line 6: the word is empty)"
    ]
    assert [*read_words(write("c.conll", "a\nNew York\nb\n"), False, InputFixes()).values()] == [("a", "New York", "b")]


def test_words_to_predict_are_in_the_columns_of_training(write):
    path = write("a.conllu", "1\tcats\tcat\tNOUN" + "\t_" * 6 + "\n")
    assert [*read_words(path, True, InputFixes(), ("LEMMA", "UPOS")).values()] == [("cat",)]
    assert [*read_words(path, True, InputFixes()).values()] == [("cats",)]


@pytest.mark.parametrize("separator", ["\t", " ", "\tX\t"])
def test_exchanged_columns_are_refused(write, separator):
    rows = [("B-x", "a"), ("I-x", "b"), ("O", "c")]
    path = write("a.conll", "".join(separator.join(row) + "\n" for row in rows))
    with pytest.raises(DataError, match="has tags such as 'B-x' in its first column: expected the word there"):
        read_columns(path, InputFixes())
    for words in ("OOO", ("O", "o", "B-x")):  # the letter O may be a word, and a word may look like a tag
        tagged = "".join(f"{word}\tT{at}\n" for at, word in enumerate(words))
        assert len(read_columns(write("b.conll", tagged), InputFixes())) == 1


def test_of_two_labels_the_first_is_taken_and_said(write):
    noticed = InputFixes()
    path = write("a.conll", "a\tB-group,B-person\nb\tI-group,O\n,\t,\nc\tx,y\nd\tO\n")
    [located] = read_columns(path, noticed)
    assert located.example.tags == ("B-group", "I-group", ",", "x,y", "O")
    assert noticed.notes() == ["words with two tags joined by a comma: 2; only the first tag is used"]


def test_a_packed_file(write):
    path = write("a.conll.gz", gzip.compress(b"a\tO\n"))
    assert sentences(path) == [TaggedSentence(("a",), ("O",))]


@pytest.mark.parametrize(
    "content, message",
    [
        ("a O\n\nb X O\n", "line 3: 3 columns, but most lines have 2"),
        ("a\tX\tO\nb\tO\n", "line 2: 2 columns, but most lines have 3"),
        ("a\tO\nb\n", "line 2: one column only"),
        ("\nword\n", "line 2: one column only"),
        ("a\u00a0O\n", "tab or space; a no-break space (U+00A0) separates none: replace it by a tab."),
        ("a\tO\n\tO\n", "line 2: the word is empty"),
        ("a\tO\n\u00a0\tO\n", "line 2: the word is empty"),
        ("a\tO\nb\t\n", "line 2: the tag is empty"),
        ("", "has no words"),
        ("\n\n", "has no words"),
        ("-DOCSTART- O\n", "has no words"),
        (b"a\tO\n\x81\tO\n", "line 2, offset 4: byte 0x81 is not UTF-8"),
        (b"a\tO\n\0\tO\n", "line 2: a NUL character"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write, content, message):
    path = write("a.conll", content)
    with pytest.raises(DataError) as refused:
        sentences(path)
    assert str(refused.value).startswith(f"'{path}'")
    assert message in str(refused.value)


def test_a_word_of_ten_megabytes(write):
    word = "x" * 10_000_000
    assert sentences(write("a.conll", f"{word}\tO\n")) == [TaggedSentence((word,), ("O",))]


# --- CoNLL-U --------------------------------------------------------------------------------------------------------

UD = "# sent_id = 1\n#no space\n" + conllu(
    "1-2 don't _ _ _ _ _ _ _ _",
    "1 do do AUX VBP _ 3 aux _ _",
    "2 n't not PART RB _ 3 advmod _ _",
    "2.1 really really ADV RB _ _ _ _ _",
    "3 # # _ NFP _ 0 root _ _",
    "",
    "1 Go go VERB VB _ 0 root _ _",
)


def test_what_is_no_word_by_itself_is_passed_over(write):
    noticed = InputFixes()
    examples = read_conllu(write("a.conllu", UD), None, noticed)
    assert [located.example for located in examples] == [
        TaggedSentence(("do", "n't", "#"), ("AUX", "PART", UNSCORED)),
        TaggedSentence(("Go",), ("VERB",)),
    ]
    assert [located.location.line for located in examples] == [4, 9]
    comments = sum(line.startswith("#") for line in UD.split("\n"))
    assert noticed.notes() == [
        "columns of a.conllu: FORM is the word, UPOS its tag; the others are not used",
        f"passed over lines of comments, which begin with #: {comments}",
        "passed over lines of multiword tokens, such as 1-2: 1",
        "passed over lines of empty nodes, such as 8.1: 1",
    ]


@pytest.mark.parametrize(
    "columns, expected",
    [
        (("FORM", "XPOS"), TaggedSentence(("do", "n't", "#"), ("VBP", "RB", "NFP"))),
        (("lemma", "upos"), TaggedSentence(("do", "not", "#"), ("AUX", "PART", "_"))),
        (("FORM", "LEMMA"), TaggedSentence(("do", "n't", "#"), ("do", "not", "#"))),
    ],
)
def test_columns_are_chosen_by_name(write, columns, expected):
    assert read_conllu(write("a.conllu", UD), columns, InputFixes())[0].example == expected


@pytest.mark.parametrize("columns", [("FORM", "NER"), ("ID", "UPOS")])
def test_a_column_that_conllu_does_not_have(write, columns):
    with pytest.raises(UsageError, match="not a column of CoNLL-U"):
        read_conllu(write("a.conllu", UD), columns, InputFixes())


def test_words_may_have_spaces(write):
    content = "1\t10 000\t10 000\tNUM\t_\t_\t0\troot\t_\t_\n"
    assert read_conllu(write("a.conllu", content), None, InputFixes())[0].example == TaggedSentence(
        ("10 000",), ("NUM",)
    )


@pytest.mark.parametrize(
    "content, message",
    [
        (UD + "\n1\tGo\tgo\tVERB\n", "line 11: 4 columns, but CoNLL-U has 10, separated by tabs"),
        (conllu("1 a a X _ _ _ _ _ _ _"), "line 1: 11 columns"),
        (conllu("x a a X _ _ _ _ _ _"), "line 1: the ID is 'x'"),
        ("1\t\ta\tX" + "\t_" * 6, "line 1: the word is empty"),
        ("1\ta\ta\t" + "\t_" * 6, "line 1: the tag is empty"),
        ("# only = comments\n\n", "has no words"),
        ("", "has no words"),
    ],
)
def test_what_is_wrong_with_conllu_is_said_with_its_line(write, content, message):
    path = write("a.conllu", content)
    with pytest.raises(DataError) as refused:
        read_conllu(path, None, InputFixes())
    assert str(refused.value).startswith(f"'{path}'")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a\tO\nb\tO\nc O\n", "line 3: spaces separate its columns, but tabs those of line 1. Use one of both."),
        ("a O\n\nNew York\tO\n", "line 3: tabs separate its columns, but spaces those of line 1. Use one of both."),
    ],
)
def test_two_separators_are_said_with_their_lines(write, content, said):
    with pytest.raises(DataError, match=re.escape(said)):
        read_columns(write("a.conll", content), InputFixes())


def test_a_sentence_with_a_bad_line_is_skipped_and_named(write):
    path = write("a.conll", "a O\nb O\n\nc O\nd\ne O\n\nf O x\n\n" + "g O\n\n" * 8)
    fixes = InputFixes(skip_limit=0.2)
    result = [located.example.words for located in read_columns(path, fixes)]
    assert result == [("a", "b"), *[("g",)] * 8]
    [note] = fixes.notes()
    assert note.startswith("skipped 2 of the 11 sentences of '")
    assert "line 5: one column only" in note
    assert "line 8: 3 columns, but most lines have 2" in note


def test_a_header_is_no_word(write):
    fixes = InputFixes()
    (found,) = read_columns(write("a.conll", "Word\tTag\nAnna\tB-x\nmet\tO\n"), fixes)
    assert found.example.words == ("Anna", "met")
    assert fixes.notes() == ["a.conll: line 1 is a header and no word: Word Tag"]
    (found,) = read_columns(write("b.conll", "word\tlabel\nprice\tlabel\n"), InputFixes())
    assert found.example.words == ("word", "price"), "its tag occurs again"


def test_a_word_with_spaces_needs_tabs(write):
    words = "Mary B-PER\nsaw O\n\n" * 5 + "New York B-LOC\n\n"
    with pytest.raises(DataError, match=r"3 columns, but most lines have 2\. Where a word has spaces .* by tabs"):
        read_columns(write("a.conll", words), InputFixes())
    tabs = words.replace(" B", "\tB").replace(" O", "\tO")
    assert read_columns(write("b.conll", tabs), InputFixes())[-1].example.words == ("New York",)


def test_a_column_that_counts_words_is_not_taken_for_them(write):
    lines = "1\tPeter\tNNP\tA0\n2\tsaw\tVBD\tO\n\n1\tAnna\tNNP\tA0\n2\tleft\tVBD\tO\n3\t.\t.\tO\n"
    fixes = InputFixes()
    found = read_columns(write("a.conll", lines), fixes)
    assert [located.example.words for located in found] == [("Peter", "saw"), ("Anna", "left", ".")]
    assert fixes.notes() == [
        "columns of a.conll: column 1 counts words, column 2 is the word, column 4 its tag; column 3 is not used"
    ]
    untagged = "".join(line.rpartition("\t")[0] + "\n" for line in lines.split("\n"))
    assert [*read_words(write("b.conll", untagged), False, InputFixes()).values()] == [
        ("Peter", "saw"),
        ("Anna", "left", "."),
    ]
    found = read_columns(write("c.conll", lines.replace("2\tsaw", "7\tsaw")), InputFixes())
    assert found[0].example.words == ("1", "7"), "numbers that count nothing are words"


SENTENCES = [["Anna", "met", "Bob"], ["Bob", "left"], ["she", "saw", "him", "go"]]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("before", "place"), [("", 1), ("bc/a\t0\t", 3)])
def test_a_column_that_counts_words_is_no_word(write, first, before, place):
    rows = ["".join(f"{before}{n}\t{w}\tNN\tO\n" for n, w in enumerate(words, first)) for words in SENTENCES]
    path, fixes = write("a.conll", "\n".join(rows)), InputFixes()
    assert [list(located.example.words) for located in read_columns(path, fixes)] == SENTENCES
    assert f"column {place} counts words, column {place + 1} is the word" in fixes.notes()[0]
    assert [list(words) for words in read_words(path, False, InputFixes()).values()] == SENTENCES


def test_numbers_after_the_word_do_not_count_words(write):
    rows = ["".join(f"{w}\t{n}\tNN\tO\n" for n, w in enumerate(words)) for words in SENTENCES]
    sentences = read_columns(write("a.conll", "\n".join(rows)), InputFixes())
    assert [list(located.example.words) for located in sentences] == SENTENCES


def test_the_error_of_too_few_inputs_shows_what_was_read_as_words(write):
    path = write("a.conll", "".join(f"bc/a\tword{n}\tB-X\nbc/a\tother{n}\tO\n\n" for n in range(30)))
    with pytest.raises(DataError, match="The column that is read as the words begins 'bc/a bc/a'"):
        open_examples("tagged", CorpusSettings(source=(str(path),)))
