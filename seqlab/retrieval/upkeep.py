"""What bringing an index up to date changes in it: what is refused, counted and said."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.data.examples.lines import quote_list
from seqlab.errors import UsageError
from seqlab.retrieval.corpus_vectors import Source, VectorSettings
from seqlab.retrieval.index import Index
from seqlab.retrieval.snapshot import Snapshot
from seqlab.wording import counted


def refuse_other_sources(old: Index, source: Source) -> None:
    """UsageError if something that the index was made of is no longer named: its documents would be lost unsaid."""
    named = {*source.paths} | {str(Path(path).resolve()) for path in source.paths}
    before: list[str] = old.facts["sources"]
    gone = [path for path in before if path not in named and str(Path(path).resolve()) not in named]
    if gone:
        raise UsageError(
            f"'{old.path}' is an index of {quote_list(before, 3)}, and {quote_list(gone, 3)} is not named now: its "
            f"documents would be removed. Name all sources, or another --out; --overwrite replaces the index."
        )


def update_notes(old: Index, facts: Mapping[str, Any], documents: Snapshot) -> list[str]:
    """What becomes of an index besides its documents; facts and documents: those of the new one."""
    notes = []
    before = {str(Path(path).resolve()): path for path in old.facts["sources"]}
    for path in facts["sources"]:
        if (name := before.get(str(Path(path).resolve()), path)) != path:
            notes.append(f"ids that are paths change: '{path}' was named '{name}' before")
    if _cut(old.facts) != _cut(facts) and not np.array_equal(old.documents.spans_N, documents.spans_N):
        length, overlap = _cut(facts)
        notes.append(
            f"passages are cut anew, at most {length:,} characters that overlap by {overlap:,}: {facts['passages']:,} "
            f"instead of {old.facts['passages']:,}"
        )
    if old.has_vectors and facts["fingerprint"] is None:
        weight = "" if old.weight is None else f", and the weight of {old.weight:.2f} that was kept"
        vectors = f"the vectors of {counted(old.facts['passages'], 'passage')} and the copy of their run"
        notes.append(f"removed from the index: {vectors}{weight}")
    return notes


def kept_settings(settings: VectorSettings, vectors: bool) -> list[str]:
    """A note on the settings of an index that are kept because no others were given, if they are not the usual ones."""
    usual = VectorSettings()
    kept = {"passage": (settings.length, usual.length), "overlap": (settings.overlap, usual.overlap)}
    if vectors:
        kept |= {
            "dimensions": (settings.dimensions, usual.dimensions),
            "reduce": (settings.method, usual.method),
            "pooling": (settings.pooled.pooling, usual.pooled.pooling),
            "layer": (settings.pooled.layer, usual.pooled.layer),
        }
    changed = [f"--{name} {value}" for name, (value, default) in kept.items() if value != default]
    if not changed:
        return []
    return [
        f"the index keeps its settings, {' '.join(changed)}, since none are given now; one that is given resets all"
    ]


def _cut(facts: Mapping[str, Any]) -> tuple[int, int]:
    return facts["length"], facts["settings"]["overlap"]


def changes(before: Snapshot | None, after: Snapshot) -> tuple[int, int, int]:
    """How many documents were added, changed and removed."""
    old, new = {} if before is None else before.document_digests(), after.document_digests()
    changed = sum(old[name] != digest for name, digest in new.items() if name in old)
    return len(new.keys() - old.keys()), changed, len(old.keys() - new.keys())
