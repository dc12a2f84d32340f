"""Span schemes: whichever way spans are written, the same spans are read."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, Entities

from seqlab.config import CorpusSettings
from seqlab.data.examples.example import TaggedSentence
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.tag_schemes import count_repairs, detect_scheme, respell, to_bio

quick = settings(max_examples=200)
types = st.sampled_from(["PER", "LOC", "creative-work"])
# a sentence is stretches of words: of a span (its type and length), or outside (no type)
stretches = st.lists(st.tuples(st.none() | types, st.integers(1, 3)), min_size=1, max_size=6)
free_tags = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]), max_size=8)


def written(sentence, first, inside, last, single):
    """Tags of stretches, with a letter for each place in a span."""
    tags = []
    for kind, length in sentence:
        if kind is None:
            tags += ["O"] * length
        elif length == 1:
            tags.append(f"{single}-{kind}")
        else:
            tags += [f"{first}-{kind}", *[f"{inside}-{kind}"] * (length - 2), f"{last}-{kind}"]
    return tags


def in_iob1(bio):
    """B- is kept only right after a span of the same type."""
    return [
        tag.replace("B-", "I-", 1) if tag[0] == "B" and (place == 0 or bio[place - 1][2:] != tag[2:]) else tag
        for place, tag in enumerate(bio)
    ]


@quick
@given(stretches)
def test_spans_are_the_same_in_every_scheme(sentence):
    bio = tuple(written(sentence, "B", "I", "I", "B"))
    assert to_bio(bio, "BIO") == bio
    assert to_bio(in_iob1(bio), "IOB1") == bio
    assert to_bio(written(sentence, "B", "I", "E", "S"), "BIOES") == bio
    assert to_bio(written(sentence, "B", "I", "L", "U"), "BIOES") == bio


@quick
@given(stretches)
def test_seqeval_reads_the_same_spans(sentence):
    """An independent reader of all four schemes."""
    bio = written(sentence, "B", "I", "I", "B")
    spans = {entity.to_tuple()[1:] for entity in Entities([bio], IOB2).entities[0]}
    for letters, scheme in ((None, IOB1), ("BIES", IOBES), ("BILU", BILOU)):
        tags = written(sentence, *letters) if letters else in_iob1(bio)
        assert {entity.to_tuple()[1:] for entity in Entities([tags], scheme).entities[0]} == spans
        converted = list(to_bio(tags, "BIOES" if letters else "IOB1"))
        assert {entity.to_tuple()[1:] for entity in Entities([converted], IOB2).entities[0]} == spans


@quick
@given(free_tags)
def test_whatever_the_tags_the_result_is_bio_with_conllevals_spans(tags):
    read = to_bio(tags, "BIO")
    assert count_repairs(read, "BIO") == 0
    assert to_bio(read, "BIO") == read
    assert get_entities(list(read)) == get_entities(tags)
    assert count_repairs(tags, "BIO") == sum(new != old for new, old in zip(read, tags, strict=True))


@quick
@given(st.lists(stretches, min_size=1, max_size=4))
def test_the_scheme_is_found(sentences):
    bio = [written(sentence, "B", "I", "I", "B") for sentence in sentences]
    spans = any(kind for sentence in sentences for kind, _ in sentence)
    assert detect_scheme(bio) == "BIO"
    assert detect_scheme([in_iob1(tags) for tags in bio]) == ("IOB1" if spans else "BIO")
    for letters in ("BIES", "BILU"):
        assert detect_scheme([written(sentence, *letters) for sentence in sentences]) == ("BIOES" if spans else "BIO")


@pytest.mark.parametrize(
    "tags, scheme",
    [
        (["NOUN", "VERB"], None),
        (["O", "B-x", "NN"], None),
        (["B", "I", "O"], None),
        (["B-", "O"], None),
        (["M-x", "B-x", "E-x"], None),
        (["S-x", "U-x"], None),  # of two ways of writing
        (["-LRB-", "O"], None),
        ([], None),
        (["_", "_"], None),
        (["O", "_", "B-x"], "BIO"),
        (["O", "O"], "BIO"),
        (["O", "I-x", "I-y"], "IOB1"),
        (["I-x", "B-x"], "IOB1"),
        (["I-x", "O", "B-x"], "BIO"),  # IOB1 has no B- after O, so the I- is a slip
        (["B-x", "I-y"], "BIO"),
        (["S-x", "O"], "BIOES"),
    ],
)
def test_the_scheme_of(tags, scheme):
    assert detect_scheme([tags]) == scheme


def test_slips_are_read_as_beginnings_and_counted():
    tags = ["O", "I-x", "I-x", "B-y", "I-x", "_", "I-x"]
    assert to_bio(tags, "BIO") == ("O", "B-x", "I-x", "B-y", "B-x", "_", "B-x")
    assert count_repairs(tags, "BIO") == 3
    assert count_repairs(["I-x", "O"], "IOB1") == 0
    broken = ["S-x", "I-x", "E-x", "E-x", "B-y", "O", "L-z"]
    assert to_bio(broken, "BIOES") == ("B-x", "B-x", "I-x", "B-x", "B-y", "O", "B-z")
    assert count_repairs(broken, "BIOES") == 3


def _turned(tag: str) -> str:
    return tag if tag == "O" else "-".join(tag.split("-", 1)[::-1])


SPELLINGS: list[Callable[[str], str]] = [
    str.lower,
    _turned,
    lambda tag: tag.replace("-", "_", 1),
    lambda tag: _turned(tag)[:-2] + "_" + tag[0] if tag != "O" else tag,
]


@quick
@given(stretches, st.sampled_from(SPELLINGS))
def test_other_spellings_of_span_tags_are_read(sentence, spell):
    bio = written([*sentence, ("PER", 2)], "B", "I", "I", "B")
    spelled: list[str] = [spell(tag) for tag in bio]
    new = respell(spelled)
    read = [new.get(tag, tag) for tag in spelled]
    assert [tag.upper() for tag in read] == [tag.upper() for tag in bio]
    assert detect_scheme([read]) == "BIO"


@pytest.mark.parametrize(
    "tags",
    [
        ("O", "B-PER", "I-PER"),
        ("NN", "o"),
        ("NN-B", "VB"),
        ("S-adj", "o"),
        ("O", "_"),
        ("NN_B", "VB"),
        ("B_", "O"),
        ("S_adj", "O"),
        (),
    ],
)
def test_other_tags_keep_their_spelling(tags):
    assert respell(tags) == {}


def test_letters_alone_are_spans_of_one_type_that_has_no_name(write):
    path = write("a.conll", "".join(f"Bob\tB\nEmilson\tI\nlives{at}\tO\n\n" for at in range(10)))
    examples = open_examples("tagged", CorpusSettings(source=(str(path),)))
    sentences = [example for example in examples.splits["train"] if isinstance(example, TaggedSentence)]
    assert {tag for sentence in sentences for tag in sentence.tags} == {"B-span", "I-span", "O"}
    assert "span tags in another spelling: read 'B' as 'B-span', 'I' as 'I-span'" in examples.notes
    assert respell({"B", "I", "E", "S"}) == {}  # segments, as of words without spaces between them
