"""How well a run predicts its validation part when nothing is forgotten between windows."""

from pathlib import Path
from typing import TYPE_CHECKING

from seqlab.recipes import Writing
from seqlab.studies.shown import Shown

if TYPE_CHECKING:
    from seqlab.api import Run


def carried(run: "Run", folder: Path, writing: Writing) -> Shown:
    """The state carried through the whole part; for attention, windows that overlap by half."""
    result = run.evaluate(context="carry").likelihood
    data = {"nats_per_token": result.nats_per_token, "bits_per_char": result.bits_per_char}
    return Shown(data, f"{result.nats_per_token:.4f} nats per token, {result.bits_per_char:.4f} bits per character")
