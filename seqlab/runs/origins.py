"""What the weights of a run have seen before: the runs that it started from, and its teacher."""

from pathlib import Path
from typing import Any

from seqlab.config import RunSettings
from seqlab.data.examples.example import Examples
from seqlab.data.text.split import SplitText
from seqlab.runs.load import load_parts
from seqlab.runs.run import Run


def split_fingerprint(data: SplitText | Examples, split: str = "train") -> str:
    """SHA-256 of one split alone."""
    return data.fingerprint_of(split)


def origins(settings: RunSettings, init: Run | None) -> list[dict[str, Any]]:
    """For config.json: every run that the weights or targets of a new run come from, the nearest first."""
    chain = [] if init is None else _chain("init", init.path, init.config)
    task = settings.task.settings
    others = {"teacher": task.option("teacher", None), "miner": task.mining_run}
    for role, path in others.items():
        if path is not None:
            directory, config, _, _ = load_parts(Path(path))
            chain += _chain(role, directory.path, config)
    return chain


def _chain(role: str, path: Path, config: dict[str, Any]) -> list[dict[str, Any]]:
    origin = {
        "role": role,
        "path": str(path.resolve()),
        "source": config["settings"]["corpus"]["source"],
        "rule": config["corpus"].get("rule") or config["settings"]["corpus"]["split_ratios"],
        "fingerprint": config["corpus"]["fingerprint"],
        "training_fingerprint": config.get("training_fingerprint"),  # a run of an older version has none
        "tokenizer_fingerprint": config.get("tokenizer_fingerprint"),
    }
    return [origin, *config.get("origins", [])]
