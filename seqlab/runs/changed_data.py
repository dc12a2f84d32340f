"""Which files of a run have changed, by what config.json says of its splits."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from seqlab.config import CorpusSettings


class ChangedData(NamedTuple):
    """Files that have changed, or one of which has, and how many characters they have together."""

    files: tuple[str, ...]
    characters: int
    characters_before: int
    is_trained_on: bool  # not if all are held out


def changed_data(corpus: CorpusSettings, before: Mapping[str, Any], now: Mapping[str, Any]) -> ChangedData:
    """The files of the splits that differ between two facts of a corpus; all files if the facts do not tell."""
    given = {"train": corpus.source, "validation": corpus.validation, "test": corpus.test}
    given = {split: files for split, files in given.items() if files}
    old, new = ({name: _facts_of(facts, name, given) for name in given} for facts in (before, now))
    changed = [name for name in given if _fingerprints(old[name]) != _fingerprints(new[name])]
    if not changed or not all(old.values()) or not all(new.values()):
        files = tuple(file for some in given.values() for file in some)
        return ChangedData(files, now["characters"], before["characters"], True)
    files = tuple(file for name in changed for file in given[name])
    size, size_before = (
        sum(part["characters"] for name in changed for part in parts[name].values()) for parts in (new, old)
    )
    return ChangedData(files, size, size_before, "train" in changed)


def _facts_of(facts: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the splits that come from the files given as `name`: a split without files is cut from those of train.
    Facts of text are by file, those of examples by split; a run of an older version has none of examples."""
    parts = facts.get("files") or facts.get("splits") or {}
    return {split: part for split, part in parts.items() if (split if split in given else "train") == name}


def _fingerprints(parts: Mapping[str, Any]) -> dict[str, str]:
    return {split: part["fingerprint"] for split, part in parts.items()}
