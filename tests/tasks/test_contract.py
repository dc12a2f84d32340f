"""Every registered task keeps the contract, and a task that breaks it is caught."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqlab.contracts import Loss
from seqlab.registry import TASKS
from seqlab.tasks.classify import ClassifyTask
from seqlab.testing.task import TaskCase, check_task, task_case, tasks

# the pairs of options that change what a batch, a loss or a score is
CASES: dict[str, dict[str, Any]] = {
    "language": {},
    "language stream": {"task__batching": "stream"},
    "masked": {"backbone__name": "transformer-encoder"},
    "classify": {"task__pooling": "attention"},
    "tag": {},
    "tag crf": {"task__output_layer": "crf", "tokenizer__name": "char"},
    "translate": {"tokenizer__name": "word"},
    "embed": {},
    "embed matryoshka": {"task__matryoshka": "2,4", "task__symmetric": True, "task__pooling": "sif"},
    "embed cached": {"task__cache_batch": 2, "task__pairs": "spans,neighbors,twins", "task__pooling": "attention"},
    "translate apart": {"tokenizer__name": "word", "task__shared_vocabulary": False, "model__tie_embeddings": False},
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TaskCase:
    name = request.param.split()[0]
    folder = tmp_path_factory.mktemp("task")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        return task_case(name, "gru", None, folder, CASES[request.param])


@pytest.mark.parametrize("check", tasks.checks.values(), ids=lambda check: check.__name__)
def test_the_contract(check: Any, case: TaskCase) -> None:
    check(case)


def test_every_registered_task_is_checked() -> None:
    assert {name.split()[0] for name in CASES} == set(TASKS.builtin())


class MeanLoss(ClassifyTask):
    def loss(self, model: Any, batch: Any, carry: Any, step: int) -> Loss:
        loss = super().loss(model, batch, carry, step)
        return Loss(loss.total / loss.count, loss.count)


class CountsTwice(ClassifyTask):
    def score(self, *args: Any, **kwargs: Any) -> Any:
        scores = super().score(*args, **kwargs)
        object.__setattr__(scores, "nats_U", 2 * scores.nats_U)
        return scores


class Forgetful(ClassifyTask):
    def batch(self, split: str, seed: int, index: int) -> Any:
        return super().batch(split, int(torch.randint(1000, ())), index)


class Flattering(ClassifyTask):
    def metrics(self, scores: Any) -> dict[str, float]:
        return {**scores.metrics, "accuracy": 100.0}


class OtherUnits(ClassifyTask):
    def score_baselines(self, dataset: Any, split: str, units: Any) -> Any:
        scores: Any = super().score_baselines(dataset, split, units)
        object.__setattr__(scores[0], "sums_UK", np.tile(scores[0].sums_UK, (2, 1)))
        return scores


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (MeanLoss, "an epoch's loss is"),
        (CountsTwice, "an epoch's loss is"),
        (Forgetful, "depends on more than its arguments"),
        (Flattering, "accuracy is 100.0, but its unit sums give"),
        (OtherUnits, "'majority' is on other units"),
    ],
)
def test_a_broken_task_is_caught(broken: Any, message: str, tmp_path: Path) -> None:
    case = task_case("classify", "gru", None, tmp_path, {})
    task = broken.from_dataset(case.settings, case.dataset)
    with pytest.raises(AssertionError, match=message):
        for check in tasks.checks.values():
            check(TaskCase(case.settings, case.dataset, task, case.model))


def test_by_name() -> None:
    check_task("classify")
