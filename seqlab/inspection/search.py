"""Searching a corpus for places where a model is in nearly the same state: by windows, so that memory is bounded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from seqlab.data.examples.example import Examples
from seqlab.data.files import InputFixes, read_file
from seqlab.data.text.tokens import TokenSplit
from seqlab.errors import SeqlabError, UsageError
from seqlab.inspection.reading import Reading, read_text, token_names
from seqlab.inspection.states import batch_vectors, token_vectors, unit_vectors
from seqlab.models.token_model import TokenModel
from seqlab.threads import compute_threads

SEARCHED = 50_000  # tokens of running text, at most
READ_SINGLY = 10_000  # tokens of examples, which are read one by one
WINDOW, CONTEXT = 256, 64  # tokens that are read together, and how many of them were in the window before as well
BATCH = 8  # windows at once
BEFORE = 16  # tokens before a span that make two places the same text
NEAR = 8  # tokens: places that are nearer to each other than this, or overlap, count as one


class ReadDocument(NamedTuple):
    """Its tokens as ids and as they are shown."""

    ids_N: np.ndarray
    tokens: list[str]


@dataclass(frozen=True)
class SearchedText:
    """What is searched: documents as ids, or texts that are read one by one; the name, and what was left out."""

    name: str
    documents: list[np.ndarray]
    texts: list[str]
    left_out: str = ""


class Place(NamedTuple):
    """A match: its last token in a document, and how many places like it there are."""

    document: int
    last: int
    cosine: float
    times: int


@dataclass(frozen=True)
class Found:
    places: list[Place]
    documents: dict[int, ReadDocument]  # that the places are in
    tokens: int  # that were read
    mean: float  # cosine of all places
    same: int  # places that continue the same text as the span
    left_out: str


def open_corpus(reading: Reading, corpus: str | None) -> SearchedText:
    """A file, or the text that the run was trained on; UsageError if that is gone."""
    run, by_tokens = reading.run, isinstance(reading.model, TokenModel)
    if corpus is not None:
        content = _read(Path(corpus))
        lines = [line for line in content.splitlines() if line.strip()]
        if by_tokens and not run.tokenizer.documents:
            return _cut(f"'{corpus}'", [np.array(run.tokenizer.encode(content))])
        if by_tokens:
            begin = [] if run.tokenizer.begin is None else [run.tokenizer.begin]
            return _cut(f"'{corpus}'", [np.array([*begin, *run.tokenizer.encode(line)]) for line in lines])
        return SearchedText(f"'{corpus}'", [], lines)
    name = "the text that it was trained on"
    try:
        dataset = run.dataset()
    except SeqlabError as error:
        raise UsageError(f"{name} cannot be read: {error} Give a text to search with --corpus FILE.") from None
    if isinstance(dataset.data, Examples):
        return SearchedText("the examples that it was trained on", [], [e.input for e in dataset.data.splits["train"]])
    split = dataset.splits["train"]
    assert isinstance(split, TokenSplit)
    starts_N = split.document_starts()
    ids_N = split.read(0, SEARCHED)
    inside_N = starts_N[(starts_N > 0) & (starts_N < len(ids_N))]
    return SearchedText(name, np.split(ids_N, inside_N), [], _left_out(len(ids_N), len(split)))


def _cut(name: str, documents: Sequence[np.ndarray]) -> SearchedText:
    total, kept, room = sum(map(len, documents)), [], SEARCHED
    for ids_N in documents:
        kept.append(ids_N[:room])
        room -= len(kept[-1])
        if not room:
            break
    return SearchedText(name, kept, [], _left_out(SEARCHED - room, total))


def _left_out(read: int, total: int) -> str:
    return f"the other {total - read:,} tokens were left out" if total > read else ""


def _read(file: Path) -> str:
    return "".join(read_file(file, InputFixes()))


def find_places(reading: Reading, layer: str, first: int, last: int, searched: SearchedText, most: int) -> Found:
    """The places whose states are nearest to those of tokens `first` to `last` of the text."""
    wanted_MH = unit_vectors(token_vectors(reading, layer)[first : last + 1])
    documents: dict[int, ReadDocument] = {}
    cosines, places, tokens = [np.empty(0)], [np.empty((2, 0), np.int64)], 0
    with compute_threads(1):  # the steps of a recurrence are small
        vectors = _windows(reading, layer, searched) if searched.documents else _singly(reading, layer, searched.texts)
        for document, content, start, fresh, unit_TH in vectors:
            documents[document] = content
            tokens += len(unit_TH) - fresh
            match_T = _mean_cosines(unit_TH, wanted_MH)
            ends_N = np.arange(max(fresh, len(wanted_MH) - 1), len(unit_TH))
            cosines.append(match_T[ends_N])
            places.append(np.stack([np.full(len(ends_N), document), start + ends_N]))
    left_out = searched.left_out
    if len(documents) < len(searched.texts):
        left_out = f"{len(searched.texts) - len(documents):,} of {len(searched.texts):,} examples were left out"
    cosine_P, place_2P = np.concatenate(cosines), np.concatenate(places, axis=1)
    if not len(cosine_P):
        raise UsageError(f"{searched.name} has no place of {len(wanted_MH)} tokens: give another --corpus.")
    own = tuple(reading.sides[0].ids[max(0, first - BEFORE) : last + 1])
    chosen, same = _choose(cosine_P, place_2P, documents, own, len(wanted_MH), most)
    documents = {place.document: documents[place.document] for place in chosen}
    return Found(chosen, documents, tokens, float(cosine_P.mean()), same, left_out)


def _mean_cosines(unit_TH: np.ndarray, wanted_MH: np.ndarray) -> np.ndarray:
    """The mean cosine of a whole span, at its last token; NaN where it does not fit."""
    cosines_TM = unit_TH @ wanted_MH.T
    M = len(wanted_MH)
    mean_T = np.full(len(unit_TH), np.nan)
    if len(unit_TH) >= M:
        mean_T[M - 1 :] = sum(cosines_TM[m : len(unit_TH) - M + 1 + m, m] for m in range(M)) / M
    return mean_T


Window = tuple[int, ReadDocument, int, int, np.ndarray]  # number, content, first position, context, vectors


def _windows(reading: Reading, layer: str, searched: SearchedText) -> Iterator[Window]:
    """Every token once, read after at least CONTEXT others, or all that there are before it."""
    limit = reading.model.limit or WINDOW
    size = min(WINDOW, limit)
    context = min(CONTEXT, size // 4)
    cut = [
        (document, start, 0 if start == 0 else context, ids_N)
        for document, ids_N in enumerate(searched.documents)
        for start in range(0, max(1, len(ids_N) - context), size - context)
    ]
    names = token_names(reading.run.tokenizer)
    contents = {}
    for some in (cut[at : at + BATCH] for at in range(0, len(cut), BATCH)):
        rows = [ids_N[start : start + size] for _, start, _, ids_N in some]
        lengths_B = np.array(list(map(len, rows)))
        ids_BT = torch.zeros(len(rows), int(lengths_B.max()), dtype=torch.long)
        for row, ids in enumerate(rows):
            ids_BT[row, : len(ids)] = torch.from_numpy(ids.astype(np.int64))
        mask_BT = torch.from_numpy(np.arange(ids_BT.shape[1]) < lengths_B[:, None])
        unit_BTH = unit_vectors(batch_vectors(reading, layer, ids_BT, mask_BT))
        for row, (document, start, fresh, ids_N) in enumerate(some):
            if document not in contents:
                contents = {document: ReadDocument(ids_N, [names[token] for token in ids_N.tolist()])}
            yield document, contents[document], start, fresh, unit_BTH[row, : lengths_B[row]]


def _singly(reading: Reading, layer: str, texts: Sequence[str]) -> Iterator[Window]:
    """Examples, as the task reads them, until there are enough tokens; those that are too long to be shown are left
    out. A translator gets the text itself as a target, which its encoder never sees."""
    tokens = 0
    for document, text in enumerate(texts):
        if tokens >= READ_SINGLY:
            return
        try:
            other = read_text(reading.run, text, text if len(reading.sides) > 1 else None)
        except UsageError:
            continue
        side = other.sides[0]
        tokens += len(side.ids)
        yield document, ReadDocument(np.array(side.ids), side.tokens), 0, 0, unit_vectors(token_vectors(other, layer))


def _choose(
    cosine_P: np.ndarray,
    place_2P: np.ndarray,
    documents: Mapping[int, ReadDocument],
    own: tuple[int, ...],
    length: int,
    most: int,
) -> tuple[list[Place], int]:
    """The best places; those with the same text before them are one place, which says how many there are, and so are
    shifts of one place. Places with the text of the span itself before them are counted only."""
    chosen: dict[tuple[int, ...], Place] = {}
    same, apart = 0, max(length, NEAR)
    taken: set[tuple[int, int]] = set()
    for at in np.argsort(-cosine_P, kind="stable")[: 200 * most]:
        document, last = int(place_2P[0, at]), int(place_2P[1, at])
        ids_N = documents[document].ids_N
        key = tuple(ids_N[max(0, last + 1 - length - BEFORE) : last + 1].tolist())
        if key == own and len(own) == length + BEFORE:
            same += 1
        elif key in chosen:
            chosen[key] = chosen[key]._replace(times=chosen[key].times + 1)
        elif len(chosen) < most and not any((document, last + by) in taken for by in range(1 - apart, apart)):
            chosen[key] = Place(document, last, float(cosine_P[at]), 1)
            taken.add((document, last))
    return list(chosen.values()), same
