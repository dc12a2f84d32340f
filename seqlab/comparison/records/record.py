"""Records: results.json of finished comparisons, small enough for a repository.

A record is NAME.json without per-unit sums. The sums and losses by position of all records are in one compressed file.
"""

import json
import lzma
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from safetensors import SafetensorError
from safetensors.numpy import load, save

from seqlab.comparison.judgment.collect import thinned
from seqlab.comparison.results import FORMAT, VERSION, Results, parse_results
from seqlab.errors import DataError, MissingInput
from seqlab.storage import from_json, read_bytes, write_atomic

SUMS = "sums.safetensors.xz"
POSITIONS = " by position"  # losses by position in thousandths, next to the sums of a record
DIGITS = 5  # significant digits of stored numbers
LONGEST_LIST, LONGEST_TEXT = 64, 80  # in the data of a measure: longer values are left out
MOST_POINTS = 20  # of a curve
_compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
Arrays = dict[str, np.ndarray]
Tables = dict[str, Any]


def read_records(folder: Path) -> dict[str, Results]:
    """Every record of a folder, by name."""
    paths = sorted(folder.glob("*.json"), key=lambda path: path.stem)
    if not paths:
        raise MissingInput(f"there are no records in '{folder}'. Add one: seqlab results --add COMPARISON.")
    arrays = _read_sums(folder)
    return {path.stem: _read_record(path, arrays) for path in paths}


def add_record(folder: Path, name: str, results: Results) -> Path:
    """Write or replace a record, and its sums in the shared file."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {key: array for key, array in _read_sums(folder).items() if key not in (name, name + POSITIONS)}
    sums = [scored.sums for scored in (*results.runs, *results.baselines) if scored.sums is not None]
    if sums:
        arrays[name] = _packed(sums)
    positions = [run.loss_by_position for run in results.runs]
    if any(positions):
        arrays[name + POSITIONS] = np.round(1000 * np.array(positions)).astype(np.uint16)
    write_atomic(folder / SUMS, lzma.compress(save(dict(sorted(arrays.items()))), preset=9))
    path = folder / f"{name}.json"
    write_atomic(path, _record_bytes(_without_sums(results)))
    return path


def _without_sums(results: Results) -> Results:
    """The results without sums and everything else that no page shows."""
    runs = [
        replace(
            run,
            sums=[],
            measures={name: replace(measure, data=_summary(measure.data)) for name, measure in run.measures.items()},
            curve=thinned(run.curve, MOST_POINTS),
            loss_by_position=[],
        )
        for run in results.runs
    ]
    shows = {name: replace(show, data=_summary(show.data)) for name, show in results.shows.items()}
    # an empty list says that the shared file has the sums
    baselines = [replace(baseline, sums=None if baseline.sums is None else [[]]) for baseline in results.baselines]
    return replace(results, runs=runs, baselines=baselines, shows=shows)


def _summary(data: dict[str, Any]) -> dict[str, Any]:
    """A measure's data without long lists and without texts, which the measure's own text repeats."""
    summary = {}
    for key, value in data.items():
        long_text = isinstance(value, str) and len(value) > LONGEST_TEXT
        long_list = isinstance(value, list) and np.size(value) > LONGEST_LIST
        if not long_text and not long_list:
            summary[key] = _summary(value) if isinstance(value, dict) else value
    return summary


def _record_bytes(results: Results) -> bytes:
    """JSON with one line for each entrant, run and other item, for readable diffs; defaults are left out."""
    stored = json.dumps(TypeAdapter(Results).dump_python(results, exclude_defaults=True))
    tables: Tables = {"format": FORMAT, "version": VERSION, **json.loads(stored, parse_float=_rounded)}
    for run in tables.get("runs", []):
        curve = run.get("curve", [{}])
        run["curve"] = {key: [point[key] for point in curve] for key in curve[0]}
    first, *others = tables.get("entrants", [{}])
    for entrant in others:
        entrant["settings"] = _changes(first["settings"], entrant["settings"])
    lines = []
    for key, value in tables.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n".join(_compact(item) for item in value)
            lines.append(f"{json.dumps(key)}: [\n{items}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {_compact(value)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _rounded(number: str) -> float:
    rounded = float(f"{float(number):.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded


def _changes(first: Tables, settings: Tables) -> Tables:
    """The settings of an entrant that differ from the first entrant's; another component is written in full."""
    changes: Tables = {}
    for section, values in settings.items():
        same = first.get(section, {}).get("name") == values.get("name")
        changed = {key: value for key, value in values.items() if not same or first[section].get(key, ...) != value}
        if changed:
            changes[section] = changed
    return changes


def _with_changes(first: Tables, changes: Tables) -> Tables:
    merged = dict(first)
    for section, values in changes.items():
        merged[section] = values if "name" in values else {**first.get(section, {}), **values}
    return merged


def _read_record(path: Path, arrays: Arrays) -> Results:
    content = from_json(read_bytes(path), path)
    try:
        for run in content.get("runs", []):
            columns = run["curve"]
            run["curve"] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        first, *others = content.get("entrants", [{}])
        for entrant in others:
            entrant["settings"] = _with_changes(first["settings"], entrant.get("settings", {}))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DataError(f"'{path}' is not a record: add the comparison again.") from None
    results = parse_results(content, path)
    sums = iter(arrays[path.stem].tolist() if path.stem in arrays else [])
    positions = arrays.get(path.stem + POSITIONS, np.empty((len(results.runs), 0))) / 1000
    try:
        runs = [
            replace(run, sums=next(sums), loss_by_position=losses.tolist())
            for run, losses in zip(results.runs, positions, strict=True)
        ]
        baselines = [
            baseline if baseline.sums is None else replace(baseline, sums=next(sums)) for baseline in results.baselines
        ]
    except (StopIteration, ValueError):
        raise DataError(f"'{path.parent / SUMS}' lacks sums of '{path.stem}'.") from None
    return replace(results, runs=runs, baselines=baselines)


def _read_sums(folder: Path) -> Arrays:
    path = folder / SUMS
    if not path.is_file():
        return {}
    try:
        return load(lzma.decompress(read_bytes(path)))
    except (lzma.LZMAError, SafetensorError) as error:
        raise DataError(f"'{path}' is damaged: {error}.") from None


def _packed(sums: list[list[list[float]]]) -> np.ndarray:
    """Counts as the smallest integers that hold them, everything else as float32."""
    sums_SUK = np.array(sums, float)
    counts = bool((sums_SUK == sums_SUK.round()).all()) and float(sums_SUK.min()) >= 0
    return sums_SUK.astype(np.min_scalar_type(int(sums_SUK.max())) if counts else np.float32)
