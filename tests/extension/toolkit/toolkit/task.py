"""Classification with label smoothing."""

from typing import Any

from pydantic import Field
from torch.nn.functional import cross_entropy

from seqlab.contracts import Loss, State
from seqlab.tasks.classify import ClassifyTask
from seqlab.tasks.example_settings import ClassifySettings


class SmoothedSettings(ClassifySettings):
    smoothing: float = Field(default=0.1, ge=0, lt=1)


class SmoothedTask(ClassifyTask):
    name = "smoothed"
    Settings = SmoothedSettings

    def loss(self, model: Any, batch: Any, carry: State | None, step: int) -> Loss:
        logits_BK = model(batch.inputs_BT, batch.mask_BT)
        assert isinstance(self.settings, SmoothedSettings)
        smoothing = self.settings.smoothing
        total = cross_entropy(logits_BK, batch.targets_B, reduction="sum", label_smoothing=smoothing)
        return Loss(total, len(logits_BK))
