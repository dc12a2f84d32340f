"""Which tokens speak for an answer: against autograd on the embedded text, and their sum."""

import pytest
import torch
from inspected_runs import TEXT, UntrainedRun, untrained

from seqlab.errors import UsageError
from seqlab.inspection.inspection import inspect
from seqlab.inspection.sheet import Sheet
from seqlab.registry import BACKBONES


def view(run: UntrainedRun, text: str = TEXT, **options: int) -> Sheet:
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


def test_what_is_not_predicted_has_no_attribution() -> None:
    for position in (1, 40):
        with pytest.raises(UsageError, match=rf"token {position} is not predicted: give a number from 2 to 32"):
            view(untrained("gru"), position=position)
