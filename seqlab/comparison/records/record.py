"""Records: results.json of finished comparisons, small enough for a repository.

A record is NAME.json without per-unit sums. The sums and losses by position of all records are in one compressed file.
"""

import json
import lzma
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from seqlab.comparison.judgment.collect import spread
from seqlab.comparison.results import FORMAT, VERSION, Results, parse_results
from seqlab.errors import DataError, MissingInput
from seqlab.storage import from_json, read_bytes, write_atomic

SUMS = "sums.safetensors.xz"
POSITIONS = " by position"  # losses by position in thousandths, beside the sums of a record
DIGITS = 5  # significant digits of stored numbers
LONGEST_LIST, LONGEST_TEXT = 64, 80  # in the data of a measure: longer ones are no summary
MOST_POINTS = 20  # of a curve
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
    sums = _sums(results)
    arrays |= {name: _packed(sums)} if sums else {}
    if any(run.loss_by_position for run in results.runs):
        arrays[name + POSITIONS] = np.round(1000 * np.array([run.loss_by_position for run in results.runs])).astype(
            np.uint16
        )
    _write_sums(folder, arrays)
    path = folder / f"{name}.json"
    write_atomic(path, _record_bytes(thinned(results)))
    return path


def thinned(results: Results) -> Results:
    """Without sums, and without what no page shows."""
    runs = [
        replace(
            run,
            sums=[],
            measures={name: replace(one, data=_summary(one.data)) for name, one in run.measures.items()},
            curve=spread(run.curve, MOST_POINTS),
            loss_by_position=[],
        )
        for run in results.runs
    ]
    shows = {name: replace(one, data=_summary(one.data)) for name, one in results.shows.items()}
    baselines = [replace(one, sums=None if one.sums is None else [[]]) for one in results.baselines]
    return replace(results, runs=runs, baselines=baselines, shows=shows)


def _summary(data: dict[str, Any]) -> dict[str, Any]:
    """A measure's numbers without its texts, which it has as text already, and without long lists."""
    nested = {key: _summary(value) if isinstance(value, dict) else value for key, value in data.items()}
    return {key: value for key, value in nested.items() if _is_short(value)}


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    return not isinstance(value, list) or np.size(value) <= LONGEST_LIST


def _sums(results: Results) -> list[list[list[float]]]:
    """Of all runs, then of the baselines that have them; all are of the same units."""
    return [run.sums for run in results.runs] + [one.sums for one in results.baselines if one.sums is not None]


def _record_bytes(results: Results) -> bytes:
    """One line for each entrant, run and other item, so that a change of one shows as one."""
    tables = {"format": FORMAT, "version": VERSION, **_without_defaults(results)}
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


def _without_defaults(value: Any) -> Any:
    """Tables of a dataclass without fields that have their default or are empty, and numbers in a few digits."""
    if is_dataclass(value):
        named = {one.name: (getattr(value, one.name), _default(one)) for one in fields(value)}
        return {name: _without_defaults(own) for name, (own, default) in named.items() if own not in default}
    if isinstance(value, float):
        rounded = float(f"{value:.{DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded
    if isinstance(value, dict):
        return {key: _without_defaults(one) for key, one in value.items()}
    return [_without_defaults(one) for one in value] if isinstance(value, list | tuple) else value


def _default(one: Field[Any]) -> tuple[Any, ...]:
    if one.default_factory is not MISSING:
        return (one.default_factory(),)
    return (None, [], {}) if one.default is MISSING else (one.default,)


def _changes(first: Tables, own: Tables) -> Tables:
    """The settings of an entrant where they differ from those of the first; another component is written in full."""
    found: Tables = {}
    for section, values in own.items():
        same = first.get(section, {}).get("name") == values.get("name")
        changed = {key: value for key, value in values.items() if not same or first[section].get(key, ...) != value}
        found |= {section: changed} if changed else {}
    return found


def _with_changes(first: Tables, changes: Tables) -> Tables:
    merged = dict(first)
    for section, values in changes.items():
        merged[section] = values if "name" in values else {**first.get(section, {}), **values}
    return merged


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _read_record(path: Path, arrays: Arrays) -> Results:
    content = from_json(read_bytes(path), path)
    try:
        for run in content.get("runs", []):
            columns = run["curve"]
            run["curve"] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        first, *others = content.get("entrants", [{}])
        for entrant in others:
            entrant["settings"] = _with_changes(first["settings"], entrant.get("settings", {}))
        _restore_defaults(Results, content)
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
        baselines = [one if one.sums is None else replace(one, sums=next(sums)) for one in results.baselines]
    except (StopIteration, ValueError):
        raise DataError(f"'{path.parent / SUMS}' lacks sums of '{path.stem}'.") from None
    return replace(results, runs=runs, baselines=baselines)


def _restore_defaults(kind: Any, table: Tables) -> None:
    """Put back empty fields without a default, in a table and in the tables within it."""
    hints = get_type_hints(kind)
    for one in fields(kind):
        hint = hints[one.name]
        origin, arguments = get_origin(hint), get_args(hint)
        if one.default is MISSING and one.default_factory is MISSING:
            table.setdefault(one.name, [] if origin is list else {} if origin is dict or is_dataclass(hint) else None)
        if is_dataclass(hint):
            _restore_defaults(hint, table[one.name])
        elif origin is list and is_dataclass(arguments[0]):
            for item in table[one.name]:
                _restore_defaults(arguments[0], item)


def _read_sums(folder: Path) -> Arrays:
    path = folder / SUMS
    if not path.is_file():
        return {}
    try:
        return load(lzma.decompress(read_bytes(path)))
    except (lzma.LZMAError, SafetensorError) as error:
        raise DataError(f"'{path}' is damaged: {error}.") from None


def _write_sums(folder: Path, arrays: Arrays) -> None:
    write_atomic(folder / SUMS, lzma.compress(save(dict(sorted(arrays.items()))), preset=9))


def _packed(sums: list[list[list[float]]]) -> np.ndarray:
    """Counts as the smallest integers that hold them, everything else as float32."""
    sums_SUK = np.array(sums, float)
    counts = bool((sums_SUK == sums_SUK.round()).all()) and float(sums_SUK.min()) >= 0
    return sums_SUK.astype(np.min_scalar_type(int(sums_SUK.max())) if counts else np.float32)
