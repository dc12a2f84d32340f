"""What a training run on several processes cannot do, refused before anything is read."""

from pathlib import Path

from seqlab.config import RunSettings
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
    if joined().size == 1:
        return
    corpus = settings.corpus
    if STANDARD_INPUT in (*corpus.source, *corpus.validation, *corpus.test):
        raise UsageError(
            f"the text comes from standard input ({STANDARD_INPUT}), which {joined().size} processes cannot all read: "
            f"write it to a file first."
        )
    if settings.train.device.startswith("mps"):
        raise UsageError("train.device is mps, which one process uses alone: leave torchrun out, or use cpu or cuda.")
