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
    own = TranslateSettings(forcing="scheduled", **settings)
    return [teacher_forcing_ratio(own, step) for step in range(steps)]


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
    own = TranslateSettings(forcing="scheduled", decay="inverse-sigmoid", decay_steps=steps)
    at_half = teacher_forcing_ratio(own, steps)
    assert at_half == pytest.approx(0.5, abs=1e-6)
    k = next(k for k in np.linspace(1.0001, 2e5, 2_000_001) if k * math.log(k) >= steps)
    assert teacher_forcing_ratio(own, 2 * steps) == pytest.approx(k / (k + math.exp(min(2 * steps / k, 700))), abs=0.02)


@pytest.mark.parametrize("arch", CAUSAL_ARCHS)
def test_with_the_truth_at_every_place_steps_are_teacher_forcing(arch: str) -> None:
    found = case("translate", arch)
    batch = found.task.batch("train", 0, 0)
    with torch.inference_mode():
        stepped = free_running_logits(found.model, batch, 1.0)
        whole = found.model(batch.source, batch.inputs_BT, batch.mask_BT)
    kept = batch.targets_BT >= 0
    torch.testing.assert_close(stepped[kept], whole[kept], atol=2e-5, rtol=1e-5)


def test_running_free_the_decoder_reads_its_own_words() -> None:
    found = case("translate")
    batch = found.task.batch("train", 0, 0)
    with torch.inference_mode():
        logits_BTV = free_running_logits(found.model, batch, 0.0)
        chosen_BT = torch.cat([batch.inputs_BT[:, :1], logits_BTV.argmax(2)[:, :-1]], dim=1)
        expected = found.model(batch.source, chosen_BT)
    torch.testing.assert_close(logits_BTV, expected, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("forcing", ["scheduled", "free"])
def test_every_parameter_learns_without_the_truth_too(forcing: str) -> None:
    _, found = gradients(case("translate", task__forcing=forcing, task__decay="constant", task__teacher_ratio=0.3))
    assert all(gradient is not None and bool(gradient.abs().sum() > 0) for gradient in found.values())


def test_smoothing_is_for_training_only() -> None:
    plain, smooth = case("translate", task__label_smoothing=0.0), case("translate", task__label_smoothing=0.3)
    assert plain.task.validate(plain.model, 10**6).loss == smooth.task.validate(smooth.model, 10**6).loss
    assert gradients(plain)[0] != gradients(smooth)[0]


@pytest.mark.parametrize("arch", CAUSAL_ARCHS)
def test_greedy_translations_are_the_likeliest_tokens_in_turn(arch: str) -> None:
    found = case("translate", arch)
    sources = found.task.splits["validation"].inputs[:5]
    target = found.dataset.vocabulary.target_tokenizer
    for source, one in zip(sources, translate(found.model, sources, found.dataset.vocabulary, 1, 0.0, 12), strict=True):
        text = [target.begin]
        for token in one.tokens:
            with torch.inference_mode():
                logits_V = found.model(batch_sources([source], found.model), torch.tensor([text]))[0, -1].clone()
                logits_V[list(target.never_sampled)] = -torch.inf
            assert int(logits_V.argmax()) == token
            text.append(token)
        assert len(one.tokens) == 12 or one.tokens[-1] == target.end


def test_a_beam_of_one_is_greedy_and_a_wider_one_finds_no_less_likely_text() -> None:
    found = case("translate", "gru", task__length_penalty=0.0)
    vocabulary = found.dataset.vocabulary
    for source in found.task.splits["validation"].inputs[:6]:
        greedy = translate(found.model, [source], vocabulary, 1, 0.0, 10)[0]
        narrow = search(found.model, source, vocabulary, 1, 0.0, 10)[0]
        assert narrow.tokens == greedy.tokens
        wide = search(found.model, source, vocabulary, 8, 0.0, 10, n_best=3)
        finished = [one for one in wide if one.tokens[-1] == vocabulary.target_tokenizer.end]
        assert wide[0].score >= wide[-1].score or len(finished) < len(wide)
        if greedy.tokens[-1] == vocabulary.target_tokenizer.end:
            assert max(one.logprob for one in wide) >= greedy.logprob - 1e-6


def test_what_is_translated_does_not_depend_on_its_neighbours() -> None:
    found = case("translate")
    sources = found.task.splits["validation"].inputs
    together = translate(found.model, sources, found.dataset.vocabulary, 1, 0.0, 10)
    alone = [translate(found.model, [source], found.dataset.vocabulary, 1, 0.0, 10)[0] for source in sources]
    assert [one.text for one in together] == [one.text for one in alone]


def test_the_score_is_sacrebleu_of_the_translations() -> None:
    found = case("translate", task__beam=2, task__label_smoothing=0.0)
    part, own = found.task.splits["test"], found.settings.task.settings
    texts = [
        one.text
        for one in translate(
            found.model, part.inputs, found.dataset.vocabulary, 2, own.length_penalty, own.max_target_length
        )
    ]
    references = [example.target for example in part.examples]
    metrics = found.task.metrics(found.task.score(found.model, "test"))
    assert metrics["bleu"] == pytest.approx(sacrebleu.corpus_bleu(texts, [references]).score, abs=1e-6)
    assert metrics["chrf"] == pytest.approx(sacrebleu.corpus_chrf(texts, [references]).score, abs=1e-6)
    assert "tok:13a" in found.task.signature
    # every token of a target is predicted, and its end; what it begins with is not
    batch = pair_batch(part, np.arange(len(part)))
    nats = found.task.loss(found.model, batch, None, 0).total
    tokens = sum(len(target) - 1 for target in part.targets)
    assert metrics["nats_per_token"] == pytest.approx(float(nats.detach()) / tokens, rel=1e-5)


def test_texts_may_be_judged_by_being_exactly_right() -> None:
    found = case("translate", "gru", train=8, batch_size=8, hidden=32, task__metric="exact", task__label_smoothing=0.0)
    assert found.task.signature is None
    assert found.task.metrics(found.task.score(found.model, "train"))["exact"] == 0
    optimizer = torch.optim.Adam(found.model.parameters(), lr=0.01)
    for step in range(150):
        loss = found.task.loss(found.model.train(), found.task.batch("train", 0, step), None, step)
        optimizer.zero_grad()
        (loss.total / loss.count).backward()
        optimizer.step()
    scores = found.task.score(found.model.eval(), "train")
    part, vocabulary = found.task.splits["train"], found.dataset.vocabulary
    written = [one.text for one in translate(found.model, part.inputs, vocabulary, 5, 0.7, 200)]
    right = sum(text == example.target for text, example in zip(written, part.examples, strict=True))
    assert right >= 6
    assert found.task.metrics(scores)["exact"] == pytest.approx(100 * right / 8)
    sums_UK = found.task.unit_sums(scores).sums_UK
    assert float(found.task.metric.value(sums_UK.sum(0))) == pytest.approx(100 * right / 8)
    assert "bleu" not in found.task.metrics(scores)


def test_predictions_bring_other_translations_and_what_was_looked_at() -> None:
    found = case("translate")
    texts = [" ".join(words) for words in sentences(3, 5)]
    for one in found.task.predict(found.model, texts, found.dataset.vocabulary, found.settings, n_best=3, weights=True):
        assert len(one.others) == 2
        weights_TS = np.array(one.weights)
        assert (
            weights_TS.shape == (len(one.target_tokens), len(one.source_tokens))
            and one.source_tokens == one.text.split()
        )
        np.testing.assert_allclose(weights_TS.sum(1), 1, atol=1e-5)


def test_without_attention_there_is_nothing_to_look_at() -> None:
    found = case("translate", task__attention="none")
    one = found.task.predict(found.model, ["the cat"], found.dataset.vocabulary, found.settings, weights=True)[0]
    assert one.weights is None


def test_a_decoder_that_reads_both_ways_is_refused_with_the_reason() -> None:
    settings = case("translate").settings.with_values(**{"decoder.bidirectional": True})
    with pytest.raises(UsageError, match="would see the words that it is to write"):
        refuse_unfit(settings)


def test_without_attention_an_architecture_without_a_state_is_refused() -> None:
    with pytest.raises(UsageError, match="start state is fixed"):
        case("translate", "feedforward", task__attention="none")


def test_encoder_and_decoder_may_differ() -> None:
    found = case("translate", backbone__name="gru", decoder__name="lstm")
    assert found.settings.backbone.name == "gru" and found.settings.decoder.name == "lstm"
    assert found.task.score(found.model, "test").sums_UK.shape == (12, 10)


@pytest.mark.parametrize("width", [1, 3])
def test_scores_are_of_the_length_to_the_power_of_alpha(width: int) -> None:
    found = case("translate")
    for one in translate(found.model, found.task.splits["test"].inputs, found.dataset.vocabulary, width, 0.7, 10):
        assert one.score == pytest.approx(one.logprob / len(one.tokens) ** 0.7, rel=1e-5)


@pytest.mark.parametrize("arch", ["lstm", "transformer"])
def test_what_a_token_looked_at_follows_from_those_before_it(arch: str) -> None:
    found = case("translate", arch)
    vocabulary, source = found.dataset.vocabulary, found.task.splits["test"].inputs[0]
    a, b, end = *found.task.splits["test"].targets[0][1:3].tolist(), vocabulary.target_tokenizer.end
    one, other = (
        np.array(attention_weights(found.model, source, tokens, vocabulary)["weights"]) for tokens in ([a, b], [b, end])
    )
    assert one.shape == (2, len(source))
    np.testing.assert_allclose(one.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(one[0], other[0], rtol=1e-5)
    assert np.abs(one[1] - other[1]).max() > 1e-6


def test_heads_are_shown_by_their_mean() -> None:
    found = case("translate", "transformer", backbone__heads=2)
    vocabulary, source = found.dataset.vocabulary, found.task.splits["test"].inputs[0]
    tokens, trace = found.task.splits["test"].targets[0].tolist(), Trace()
    with torch.inference_mode():
        found.model(batch_sources([source], found.model), torch.tensor([tokens[:-1]]), None, trace)
    heads_HTS = [values[0] for name, values in trace.values.items() if name.endswith("cross.weights")][-1][0]
    assert len(heads_HTS) == 2 and float((heads_HTS[0] - heads_HTS[1]).abs().max()) > 1e-4
    shown = attention_weights(found.model, source, tokens[1:], vocabulary)["weights"]
    torch.testing.assert_close(torch.tensor(shown), heads_HTS.mean(0))


@pytest.mark.parametrize("width", [1, 2])
def test_what_has_lost_its_way_is_cut_and_no_symbol_is_written(width: int) -> None:
    found = case("translate")
    target, part = found.dataset.vocabulary.target_tokenizer, found.task.splits["test"]
    with torch.no_grad():
        found.model.output.bias[target.end] = -100.0
        found.model.output.bias[list(target.never_sampled)] = 100.0
    assert target.begin in target.never_sampled
    written = translate(found.model, part.inputs[:3], found.dataset.vocabulary, width, 0.7, 1000)
    for source, one in zip(part.inputs, written, strict=False):
        assert len(source) < len(one.tokens) <= 3 * max(map(len, part.inputs[:3])) + 20
        assert not set(one.tokens) & set(target.never_sampled)
