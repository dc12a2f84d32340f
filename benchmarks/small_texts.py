"""Does the default dropout suit small texts? `python -m benchmarks.small_texts FOLDER [--archs lstm,transformer]`.

Every architecture on the first 50,000 and 200,000 characters of Tiny Shakespeare, with the defaults of `seqlab train`
and at fixed rates of dropout in the same number of steps. Each loss is stored in FOLDER/losses.jsonl as soon as it is
known, and the same command goes on where an earlier one stopped.
"""

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import seqlab
from seqlab.data.text.corpus import open_corpus
from seqlab.text_table import markdown_table
from seqlab.training.progress import Reporter

ARCHS = ("lstm", "transformer", "gru")
CHARACTERS = (50_000, 200_000)
RATES = (None, 0.0, 0.1, 0.2, 0.3, 0.4)  # None: the default of `seqlab train`
TOLERANCE = 0.02  # nats per character above the best rate of the search


def measure(folder: Path, arch: str, characters: int, rate: float | None) -> dict[str, float]:
    text = folder / f"{characters}.txt"
    if not text.exists():
        text.write_text("".join(open_corpus(["tiny-shakespeare"]).blocks())[:characters], encoding="utf-8")
    dropout: dict[str, Any] = {} if rate is None else {"dropout": rate}
    run = seqlab.train(
        text, arch=arch, sample_tokens=0, threads=1, out=folder / "run", overwrite=True, reporter=Reporter(), **dropout
    )
    results = run.results
    assert results is not None and results.main_baseline is not None
    return {
        "dropout": run.settings.model.output_dropout or 0.0,
        "nats": results.validation["nats_per_token"],
        "kneser-ney": results.main_baseline.metrics["nats_per_token"],
        "steps": results.steps,
        "best_step": results.best_step,
    }


def read_losses(path: Path) -> dict[tuple[str, int, float | None], dict[str, float]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    stored = [json.loads(line) for line in lines]
    return {(line["arch"], line["characters"], line["rate"]): line for line in stored}


def table(losses: dict[tuple[str, int, float | None], dict[str, float]]) -> str:
    """Validation loss in nats per character; what the default loses against the best rate, itself included."""
    rows = []
    for arch, characters in dict.fromkeys((arch, characters) for arch, characters, _ in losses):
        own = {rate: losses[arch, characters, rate] for rate in RATES if (arch, characters, rate) in losses}
        if None not in own:
            continue
        default, best = own[None], min(line["nats"] for line in own.values())
        fixed = [f"{own[rate]['nats']:.3f}" if rate in own else "" for rate in RATES if rate is not None]
        chosen = f"{default['nats']:.3f} ({default['dropout']:g})"
        loss = default["nats"] - best
        rows.append([f"{characters:,}", arch, chosen, *fixed, f"{loss:.3f}", f"{default['kneser-ney']:.3f}"])
    rates = [f"dropout {rate:g}" for rate in RATES if rate is not None]
    return markdown_table(
        ["characters", "model", "default (its dropout)", *rates, "above the best", "Kneser-Ney"], rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--archs", default=",".join(ARCHS))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    path: Path = arguments.folder / "losses.jsonl"
    archs: list[str] = arguments.archs.split(",")
    for (characters, arch), rate in product(product(CHARACTERS, archs), RATES):
        if (arch, characters, rate) in read_losses(path):
            continue
        measured = measure(arguments.folder, arch, characters, rate)
        with path.open("a", encoding="utf-8") as stream:
            print(json.dumps({"arch": arch, "characters": characters, "rate": rate, **measured}), file=stream)
        print(arch, f"{characters:,}", rate, measured, flush=True)
    print(table(read_losses(path)))


if __name__ == "__main__":
    main()
