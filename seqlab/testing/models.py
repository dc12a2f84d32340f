"""Promises about models: every registered task can be trained with the architecture, or refuses it with a reason."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqlab.config import RunSettings, VocabSizes, resolve
from seqlab.contracts import Recorded, Trace
from seqlab.errors import UsageError
from seqlab.models.language_model import LanguageModel
from seqlab.models.parameter_count import parameters, refuse_unfit
from seqlab.models.translator import SourceBatch, Translator
from seqlab.registry import BACKBONES, TASKS
from seqlab.testing.cases import ArchitectureCase, same
from seqlab.testing.promises import Promises, require

models: Promises[ArchitectureCase] = Promises()
SIZES = VocabSizes(11, target=11, characters=7, labels=3, unknown=0)
LENGTH = 6


def run_settings(case: ArchitectureCase, task: str) -> RunSettings:
    """The settings of a run with this architecture, by the registered name or by the path of its class."""
    registered = (name for name in BACKBONES.builtin() if BACKBONES.load(name) is case.cls)
    name = next(registered, f"{case.cls.__module__}:{case.cls.__qualname__}")
    backbone = {"name": name, **case.settings.model_dump()}
    tables = {"corpus": {"source": ["none"]}, "task": {"name": task}, "backbone": backbone, "model": {"embedding": 5}}
    if TASKS.settings(task).decodes:
        tables["decoder"] = {"name": name}
    return resolve(tables)


def build_or_none(case: ArchitectureCase, task: str) -> Any:
    """The model of a task, or None if the task refuses the architecture."""
    settings = run_settings(case, task)
    try:
        refuse_unfit(settings)
    except UsageError:
        return None
    torch.default_generator.manual_seed(0)
    return TASKS.load(task).build(settings, SIZES).eval()


@models("the model of every task is built with the number of parameters that its settings declare, or is refused")
def models_of_tasks(case: ArchitectureCase) -> None:
    built = 0
    for task in TASKS.builtin():
        model = build_or_none(case, task)
        if model is not None:
            count = sum(p.numel() for p in model.parameters())
            declared = parameters(run_settings(case, task), SIZES).total
            require(count == declared, f"{task}: {declared} are declared, {count} are built")
            built += 1
    require(built >= 3, f"only {built} tasks could be built")


@models("a language model reads a prompt and then steps as in one pass; one that reads ahead is refused")
def language_models(case: ArchitectureCase) -> None:
    model = build_or_none(case, "language")
    if model is None:
        return require(not case.settings.causal, "a causal architecture was refused")
    require(case.settings.causal, "an architecture that reads ahead was accepted")
    assert isinstance(model, LanguageModel)
    tokens_BT = torch.arange(2 * LENGTH).view(2, LENGTH) % 11
    whole_BTV, _ = model(tokens_BT)
    logits_BV, state = model.read(tokens_BT[:, :3], torch.tensor([3, 2]))
    same(logits_BV, whole_BTV[[0, 1], [2, 1]], "logits after a prompt")
    stepped_BV, _ = model.step(tokens_BT[[0, 1], [3, 2]], state)
    _require_recorded(model, "language", lambda trace: model(tokens_BT, trace=trace)[0])
    _require_recorded(model, "language", lambda trace: model.step(tokens_BT[:, 0], state, trace)[0])
    return same(stepped_BV, whole_BTV[[0, 1], [3, 2]], "logits after one more token")


@models("a translator with the architecture as encoder and decoder steps as in one pass")
def translators(case: ArchitectureCase) -> None:
    model = build_or_none(case, "translate")
    if model is None:
        return
    assert isinstance(model, Translator)
    source = SourceBatch(torch.tensor([[1, 2, 3], [4, 5, 0]]), torch.tensor([[True] * 3, [True, True, False]]))
    tokens_BT = torch.arange(2 * LENGTH).view(2, LENGTH) % 11
    whole_BTV, state = model(source, tokens_BT), model.start(source)
    _require_recorded(model, "translate", lambda trace: model(source, tokens_BT, trace=trace))
    decoder = {name: about for name, about in model.records.items() if not name.startswith("encoder.")}
    _require_recorded(
        model, "translate", lambda trace: model.step(tokens_BT[:, 0], model.start(source), trace)[0], decoder
    )
    for t in range(LENGTH):
        logits_BV, state = model.step(tokens_BT[:, t], state)
        same(logits_BV, whole_BTV[:, t], f"logits after token {t}")


@models("taggers, classifiers, text encoders and masked language models record what they declare")
def models_of_whole_texts(case: ArchitectureCase) -> None:
    tokens_BT = torch.arange(2 * LENGTH).view(2, LENGTH) % 11
    mask_BT = torch.arange(LENGTH) < torch.tensor([LENGTH, 2])[:, None]
    spellings = torch.arange(12).view(4, 3) % 7, torch.ones(4, 3, dtype=torch.bool)
    runs: dict[str, Callable[[Any, Trace | None], Tensor]] = {
        "tag": lambda model, trace: model(tokens_BT, mask_BT, tokens_BT % 4, spellings, None, trace)[mask_BT],
        "classify": lambda model, trace: model(tokens_BT, mask_BT, trace),
        "embed": lambda model, trace: model(tokens_BT, mask_BT, trace),
        "masked": lambda model, trace: model(tokens_BT, None, mask_BT, trace)[0][mask_BT],
    }
    for task, run in runs.items():
        model = build_or_none(case, task)
        if model is not None:
            _require_recorded(model, task, partial(run, model))


def _require_recorded(
    model: Any, task: str, run: Callable[[Trace | None], Tensor], records: Mapping[str, Recorded] | None = None
) -> None:
    """All that is declared, or these, and nothing else; and the trace changes nothing."""
    traced, declared = run(trace := Trace()), set(model.records if records is None else records)
    recorded = set(trace.names)
    require(declared == recorded, f"{task}: either declared or recorded, not both: {sorted(declared ^ recorded)}")
    same(traced, run(None), f"{task}, with a trace")
