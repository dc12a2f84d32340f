"""The most frequent tag of each word, and guesses at words that were never seen."""

import numpy as np
import pytest

from seqlab.baselines.frequent_tags import FrequentTags
from seqlab.data.examples.example import UNSCORED, TaggedSentence
from seqlab.metrics.labels import accuracy, correct_sums
from seqlab.tasks.tag import TagTask


def sentence(text):
    """From words written as word/tag."""
    words, tags = zip(*(word.rsplit("/", 1) for word in text.split()), strict=True)
    return TaggedSentence(words, tags)


def fitted(*texts):
    return FrequentTags.fit([sentence(text) for text in texts])


def untagged(*words):
    return TaggedSentence(words, (UNSCORED,) * len(words))


def tags(model, text):
    (predicted,) = model.predict([untagged(*text.split())])
    return " ".join(predicted)


def test_known_words():
    model = fitted("time/NOUN flies/VERB", "flies/NOUN like/VERB time/NOUN", "flies/VERB time/VERB")
    assert model.predict([untagged("time", "flies", "like"), untagged("flies")]) == [
        ("NOUN", "VERB", "VERB"),
        ("VERB",),
    ]
    assert model.predict([]) == [] and model.predict([untagged()]) == [()]


def test_equally_frequent_tags_whatever_the_order():
    assert tags(fitted("saw/VERB saw/NOUN"), "saw") == tags(fitted("saw/NOUN saw/VERB"), "saw") == "NOUN"


def test_unknown_words_go_by_the_longest_known_ending():
    verbs = "walking/VERB talking/VERB eating/VERB sing/VERB"
    model = fitted(verbs, "king/NOUN ring/NOUN string/NOUN quickly/ADV red/ADJ")
    assert tags(model, "stalking") == "VERB"  # -lking
    assert tags(model, "boring") == "NOUN"  # -ring, though most words in -ing are verbs
    assert tags(model, "being") == "VERB"  # -ing
    assert tags(model, "slyly") == "ADV"  # -ly
    assert tags(model, "sped") == "ADJ"  # -ed


def test_endings_longer_than_five_are_not_looked_at():
    """Of -ation there are two nouns, of -tation one verb."""
    model = fitted("nation/NOUN ration/NOUN station/VERB")
    assert tags(model, "rotation") == "NOUN"


def test_shapes_are_told_apart():
    model = fitted("the/DET Rose/NAME chose/VERB 4th/ADJ", "Moses/NAME 1990/NUM 1991/NUM rises/VERB")
    assert tags(model, "Close close") == "NAME VERB"
    assert tags(model, "Noses noses") == "NAME VERB"
    assert tags(model, "5th 1890 1-2") == "ADJ NUM NUM"


def test_the_case_of_an_ending_does_not_matter():
    assert tags(fitted("London/NAME Paris/NAME Running/VERB"), "JUMPING ROME") == "VERB NAME"


def test_frequent_words_say_nothing_of_unknown_ones():
    """'being' is a verb four times, and so not rare; 'king' and 'sting' are."""
    model = fitted("being/VERB " * 4 + "king/NOUN", "king/NOUN sting/NOUN")
    assert tags(model, "being boeing") == "VERB NOUN"
    assert tags(fitted("sing/VERB " * 3 + "the/DET " * 9), "ping") == "VERB", "three times is still rare"


def test_what_is_like_nothing_gets_the_tag_of_rare_words():
    assert tags(fitted("the/DET " * 9 + "cat/NOUN dog/NOUN ran/VERB"), "1989") == "NOUN"
    assert tags(fitted("yes/A " * 5 + "no/B " * 4), "perhaps") == "A"


def test_words_without_a_tag_are_not_counted():
    model = fitted(f"a/{UNSCORED} a/{UNSCORED} a/DET cats/{UNSCORED} dogs/NOUN")
    assert tags(model, "a cats") == "DET NOUN"
    with pytest.raises(AssertionError):
        fitted(f"a/{UNSCORED}")


def test_it_says_what_it_is():
    ((name, _, _),) = TagTask.baselines
    assert name == "most frequent tag of each word" and name in fitted("a/DET").about


def test_parts_of_speech_of_english(shared_data):
    """English Web Treebank, universal tags."""
    folder = shared_data / "ud-ewt"
    if not folder.is_dir():
        pytest.skip(f"there is no folder '{folder}'")

    def read(split):
        """Of each sentence the words and tags; ids of joined and of left out words hold a dash or a dot."""
        for block in (folder / f"en_ewt-ud-{split}.conllu").read_text(encoding="utf-8").split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
            rows = [row for row in rows if row[0].isdigit()]
            if rows:
                yield TaggedSentence(tuple(row[1] for row in rows), tuple(row[3] for row in rows))

    model = FrequentTags.fit(list(read("train")))
    test = list(read("test"))
    predicted = model.predict(test)
    sums_UK = [correct_sums(example.tags, tags) for example, tags in zip(test, predicted, strict=True)]
    assert len(test) == 2077
    assert accuracy(np.sum(sums_UK, axis=0)) >= 88.9  # 88.7 without shapes
