"""Translation: what the decoder reads while it learns, how it searches, and how it is scored."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sacrebleu
import torch
from example_cases import ARCHS, case, gradients, sentences

from seqlab.contracts import Trace
from seqlab.decode.translation import attention_weights, batch_sources, search, translate
from seqlab.errors import UsageError
from seqlab.models.parameter_count import refuse_unfit
from seqlab.tasks.example_settings import TranslateSettings
from seqlab.tasks.translate import free_running_logits, pair_batch, teacher_forcing_ratio

CAUSAL_ARCHS = [name for name in ARCHS if name != "transformer-encoder"]


def shares(steps: int, **settings: Any) -> list[float]:
    task_settings = TranslateSettings(forcing="scheduled", **settings)
    return [teacher_forcing_ratio(task_settings, step) for step in range(steps)]


def test_the_truth_is_read_always_or_never_where_nothing_is_scheduled() -> None:
    assert teacher_forcing_ratio(TranslateSettings(), 10**6) == 1
    assert teacher_forcing_ratio(TranslateSettings(forcing="free"), 0) == 0


def test_the_probability_of_the_truth_decays_as_was_asked() -> None:
    assert set(shares(100, decay="constant", teacher_ratio=0.6)) == {0.6}
    linear = shares(101, decay="linear", teacher_ratio=0.5, decay_steps=50)
    assert linear[0] == 1 and linear[25] == pytest.approx(0.75) and linear[50] == linear[100] == 0.5
    sigmoid = shares(4000, decay="inverse-sigmoid", decay_steps=1000)
    assert sigmoid[0] > 0.95 and sigmoid[1000] == pytest.approx(0.5, abs=1e-6) and sigmoid[3999] < 0.01
    assert all(a >= b for a, b in pairwise(sigmoid))


@pytest.mark.parametrize("steps", [1, 2, 10, 1000, 10**6])
def test_the_inverse_sigmoid_is_that_of_its_formula(steps: int) -> None:
    """k / (k + exp(i / k)), k such that it is one half at the given step."""
    task_settings = TranslateSettings(forcing="scheduled", decay="inverse-sigmoid", decay_steps=steps)
    at_half = teacher_forcing_ratio(task_settings, steps)
    assert at_half == pytest.approx(0.5, abs=1e-6)
    k = next(k for k in np.linspace(1.0001, 2e5, 2_000_001) if k * math.log(k) >= steps)
    assert teacher_forcing_ratio(task_settings, 2 * steps) == pytest.approx(
        k / (k + math.exp(min(2 * steps / k, 700))), abs=0.02
    )


@pytest.mark.parametrize("arch", CAUSAL_ARCHS)
def test_with_the_truth_at_every_place_steps_are_teacher_forcing(arch: str) -> None:
    setup = case("translate", arch)
    batch = setup.task.batch("train", 0, 0)
    with torch.inference_mode():
        stepped = free_running_logits(setup.model, batch, 1.0)
        whole = setup.model(batch.source, batch.inputs_BT, batch.mask_BT)
    kept = batch.targets_BT >= 0
    torch.testing.assert_close(stepped[kept], whole[kept], atol=2e-5, rtol=1e-5)


def test_running_free_the_decoder_reads_its_own_words() -> None:
    setup = case("translate")
    batch = setup.task.batch("train", 0, 0)
    with torch.inference_mode():
        logits_BTV = free_running_logits(setup.model, batch, 0.0)
        chosen_BT = torch.cat([batch.inputs_BT[:, :1], logits_BTV.argmax(2)[:, :-1]], dim=1)
        expected = setup.model(batch.source, chosen_BT)
    torch.testing.assert_close(logits_BTV, expected, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("forcing", ["scheduled", "free"])
def test_every_parameter_learns_without_the_truth_too(forcing: str) -> None:
    _, gradient_of = gradients(
        case("translate", task__forcing=forcing, task__decay="constant", task__teacher_ratio=0.3)
    )
    assert all(gradient is not None and bool(gradient.abs().sum() > 0) for gradient in gradient_of.values())


def test_smoothing_is_for_training_only() -> None:
    plain, smooth = case("translate", task__label_smoothing=0.0), case("translate", task__label_smoothing=0.3)
    assert plain.task.validate(plain.model, 10**6).loss == smooth.task.validate(smooth.model, 10**6).loss
    assert gradients(plain)[0] != gradients(smooth)[0]


def test_the_plain_cross_entropy_stands_beside_the_smoothed_loss() -> None:
    plain, smooth = case("translate", task__label_smoothing=0.0), case("translate", task__label_smoothing=0.3)
    exact, beside = (
        setup.task.loss(setup.model.eval(), setup.task.batch("train", 0, 0), None, 0) for setup in (plain, smooth)
    )
    assert exact.cross_entropy is None
    assert beside.cross_entropy is not None and not beside.cross_entropy.requires_grad
    assert torch.equal(beside.cross_entropy, exact.total) and not torch.equal(beside.total, exact.total)


@pytest.mark.parametrize("arch", CAUSAL_ARCHS)
def test_greedy_translations_are_the_likeliest_tokens_in_turn(arch: str) -> None:
    setup = case("translate", arch)
    sources = setup.task.splits["validation"].inputs[:5]
    target = setup.dataset.vocabulary.target_tokenizer
    for source, translation in zip(
        sources, translate(setup.model, sources, setup.dataset.vocabulary, 1, 0.0, 12), strict=True
    ):
        text = [target.begin]
        for token in translation.tokens:
            with torch.inference_mode():
                logits_V = setup.model(batch_sources([source], setup.model), torch.tensor([text]))[0, -1].clone()
                logits_V[list(target.never_sampled)] = -torch.inf
            assert int(logits_V.argmax()) == token
            text.append(token)
        assert len(translation.tokens) == 12 or translation.tokens[-1] == target.end


def test_a_beam_of_one_is_greedy_and_a_wider_one_finds_no_less_likely_text() -> None:
    setup = case("translate", "gru", task__length_penalty=0.0)
    vocabulary = setup.dataset.vocabulary
    for source in setup.task.splits["validation"].inputs[:6]:
        greedy = translate(setup.model, [source], vocabulary, 1, 0.0, 10)[0]
        narrow = search(setup.model, source, vocabulary, 1, 0.0, 10)[0]
        assert narrow.tokens == greedy.tokens
        wide = search(setup.model, source, vocabulary, 8, 0.0, 10, n_best=3)
        finished = [translation for translation in wide if translation.tokens[-1] == vocabulary.target_tokenizer.end]
        assert wide[0].score >= wide[-1].score or len(finished) < len(wide)
        if greedy.tokens[-1] == vocabulary.target_tokenizer.end:
            assert max(translation.logprob for translation in wide) >= greedy.logprob - 1e-6


def test_what_is_translated_does_not_depend_on_its_neighbours() -> None:
    setup = case("translate")
    sources = setup.task.splits["validation"].inputs
    together = translate(setup.model, sources, setup.dataset.vocabulary, 1, 0.0, 10)
    alone = [translate(setup.model, [source], setup.dataset.vocabulary, 1, 0.0, 10)[0] for source in sources]
    assert [translation.text for translation in together] == [translation.text for translation in alone]


def test_the_score_is_sacrebleu_of_the_translations() -> None:
    setup = case("translate", task__beam=2, task__label_smoothing=0.0, task__max_target_length=20)
    split, task_settings = setup.task.splits["test"], setup.settings.task.settings
    texts = [
        translation.text
        for translation in translate(
            setup.model,
            split.inputs,
            setup.dataset.vocabulary,
            2,
            task_settings.length_penalty,
            task_settings.target_limit,
        )
    ]
    references = [example.target for example in split.examples]
    metrics = setup.task.metrics(setup.task.score(setup.model, "test"))
    assert metrics["bleu"] == pytest.approx(sacrebleu.corpus_bleu(texts, [references]).score, abs=1e-6)
    assert metrics["chrf"] == pytest.approx(sacrebleu.corpus_chrf(texts, [references]).score, abs=1e-6)
    assert "tok:13a" in setup.task.signature
    # every token of a target is predicted, and its end; what it begins with is not
    batch = pair_batch(split, np.arange(len(split)))
    nats = setup.task.loss(setup.model, batch, None, 0).total
    tokens = sum(len(target) - 1 for target in split.targets)
    assert metrics["nats_per_token"] == pytest.approx(float(nats.detach()) / tokens, rel=1e-5)


def test_texts_may_be_judged_by_being_exactly_right() -> None:
    setup = case("translate", "gru", train=8, batch_size=8, hidden=32, task__metric="exact", task__label_smoothing=0.0)
    assert setup.task.signature is None
    assert setup.task.metrics(setup.task.score(setup.model, "train"))["exact"] == 0
    optimizer = torch.optim.Adam(setup.model.parameters(), lr=0.01)
    for step in range(150):
        loss = setup.task.loss(setup.model.train(), setup.task.batch("train", 0, step), None, step)
        optimizer.zero_grad()
        (loss.total / loss.count).backward()
        optimizer.step()
    scores = setup.task.score(setup.model.eval(), "train")
    split, vocabulary = setup.task.splits["train"], setup.dataset.vocabulary
    outputs = [translation.text for translation in translate(setup.model, split.inputs, vocabulary, 5, 0.7, 200)]
    right = sum(text == example.target for text, example in zip(outputs, split.examples, strict=True))
    assert right >= 6
    assert setup.task.metrics(scores)["exact"] == pytest.approx(100 * right / 8)
    sums_UK = setup.task.unit_sums(scores).sums_UK
    assert float(setup.task.metric.value(sums_UK.sum(0))) == pytest.approx(100 * right / 8)
    assert "bleu" not in setup.task.metrics(scores)


def test_predictions_bring_other_translations_and_what_was_looked_at() -> None:
    setup = case("translate")
    texts = [" ".join(words) for words in sentences(3, 5)]
    for translation in setup.task.predict(
        setup.model, texts, setup.dataset.vocabulary, setup.settings, n_best=3, weights=True
    ):
        assert len(translation.others) == 2
        weights_TS = np.array(translation.weights)
        assert (
            weights_TS.shape == (len(translation.target_tokens), len(translation.source_tokens))
            and translation.source_tokens == translation.text.split()
        )
        np.testing.assert_allclose(weights_TS.sum(1), 1, atol=1e-5)


def test_without_attention_there_is_nothing_to_look_at() -> None:
    setup = case("translate", task__attention="none")
    predictions = setup.task.predict(setup.model, ["the cat"], setup.dataset.vocabulary, setup.settings, weights=True)
    assert predictions[0].weights is None


def test_a_decoder_that_reads_both_ways_is_refused_with_the_reason() -> None:
    settings = case("translate").settings.with_values(**{"decoder.bidirectional": True})
    with pytest.raises(UsageError, match="would see words that it should generate"):
        refuse_unfit(settings)


def test_without_attention_an_architecture_without_a_state_is_refused() -> None:
    with pytest.raises(UsageError, match="start state is fixed"):
        case("translate", "feedforward", task__attention="none")


def test_encoder_and_decoder_may_differ() -> None:
    setup = case("translate", backbone__name="gru", decoder__name="lstm", task__max_target_length=20)
    assert setup.settings.backbone.name == "gru" and setup.settings.decoder.name == "lstm"
    assert setup.task.score(setup.model, "test").sums_UK.shape == (12, 10)


@pytest.mark.parametrize("width", [1, 3])
def test_scores_are_of_the_length_to_the_power_of_alpha(width: int) -> None:
    setup = case("translate")
    for translation in translate(
        setup.model, setup.task.splits["test"].inputs, setup.dataset.vocabulary, width, 0.7, 10
    ):
        assert translation.score == pytest.approx(translation.logprob / len(translation.tokens) ** 0.7, rel=1e-5)


@pytest.mark.parametrize("arch", ["lstm", "transformer"])
def test_what_a_token_looked_at_follows_from_those_before_it(arch: str) -> None:
    setup = case("translate", arch)
    vocabulary, source = setup.dataset.vocabulary, setup.task.splits["test"].inputs[0]
    a, b, end = *setup.task.splits["test"].targets[0][1:3].tolist(), vocabulary.target_tokenizer.end
    weights, other_weights = (
        np.array(attention_weights(setup.model, source, tokens, vocabulary)["weights"]) for tokens in ([a, b], [b, end])
    )
    assert weights.shape == (2, len(source))
    np.testing.assert_allclose(weights.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(weights[0], other_weights[0], rtol=1e-5)
    assert np.abs(weights[1] - other_weights[1]).max() > 1e-6


def test_heads_are_shown_by_their_mean() -> None:
    setup = case("translate", "transformer", backbone__heads=2)
    vocabulary, source = setup.dataset.vocabulary, setup.task.splits["test"].inputs[0]
    tokens, trace = setup.task.splits["test"].targets[0].tolist(), Trace()
    with torch.inference_mode():
        setup.model(batch_sources([source], setup.model), torch.tensor([tokens[:-1]]), None, trace)
    heads_HTS = trace[f"layer{setup.model.decoder.settings.layers}.source.weights"][0].transpose(0, 1)
    assert len(heads_HTS) == 2 and float((heads_HTS[0] - heads_HTS[1]).abs().max()) > 1e-4
    shown = attention_weights(setup.model, source, tokens[1:], vocabulary)["weights"]
    torch.testing.assert_close(torch.tensor(shown), heads_HTS.mean(0))


@pytest.mark.parametrize("width", [1, 2])
def test_what_has_lost_its_way_is_cut_and_no_symbol_is_written(width: int) -> None:
    setup = case("translate")
    target, split = setup.dataset.vocabulary.target_tokenizer, setup.task.splits["test"]
    with torch.no_grad():
        setup.model.output.bias[target.end] = -100.0
        setup.model.output.bias[list(target.never_sampled)] = 100.0
    assert target.begin in target.never_sampled
    outputs = translate(setup.model, split.inputs[:3], setup.dataset.vocabulary, width, 0.7, 30)
    for translation in outputs:
        assert len(translation.tokens) == 30 and not translation.finished
        assert not set(translation.tokens) & set(target.never_sampled)
