"""Labels and tags: scores against plain counts, predictions, and what is not scored."""

from typing import Any

import numpy as np
import pytest
import torch
from example_cases import case, sentences
from seqeval.metrics import f1_score

from seqlab.contracts import Trace
from seqlab.data.examples.example import UNSCORED, TaggedSentence
from seqlab.registry import TOKENIZERS
from seqlab.tasks.classify import label_batch
from seqlab.tasks.tag import TagTask, split_words, tag_batch
from seqlab.tokenization.vocabulary import Vocabulary


@pytest.mark.parametrize("pooling", ["last", "mean", "max", "attention"])
def test_pooling_is_what_it_says(pooling: str) -> None:
    setup = case("classify", "gru", task__pooling=pooling)
    batch = label_batch(setup.task.splits["train"], np.arange(5))
    vectors: list[torch.Tensor] = []
    setup.model.backbone.register_forward_hook(lambda _, __, output: vectors.append(output[0]))
    pooled: list[torch.Tensor] = []
    setup.model.output.register_forward_pre_hook(lambda _, inputs: pooled.append(inputs[0]))
    trace = Trace()
    with torch.inference_mode():
        setup.model(batch.inputs_BT, batch.mask_BT, trace)
    assert set(trace.names) == set(setup.model.records)
    for row in range(5):
        length = len(setup.task.splits["train"].inputs[row])
        y_TH = vectors[0][row, :length]
        width = y_TH.shape[1] // 2
        if pooling == "attention":
            weights_T = trace["pooling"][row, :length]
            assert float(weights_T.sum()) == pytest.approx(1, abs=1e-5)
            expected = weights_T @ y_TH
        else:
            expected = {
                "last": torch.cat([y_TH[-1, :width], y_TH[0, width:]]),
                "mean": y_TH.mean(0),
                "max": y_TH.amax(0),
            }[pooling]
        torch.testing.assert_close(pooled[0][row], expected, atol=1e-5, rtol=1e-5)


def test_accuracy_is_the_share_of_right_labels() -> None:
    setup = case("classify")
    split = setup.task.splits["test"]
    predictions = setup.task.predict(
        setup.model, [example.text for example in split.examples], setup.dataset.vocabulary, setup.settings
    )
    right = np.mean(
        [prediction.label == example.label for prediction, example in zip(predictions, split.examples, strict=True)]
    )
    assert setup.task.metrics(setup.task.score(setup.model, "test"))["accuracy"] == pytest.approx(100 * right)
    for prediction in predictions:
        probabilities = prediction.probabilities
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert prediction.label == max(probabilities, key=probabilities.__getitem__) == next(iter(probabilities))


def test_attention_of_a_label_is_shown_by_token() -> None:
    setup = case("classify", task__pooling="attention")
    prediction = setup.task.predict(setup.model, ["the old cat"], setup.dataset.vocabulary, setup.settings)[0]
    assert [token for token, _ in prediction.weights] == ["the", "old", "cat"]
    assert sum(weight for _, weight in prediction.weights) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("layer", ["softmax", "crf"])
def test_entity_f1_is_that_of_seqeval(layer: str) -> None:
    setup = case("tag", task__output_layer=layer)
    split = setup.task.splits["test"]
    predictions = setup.task.predict(
        setup.model, [" ".join(example.words) for example in split.examples], setup.dataset.vocabulary, setup.settings
    )
    gold, predicted = (
        [list(example.tags) for example in split.examples],
        [prediction.tags for prediction in predictions],
    )
    expected: Any = f1_score(gold, predicted, zero_division=0)  # pyright: ignore[reportArgumentType]
    metrics = setup.task.metrics(setup.task.score(setup.model, "test"))
    assert setup.task.headline_metric.key == "entity_f1" and metrics["entity_f1"] == pytest.approx(
        100 * float(expected)
    )
    right = np.mean([a == b for pair in zip(gold, predicted, strict=True) for a, b in zip(*pair, strict=True)])
    assert metrics["accuracy"] == pytest.approx(100 * right)


@pytest.mark.parametrize("layer", ["softmax", "crf"])
def test_words_that_nothing_is_said_of_are_neither_learnt_nor_scored(layer: str) -> None:
    setup = case("tag", task__output_layer=layer)
    words = ("the", "old", "cat", "runs")
    full = TaggedSentence(words, ("O", "O", "B-animal", "O"))
    half = TaggedSentence(words, ("O", UNSCORED, "B-animal", UNSCORED))
    one, other = (TagTask.encode([example], setup.dataset.vocabulary, setup.settings) for example in (full, half))
    loss, less = (setup.task.loss(setup.model, tag_batch(split, [0]), None, 0) for split in (one, other))
    assert (loss.count, less.count) == (4, 2)
    assert float(less.total.detach()) < float(loss.total.detach())
    task = TagTask(setup.task.settings, {"test": other}, setup.dataset.vocabulary)
    assert task.score(setup.model, "test").tokens == 2


def test_a_tag_that_training_has_not_is_never_right() -> None:
    setup = case("tag")
    split = TagTask.encode([TaggedSentence(("the", "cat"), ("O", "B-ghost"))], setup.dataset.vocabulary, setup.settings)
    scores = TagTask(setup.task.settings, {"test": split}, setup.dataset.vocabulary).score(setup.model, "test")
    assert scores.metrics["accuracy"] <= 50


def test_tags_without_spans_are_judged_one_by_one() -> None:
    examples = [
        TaggedSentence(words, tuple("VERB" if word == "runs" else "OTHER" for word in words)) for words in sentences(30)
    ]
    setup = case("tag")
    vocabulary = TagTask.build_vocabulary(examples, setup.settings)
    task = TagTask(setup.task.settings, {"test": TagTask.encode(examples, vocabulary, setup.settings)}, vocabulary)
    assert task.headline_metric.key == "accuracy" and task.metric.label == "accuracy, %"


@pytest.mark.parametrize("tokenizer", ["bpe", "char"])
def test_a_word_of_several_tokens_is_read_where_it_ends(tokenizer: str) -> None:
    setup = case("tag", tokenizer__name=tokenizer)
    split = setup.task.splits["train"]
    for example, ids, ends in zip(split.examples, split.inputs, split.ends, strict=True):
        assert len(ends) == len(example.words) and ends[-1] == len(ids) - 1
        starts = [0, *(ends[:-1] + 1)]
        text = [setup.dataset.vocabulary.tokenizer.decode(ids[a : b + 1]) for a, b in zip(starts, ends, strict=True)]
        assert [word.strip() for word in text] == list(example.words)


def test_a_typed_sentence_is_cut_into_words_and_punctuation() -> None:
    examples = [TaggedSentence(("Mr.", "k3=v1", "U.S."), ("A", "B", "C"))] * 2
    settings = case("tag").settings
    vocabulary = TagTask.build_vocabulary(examples, settings)
    typed = "Don't ask Mr. Bean's shops, please! k3=v1 k4=v1 can’t"
    assert " ".join(split_words(typed, vocabulary)) == "Do n't ask Mr. Bean 's shops , please ! k3=v1 k4 = v1 ca n’t"
    assert split_words("   ", vocabulary) == ["   "]
    pieces = Vocabulary(TOKENIZERS.load("char").train(["Mr."], TOKENIZERS.settings("char")()), labels=("A",))
    assert split_words("Mr. Bean", pieces) == ["Mr", ".", "Bean"]
