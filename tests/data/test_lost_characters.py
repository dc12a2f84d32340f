"""Characters that a conversion lost are counted before training, as the doctor counts them."""

from seqlab.config import CorpusSettings
from seqlab.data.content_notes import content_notes
from seqlab.data.examples.example import Examples, LabeledText
from seqlab.data.text.corpus import corpus_from_text
from seqlab.data.text.split import split_text

NOTE = "U+FFFD, left by a conversion that went wrong: 20"


def test_they_are_said_of_texts_and_of_examples() -> None:
    texts = [f"the caf\ufffd number {number}\n" for number in range(20)]
    text = split_text(corpus_from_text("".join(texts), "x"), CorpusSettings(source=("x",)))
    examples = Examples("x", {"train": [LabeledText(one, "a") for one in texts]}, "given")
    for data in (text, examples):
        assert [note for note in content_notes(data) if note.startswith(NOTE)]


def test_nothing_is_said_where_none_is_lost() -> None:
    text = split_text(corpus_from_text("the café\n" * 30, "x"), CorpusSettings(source=("x",)))
    assert not [note for note in content_notes(text) if "U+FFFD" in note]
