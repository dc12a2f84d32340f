"""The measures of a comparison as sections of the report: text, and pictures embedded in the page."""

import base64
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from seqlab.comparison.results import MeasureResult, Results
from seqlab.errors import SeqlabError
from seqlab.registry import MEASURES
from seqlab.storage import read_bytes

LARGEST = 2_000_000  # bytes of one picture


@dataclass(frozen=True)
class MeasureEntry:
    """One result, with its pictures as data URIs."""

    title: str
    text: str
    failure: str | None
    pictures: list[str]


@dataclass(frozen=True)
class MeasureSection:
    name: str
    about: str
    entries: list[MeasureEntry]


def measure_sections(results: Results, directory: Path) -> list[MeasureSection]:
    """Shows first, then every measure with the result of each run. Missing pictures are left out."""
    measures = {name: [("", result)] for name, result in results.shows.items()}
    for run in results.runs:
        for name, result in run.measures.items():
            measures.setdefault(name, []).append((f"{run.name}, seed {run.seed}", result))
    sections = []
    for name, titled in measures.items():
        entries = [
            MeasureEntry(title, result.text, result.failure, list(_pictures(result, directory)))
            for title, result in titled
        ]
        sections.append(MeasureSection(name, MEASURES.about(name) if name in MEASURES else "", entries))
    return sections


def _pictures(result: MeasureResult, directory: Path) -> Iterator[str]:
    for figure in result.figures:
        path = directory / figure
        if path.suffix == ".png" and path.resolve().is_relative_to(directory.resolve()):
            with suppress(SeqlabError):  # missing or too large
                yield f"data:image/png;base64,{base64.b64encode(read_bytes(path, LARGEST)).decode()}"
