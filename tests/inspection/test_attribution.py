"""Which tokens speak for an answer: against autograd on the embedded text, and their sum."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from captum.attr import InputXGradient, LayerIntegratedGradients
from inspected_runs import TEXT, untrained
from torch import Tensor

from seqlab.errors import UsageError
from seqlab.inspection.attribution import STEPS
from seqlab.inspection.inspection import inspect
from seqlab.inspection.reading import Reading, TrainedRun, read_text
from seqlab.inspection.sheet import Sheet
from seqlab.models.translator import SourceBatch
from seqlab.registry import BACKBONES


def view(run: TrainedRun, text: str = TEXT, **options: int) -> Sheet:
    return inspect([run], text, "attribution", options).sheets[0]


def test_input_times_gradient_is_that_of_autograd() -> None:
    run, position = untrained("lstm"), 9
    ids = run.tokenizer.encode(TEXT)
    x_1TD = run.model.embed(torch.tensor([ids[: position - 1]])).detach().requires_grad_()
    y_1TH, _ = run.model.backbone(x_1TD)
    answer = run.model.project(y_1TH)[0, -1].log_softmax(0)[ids[position - 1]]
    (slopes_1TD,) = torch.autograd.grad(answer, x_1TD)
    expected = (x_1TD * slopes_1TD).detach()[0].sum(1)
    assert view(run, position=position).data["input_times_gradient"] == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.parametrize("arch", list(BACKBONES))
def test_the_shares_add_up_to_the_difference(arch: str) -> None:
    run = untrained(arch)
    found = view(run, "The cat sat").data
    gap = 0.02 + 0.02 * abs(found["difference"])
    assert sum(found["integrated_gradients"]) == pytest.approx(found["difference"], abs=gap)
    ids = run.tokenizer.encode("The cat sat")
    read = [*ids[:-1], run.model.mask] if arch == "transformer-encoder" else ids[:-1]
    with torch.no_grad():
        zeros_BTH, _ = run.model.backbone(torch.zeros(1, len(read), 6))
        logits = run.model(torch.tensor([read]))[0], run.model.project(zeros_BTH)
    text, nothing = (float(each[0, -1].log_softmax(0)[ids[-1]]) for each in logits)
    assert found["difference"] == pytest.approx(text - nothing, abs=1e-4)


def test_a_classifier_explains_its_label() -> None:
    run = untrained("gru", task="classify")
    sheet = view(run, "The cat sat")
    ids = torch.tensor([run.tokenizer.encode(" The cat sat")])
    label = ("cold", "warm")[int(run.model(ids)[0].argmax())]
    assert sheet.sentence.startswith(f"log-probability of the label '{label}'")
    assert len(sheet.data["tokens"]) == ids.shape[1]
    assert sum(sheet.data["integrated_gradients"]) == pytest.approx(sheet.data["difference"], abs=0.02)
    with pytest.raises(UsageError, match="position does nothing for a classifier"):
        view(run, position=2)


# --- Captum ---------------------------------------------------------------------------------------------------------

Answer = Callable[[Tensor], Tensor]  # from the ids of a batch to the log-probability of the answer in each row


def language_case() -> tuple[Reading, Tensor, Any, Answer]:
    reading = read_text(untrained("lstm"), "The cat sat")
    ids_1T = torch.tensor([reading.ids[:-1]])
    model = reading.run.model
    return reading, ids_1T, model.embedding, lambda ids: model(ids)[0][:, -1].log_softmax(1)[:, reading.ids[-1]]


def classifier_case() -> tuple[Reading, Tensor, Any, Answer]:
    reading = read_text(untrained("gru", "classify"), "The cat sat")
    model, label = reading.run.model, reading.answers[0]
    return reading, torch.tensor([reading.ids]), model.embedding, lambda ids: model(ids).log_softmax(1)[:, label]


def tagger_case(output_layer: str) -> tuple[Reading, Tensor, Any, Answer]:
    run = untrained("lstm", "tag", char_encoder="none", output_layer=output_layer)
    reading = read_text(run, "The cat sat on the mat")
    tag, chain = reading.answers[-1], run.model.chain

    def answer(ids_BT: Tensor) -> Tensor:
        scores_BWK = run.model(ids_BT)
        if chain is not None:  # the difference of two sums over sequences, as in the loss
            tags_BT = torch.full(ids_BT.shape, -1)
            tags_BT[:, -1] = tag
            return -chain.nats(scores_BWK, tags_BT, torch.ones(ids_BT.shape, dtype=torch.bool))
        return scores_BWK[:, -1].log_softmax(1)[:, tag]

    return reading, torch.tensor([reading.ids]), run.model.embedding, answer


def translator_case(arch: str) -> tuple[Reading, Tensor, Any, Answer]:
    run = untrained(arch, "translate", shared_vocabulary=False)
    reading = read_text(run, "The cat sat")

    def answer(ids_BS: Tensor) -> Tensor:
        source = SourceBatch(ids_BS, torch.ones(ids_BS.shape, dtype=torch.bool))
        logits_BTV = run.model(source, torch.tensor(reading.ids).expand(len(ids_BS), -1))
        return logits_BTV[:, -1].log_softmax(1)[:, reading.answers[-1]]

    return reading, torch.tensor([reading.sides[0].ids]), run.model.source_embedding, answer


CASES = {
    "language model": language_case,
    "classifier": classifier_case,
    "tagger": lambda: tagger_case("softmax"),
    "tagger with a CRF": lambda: tagger_case("crf"),
    "recurrent translator": lambda: translator_case("gru"),
    "transformer": lambda: translator_case("transformer"),
}


@pytest.mark.parametrize("case", CASES)
def test_captum_finds_the_same(case: str) -> None:
    reading, ids_1T, embedding, answer = CASES[case]()
    unknown = reading.run.tokenizer.unknown
    assert unknown is not None and unknown not in ids_1T
    with torch.no_grad():
        embedding.weight[unknown] = 0  # a text of unknown tokens is then a text of zeros
    found = view(reading.run, reading.text).data

    def from_vectors(x_BTD: Tensor) -> Tensor:
        with embedding.register_forward_hook(lambda *_: x_BTD):
            return answer(ids_1T.expand(len(x_BTD), -1))

    x_1TD = embedding(ids_1T).detach().requires_grad_()
    slopes_1TD = InputXGradient(from_vectors).attribute(x_1TD)
    assert found["input_times_gradient"] == pytest.approx(slopes_1TD[0].sum(1).tolist(), rel=1e-4, abs=1e-6)
    shares_1TD = LayerIntegratedGradients(answer, embedding).attribute(
        ids_1T, torch.full_like(ids_1T, unknown), n_steps=STEPS, method="riemann_middle"
    )
    assert isinstance(shares_1TD, Tensor)
    expected = shares_1TD[0].sum(1).tolist()
    assert found["integrated_gradients"] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert sum(found["integrated_gradients"]) == pytest.approx(found["difference"], abs=0.02)


def test_shares_that_do_not_add_up_are_said_to() -> None:
    run = untrained("lstm")
    assert "belong to no token" not in view(run, "The cat sat").sentence
    run.model.embedding.weight.data *= 1000
    sheet = view(run, "The cat sat")
    gap = sheet.data["difference"] - sum(sheet.data["integrated_gradients"])
    assert abs(gap) > 0.1
    assert f"so {gap:z.3f}".replace("-", "−") + " nats belong to no token" in sheet.sentence


def test_what_is_not_predicted_has_no_attribution() -> None:
    for position in (1, 40):
        with pytest.raises(UsageError, match=rf"token {position} is not predicted: give a number from 2 to 32"):
            view(untrained("gru"), position=position)
