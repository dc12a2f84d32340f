"""An architecture that breaks a promise is caught, and the message names the promise and what was observed."""

from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.backbones.recurrent import Gru, RecurrentState
from seqlab.backbones.recurrent_settings import GruSettings
from seqlab.contracts import Recorded, record
from seqlab.errors import UsageError
from seqlab.testing import check_architecture


class LooksAhead(Gru):
    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        y_BTH, after = super().forward(x_BTD, state, mask_BT, trace)
        return y_BTH + 0.1 * torch.cat([x_BTD[:, 1:, :1], x_BTD[:, -1:, :1]], dim=1), after


class KeepsItsOutput(Gru):
    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        y_BTH, after = super().forward(x_BTD, state, mask_BT, trace)
        self.last = y_BTH[:, -1]
        return y_BTH, after


class StepsFromNothing(Gru):
    def step(self, x_BD: Tensor, state: Any, trace: Any = None):
        y_BH, after = super().step(x_BD, self.start(len(x_BD)), trace)
        return y_BH, RecurrentState(state.lengths_B + 1, after.cells)


class StepsRoughly(Gru):
    def step(self, x_BD: Tensor, state: Any, trace: Any = None):
        y_BH, after = super().step(x_BD, state, trace)
        return y_BH + 1e-3, after


class ReadsPadding(Gru):
    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        return super().forward(x_BTD, state, None, trace)


class ReadsALittlePadding(Gru):
    """So little that a padded row is as good as equal to the row alone."""

    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        y_BTH, after = super().forward(x_BTD, state, mask_BT, trace)
        if mask_BT is None:
            return y_BTH, after
        return y_BTH + 1e-8 * (x_BTD * ~mask_BT[:, :, None]).sum((1, 2), keepdim=True), after


class OneMoreSettings(GruSettings):
    def core_parameters(self, inputs: int) -> int:
        return super().core_parameters(inputs) + 1


class Miscounted(Gru):
    Settings = OneMoreSettings


class DeadWeight(Gru):
    Settings = OneMoreSettings

    def __init__(self, settings: GruSettings, inputs: int):
        super().__init__(settings, inputs)
        self.unused = torch.nn.Parameter(torch.zeros(1))


class WrongFlops(Gru):
    def flops_per_token(self, length: int) -> int:
        return 1


class WrongBytes(Gru):
    def state_bytes(self, length: int) -> int:
        return 1


class WrongStartSettings(GruSettings):
    def start_shapes(self, inputs: int) -> tuple[tuple[int, ...], ...]:
        return ((self.hidden,),)


class WrongStart(Gru):
    Settings = WrongStartSettings


class RecordsInSecret(Gru):
    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        y_BTH, after = super().forward(x_BTD, state, mask_BT, trace)
        return record(trace, "result", y_BTH), after


class PromisesMore(Gru):
    @property
    def records(self) -> dict[str, Recorded]:
        return {**super().records, "result": Recorded("layer", "the output")}


class ComputesPastTheTrace(PromisesMore):
    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        y_BTH, after = super().forward(x_BTD, state, mask_BT, trace)
        record(trace, "result", y_BTH)
        return y_BTH, after

    def step(self, x_BD: Tensor, state: Any, trace: Any = None):
        y_BH, after = super().step(x_BD, state, trace)
        return record(trace and trace.step(0), "result", y_BH), after


@pytest.mark.parametrize(
    ("cls", "promise", "observation"),
    [
        (LooksAhead, "never depends on later inputs", "changing input 1 changed output 0"),
        (KeepsItsOutput, "the module keeps nothing of what it read", "an attribute of the module changed"),
        (StepsFromNothing, "step by step equals one pass", "they differ by"),
        (StepsRoughly, "step by step equals one pass", "they differ by 0.001"),
        (ReadsALittlePadding, "the content of padding does not matter", "changed the outputs"),
        (ReadsPadding, "a padded row equals the row alone", "lengths_B"),
        (RecordsInSecret, "what `records` declares", "it recorded ['result'], which `records` does not declare"),
        (PromisesMore, "what `records` declares", "`records` declares ['result'], which it did not record"),
        (ComputesPastTheTrace, "what `record` returns", "in the place of 'result' changed nothing"),
        (Miscounted, "core_parameters", "are declared and"),
        (DeadWeight, "every parameter gets a finite gradient", "unused has none"),
        (WrongFlops, "flops_per_token", "torch counts"),
        (WrongBytes, "state_bytes", "the tensors have"),
        (WrongStart, "a translator with the architecture as encoder and decoder", "StopIteration"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_broken_promise_is_named(cls: type[Gru], promise: str, observation: str) -> None:
    with pytest.raises(AssertionError) as broken:
        check_architecture(cls)
    assert str(broken.value).startswith(cls.__name__)
    assert promise in str(broken.value) and observation in str(broken.value)


def test_a_path_that_cannot_be_imported_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_PLUGINS", "")
    with pytest.raises(UsageError, match=r"'no_such_package.module:Thing' .* cannot be loaded: ModuleNotFoundError"):
        check_architecture("no_such_package.module:Thing")
