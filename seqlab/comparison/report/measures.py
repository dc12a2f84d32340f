"""The measures of a comparison as sections of the report: text, and pictures embedded in the page."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seqlab.comparison.results import MeasureResult, Results
from seqlab.errors import SeqlabError
from seqlab.registry import MEASURES
from seqlab.storage import read_bytes

LARGEST = 2_000_000  # bytes of one picture


@dataclass(frozen=True)
class MeasureEntry:
    """One result: whose it is, what it says, and its pictures as data URIs."""

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
    """Shows first, then every measure with the result of each run. Pictures that are gone are left out."""
    sections = [_section(name, [("", result)], directory) for name, result in results.shows.items()]
    for name in dict.fromkeys(name for run in results.runs for name in run.measures):
        found = [(f"{run.name}, seed {run.seed}", run.measures[name]) for run in results.runs if name in run.measures]
        sections.append(_section(name, found, directory))
    return sections


def _section(name: str, found: list[tuple[str, MeasureResult]], directory: Path) -> MeasureSection:
    entries = [
        MeasureEntry(title, result.text, result.failure, list(_pictures(result, directory))) for title, result in found
    ]
    return MeasureSection(name, MEASURES.about(name) if name in MEASURES else "", entries)


def _pictures(result: MeasureResult, directory: Path) -> Iterator[str]:
    for figure in result.figures:
        path = directory / figure
        if path.suffix == ".png" and path.resolve().is_relative_to(directory.resolve()):
            try:
                content = read_bytes(path, LARGEST)
            except SeqlabError:
                continue
            yield f"data:image/png;base64,{base64.b64encode(content).decode()}"
