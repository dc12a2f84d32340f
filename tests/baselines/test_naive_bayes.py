"""Naive Bayes, against scikit-learn, and what it reaches on sentiment."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from seqlab.baselines import naive_bayes
from seqlab.baselines.naive_bayes import NaiveBayes, grams
from seqlab.data.examples.example import LabeledText
from seqlab.metrics.labels import accuracy, correct_sums

words = st.lists(st.sampled_from(["good", "Bad", "film", "it's", "!", "été"]), min_size=1, max_size=8).map(" ".join)
examples_of_three = st.lists(st.builds(LabeledText, words, st.sampled_from("abc")), min_size=1, max_size=30)


def unlabeled(*texts: str) -> list[LabeledText]:
    return [LabeledText(text, "") for text in texts]


@settings(max_examples=60)
@given(examples_of_three, st.lists(words | st.just("") | st.just("unheard of"), min_size=1, max_size=5))
def test_the_probabilities_of_scikit_learn(train, texts):
    model = NaiveBayes.fit(train)
    counted = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]", binary=model.once)
    oracle = MultinomialNB(alpha=1).fit(
        counted.fit_transform(example.text for example in train), [example.label for example in train]
    )
    assert model.labels == tuple(oracle.classes_)
    expected_NL = oracle.predict_log_proba(counted.transform(texts))
    np.testing.assert_allclose(model.log_probabilities(texts), expected_NL, atol=1e-9)


def test_grams_are_words_marks_and_pairs():
    assert grams("So GOOD!") == ["so", "good", "!", "so good", "good !"]
    assert grams(" ") == []


def test_worked_by_hand():
    """Of three grams, a has 'x' twice, 'y' and 'x y' once, b has 'x' once: p(x | a) = 3/7, p(x | b) = 2/4."""
    model = NaiveBayes.fit([LabeledText("x y", "a"), LabeledText("x", "a"), LabeledText("x", "b")])
    joint_L = np.array([2 / 3 * 3 / 7, 1 / 3 * 2 / 4])
    np.testing.assert_allclose(np.exp(model.log_probabilities(["x"])), [joint_L / joint_L.sum()])
    assert model.predict(unlabeled("x", "never seen")) == ["a", "a"]


def misleading(number):
    """Half of the texts that are disliked, and a tenth of those liked, say 'very' over and over."""
    often, liked = number % 20 < (2 if number % 2 else 10), number % 2
    same = " this is what all of the texts have to say of it"
    return LabeledText(("fine" if liked else "dull") + same + " very" * 20 * often, "liked" if liked else "disliked")


def telling(number):
    """Both labels have the same grams, but not as often."""
    return LabeledText("x x x y x" if number % 2 else "x y x y x y x x", "a" if number % 2 else "b")


def test_how_to_count_is_chosen_on_held_out_training_examples():
    once = NaiveBayes.fit([misleading(number) for number in range(400)])
    assert once.once and "counted once per text" in once.about
    assert once.predict(unlabeled("fine" + " very" * 20)) == ["liked"]
    often = NaiveBayes.fit([telling(number) for number in range(400)])
    assert not often.once and "counted every time" in often.about
    assert often.predict([telling(0), telling(1)]) == ["b", "a"]


def test_a_tenth_is_held_out_and_then_learnt_from_too():
    """Of ten examples one; of fewer none, so that there is nothing to say of it."""
    train = [LabeledText(f"word{number}", "ab"[number % 2]) for number in range(10)]
    assert "a tenth of the training examples: " in NaiveBayes.fit(train).about
    assert "%" not in NaiveBayes.fit(train[:9]).about
    assert NaiveBayes.fit(train).predict(train) == [example.label for example in train]


def test_the_accuracies_told_are_of_unseen_examples():
    """Words of their own make every example easy once seen, and a guess before."""
    train = [LabeledText(f"word{number}", "ab"[number % 2]) for number in range(500)]
    reported = NaiveBayes.fit(train).about.split("examples: ")[1].split("%")[0]
    assert float(reported) < 70


def test_a_file_too_large_is_sampled_whatever_its_order(monkeypatch):
    train = [LabeledText(f"{label} {label}{number}", label) for label in ("no", "yes") for number in range(500)]
    assert "drawn at random" not in NaiveBayes.fit(train).about
    monkeypatch.setattr(naive_bayes, "MAX_GRAMS", 300)
    model = NaiveBayes.fit(train)
    assert model.about.endswith("; 101 training examples drawn at random")
    assert model.predict(unlabeled("no", "yes")) == ["no", "yes"]


def test_the_same_examples_give_the_same_model():
    train = [misleading(number) for number in range(100)]
    first, second = NaiveBayes.fit(train), NaiveBayes.fit(train)
    assert first.about == second.about
    np.testing.assert_array_equal(first.log_probabilities(["fine", "very"]), second.log_probabilities(["fine", "very"]))


def test_no_texts_and_texts_without_words():
    model = NaiveBayes.fit([LabeledText(" ", "a"), LabeledText("", "a"), LabeledText("", "b")])
    assert model.log_probabilities([]).shape == (0, 2) and model.predict([]) == []
    np.testing.assert_allclose(np.exp(model.log_probabilities([""])), [[2 / 3, 1 / 3]])


def test_sentiment_of_sentences(shared_data):
    """The Stanford sentiment treebank: naive Bayes is published at 82 to 83 (Socher et al. 2013)."""
    folder = shared_data / "sst"
    if not folder.is_dir():
        pytest.skip(f"there is no folder '{folder}'")

    def read(name):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()[1:]
        return [LabeledText(*line.split("\t")) for line in lines]

    train, test = read("train-phrases.tsv"), read("test.tsv")
    before = time.process_time()
    model = NaiveBayes.fit(train)
    predicted = model.predict(test)
    assert time.process_time() - before < 10
    assert accuracy(correct_sums([example.label for example in test], predicted)) >= 82.0
