"""What a training run on several processes cannot do, refused before anything is read; and what of it is sharded."""

from pathlib import Path

from torch import nn

from seqlab.backbones.transformer import Block
from seqlab.config import RunSettings
from seqlab.contracts import Backbone
from seqlab.data.files import STANDARD_INPUT
from seqlab.distributed.world import joined, may_restart
from seqlab.errors import UsageError


def check_processes(settings: RunSettings, out: Path | None) -> None:
    """UsageError for settings that several processes cannot share, and for restarts without a folder to resume from."""
    if may_restart() and out is None:
        raise UsageError(
            "torchrun --max-restarts continues a run where it was stopped: name its folder with --out, so that it is "
            "found."
        )
    train = settings.train
    if train.offload and not (train.shard and train.device.startswith("cuda")):
        raise UsageError("train.offload is for train.shard=true on train.device=cuda: leave it out.")
    if joined().size == 1:
        return
    corpus = settings.corpus
    if STANDARD_INPUT in (*corpus.source, *corpus.validation, *corpus.test):
        raise UsageError(
            f"the text comes from standard input ({STANDARD_INPUT}), which {joined().size} processes cannot all read: "
            f"write it to a file first."
        )
    if train.device.startswith("mps"):
        raise UsageError("train.device is mps, which one process uses alone: leave torchrun out, or use cpu or cuda.")
    if settings.task.settings.option("cache_batch", None) is not None and _drops(settings):
        raise UsageError(
            f"task.cache_batch draws other dropout masks with {joined().size} processes than with one: leave it out, "
            f"since each process encodes its own share of a batch, or set every dropout to 0."
        )
    if train.shard:
        _check_shard(settings)


def refuse_idle_shard(settings: RunSettings) -> None:
    """UsageError for a new run that asks one process to divide a model."""
    if settings.train.shard and joined().size == 1:
        raise UsageError(
            "train.shard=true divides a model among processes, and there is one: start the command with torchrun "
            "--nproc-per-node 2 or more, or leave it out (train.shard=false)."
        )


def _check_shard(settings: RunSettings) -> None:
    train, task = settings.train, settings.task.settings
    unfit = {
        "train.optimizer=muon, which needs whole matrices": train.optimizer == "muon",
        f"train.precision={train.precision}, which is measured on a whole model": train.precision != "float32",
        "train.seconds, which is measured on a whole model (give --steps or --epochs)": train.seconds is not None,
        f"task.forcing={task.option('forcing', 'teacher')}, which decodes step by step": (
            task.option("forcing", "teacher") != "teacher"
        ),
        f"--task {settings.task.name}, whose rows depend on each other": task.examples == "documents",
    }
    for what, given in unfit.items():
        if given:
            raise UsageError(f"train.shard does not go with {what}.")


def _drops(settings: RunSettings) -> bool:
    """Whether training hides anything at random."""
    rates = [settings.model.embedding_dropout, settings.model.output_dropout]
    rates += [settings.backbone.settings.option(name, 0.0) for name in ("dropout", "attention_dropout")]
    return any(rates) or bool(settings.task.settings.option("word_dropout", 0.0))


def check_recompute(settings: RunSettings, model: nn.Module) -> None:
    """UsageError if no layer of the model can be computed again."""
    backbones = [module for module in model.modules() if isinstance(module, Backbone)]
    if settings.train.recompute and not any(backbone.recomputes for backbone in backbones):
        raise UsageError(f"train.recompute does nothing for {settings.backbone.name}: leave it out.")


def layers_to_shard(model: nn.Module) -> list[nn.Module]:
    """Layers whose weights are gathered one after the other: those that nothing but their own `forward` uses."""
    return [module for module in model.modules() if isinstance(module, Block) and module.cross is None]
