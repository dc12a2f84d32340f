"""Retrieval data: which pairs are trained on, what is held out, and batches without repeated texts."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collection_files import write_collection

from seqlab.config import CorpusSettings
from seqlab.data.documents.document import Document
from seqlab.data.documents.encoded import DocumentTable, PairBatches, PairSplit, distinct_batches
from seqlab.data.documents.open_pairs import open_retrieval, open_unsplit
from seqlab.data.documents.pairs import (
    JudgedQuery,
    PairKind,
    RetrievalExamples,
    Texts,
    choose_kinds,
    known_items,
    split_documents,
    training_pairs,
)
from seqlab.data.text.split import SPLIT_ENDS
from seqlab.errors import DataError, UsageError
from seqlab.registry import TASKS
from seqlab.training.request import settings_from_request

LONG = " ".join(f"word{at}" for at in range(20))


def documents(count: int, title: str = "title {}") -> list[Document]:
    return [Document(f"d{at}", f"body {at} " + "x " * at, title.format(at)) for at in range(count)]


def query(name: str, *relevant: str) -> JudgedQuery:
    return JudgedQuery(name, f"text of {name}", tuple((document, 1) for document in relevant))


# --- pairs ----------------------------------------------------------------------------------------------------------


def test_kinds_are_those_that_the_data_has() -> None:
    titled, untitled = documents(3), documents(3, "")
    assert choose_kinds((), Texts(titled, [query("q", "d0")])) == ("given", "title")
    assert choose_kinds((), Texts(titled, ())) == ("title",)
    assert choose_kinds((), Texts(untitled, ())) == ("spans",)
    assert choose_kinds((), Texts(untitled, [query("q", "d0")])) == ("given",)
    assert choose_kinds(("twins", "twins", "spans"), Texts(titled, ())) == ("twins", "spans")


@pytest.mark.parametrize(("kind", "needs"), [("given", "queries"), ("title", "a title and a text")])
def test_kinds_that_the_data_lacks_are_refused(kind: PairKind, needs: str) -> None:
    with pytest.raises(DataError, match=f"task.pairs={kind} needs .*{needs}.* Choose of neighbors, spans, twins"):
        choose_kinds((kind,), Texts(documents(3, ""), ()))


def test_every_relevant_document_and_every_title_is_a_pair() -> None:
    train = Texts([*documents(2), Document("bare", "no title")], [query("q", "d0", "d1", "unknown"), query("r", "d1")])
    pairs = training_pairs(("given", "title", "twins"), train)
    assert [(pair.kind, pair.document) for pair in pairs] == [
        *(("given", "d0"), ("given", "d1"), ("given", "d1")),
        *(("title", "d0"), ("title", "d1")),
        *(("twins", "d0"), ("twins", "d1"), ("twins", "bare")),
    ]


# --- splits ---------------------------------------------------------------------------------------------------------


def test_documents_are_split_by_their_text() -> None:
    given = documents(200)
    splits = split_documents(given, SPLIT_ENDS["80/10/10"])
    assert {name: len(some) for name, some in splits.items()} == {"train": 160, "validation": 20, "test": 20}
    again = split_documents(given[::-1], SPLIT_ENDS["80/10/10"])
    assert all({one.id for one in splits[name]} == {one.id for one in again[name]} for name in splits)
    twins = [*given, *(Document(f"copy {one.id}", one.text, one.title) for one in given)]
    for some in split_documents(twins, SPLIT_ENDS["80/10/10"]).values():
        assert set(Counter(one.with_title for one in some).values()) == {2}


def test_few_documents_cannot_be_split() -> None:
    with pytest.raises(DataError, match="9 documents cannot be split: training needs at least 10"):
        split_documents(documents(9), SPLIT_ENDS["90/10"])


def test_a_held_out_document_lacks_what_it_is_asked_for() -> None:
    given = [Document("t", "the body", "The Title"), Document("u", LONG), Document("s", "too short")]
    texts = known_items(given)
    assert [(one.id, one.text) for one in texts.queries] == [
        ("t", "The Title"),
        ("u", " ".join(f"word{at}" for at in range(12))),
    ]
    bodies = ["the body", " ".join(f"word{at}" for at in range(12, 20)), "too short"]
    assert [one.with_title for one in texts.documents] == bodies
    assert all(one.relevance == {one.id: 1} for one in texts.queries)


# --- files ----------------------------------------------------------------------------------------------------------


def opened(*source: Path, kinds: tuple[PairKind, ...] = (), **corpus: Any) -> RetrievalExamples:
    return open_retrieval(CorpusSettings(source=tuple(map(str, source)), **corpus), kinds)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for at in range(40):
        (tmp_path / f"{at}.md").write_text(f"# Title {at}\n\nThe body number {at} has words.\n", encoding="utf-8")
    return tmp_path


def test_a_folder_of_documents(folder: Path) -> None:
    data = opened(folder, split_ratios="80/10/10")
    assert {name: len(some) for name, some in data.splits.items()} == {"train": 32, "validation": 4, "test": 4}
    assert "training pairs: 32 title (task.pairs names other kinds)" in data.notes
    assert data.facts()["documents"] == {"train": 32, "validation": 4, "test": 4}
    for name in ("validation", "test"):
        assert all(one.text.startswith("Title ") for one in data.splits[name])
        assert not any("Title" in one.with_title for one in data.documents[name])


def write_rows(path: Path, count: int, without_text: set[int]) -> Path:
    rows = [f"{row},Otter {row},{'' if row in without_text else f'It swims {row}.'}\n" for row in range(count)]
    path.write_text("id,title,text\n" + "".join(rows), encoding="utf-8")
    return path


def test_documents_that_give_no_pair_or_query_are_counted(tmp_path: Path) -> None:
    train = write_rows(tmp_path / "train.csv", 20, {3, 4, 5})
    held_out = write_rows(tmp_path / "valid.csv", 8, {6})
    data = opened(train, validation=(str(held_out),))
    unpaired = "3 of 20 training documents give no training pair, for lack of a title or a text: --set task.pairs="
    assert f"{unpaired}title,spans trains on all" in data.notes
    unasked = "1 of 8 validation documents gives no query, with neither a title and a text nor 13 words"
    assert f"{unasked}: it is only ranked" in data.notes
    assert [len(data.splits[split]) for split in ("train", "validation")] == [17, 7]
    mixed = opened(train, validation=(str(held_out),), kinds=("title", "spans"))
    assert not any("no training pair" in note for note in mixed.notes), "what the note names trains on all"
    one = opened(write_rows(train, 20, {7}), validation=(str(held_out),))
    assert any(note.startswith("1 of 20 training documents gives no training pair") for note in one.notes)
    scored = open_unsplit(CorpusSettings(source=(str(held_out),)))
    assert any(note.startswith("1 of 8 given documents gives no query") for note in scored.notes)


def test_the_fingerprint_covers_the_documents(folder: Path) -> None:
    before = opened(folder, kinds=("twins",))
    assert opened(folder, kinds=("twins",)).fingerprint == before.fingerprint
    name = next(iter(before.documents["train"])).id
    Path(name).write_text("# Title\n\nanother body\n", encoding="utf-8")
    assert opened(folder, kinds=("twins",)).fingerprint != before.fingerprint


def test_files_for_held_out_documents(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "held-out.jsonl"
    other.write_text("".join(json.dumps({"title": f"T{at}", "text": "b"}) + "\n" for at in range(5)), encoding="utf-8")
    data = opened(folder, validation=(str(other),))
    assert {name: len(some) for name, some in data.splits.items()} == {"train": 40, "validation": 5}
    data = opened(folder, test=(str(other),))
    assert {name: len(some) for name, some in data.splits.items()} == {"train": 36, "validation": 4, "test": 5}


@pytest.mark.parametrize("columns", [("query", "document"), ("question", "answer")])
def test_a_table_of_pairs(columns: tuple[str, str], tmp_path: Path) -> None:
    rows = [f"what is {at % 20}\tit is {at}" for at in range(40)]
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(["\t".join(columns), *rows]) + "\n", encoding="utf-8")
    data = opened(path)
    assert Counter(pair.kind for pair in data.splits["train"]) == {"given": 36}
    assert len(data.splits["validation"]) == 2 and len(data.documents["validation"]) == 4
    for one in data.splits["validation"]:
        assert len(one.relevant) == 2
    whole = open_unsplit(CorpusSettings(source=(str(path),)))
    assert len(whole.splits["whole"]) == 20 and len(whole.documents["whole"]) == 40


# --- batches --------------------------------------------------------------------------------------------------------


def pair_split(anchors: list[int], keys: list[int], relevant: list[set[int]] | None = None) -> PairSplit:
    ids = [np.array([key]) for key in keys]
    kinds: list[PairKind] = ["given"] * len(keys)
    table = DocumentTable([f"d{row}" for row in range(len(keys))], ids, keys)
    return PairSplit(
        [None] * len(keys),
        ids,
        ids,
        table=table,
        kinds=kinds,
        anchors=anchors,
        rows=list(range(len(keys))),
        relevant=[frozenset(some) for some in relevant or [{key} for key in keys]],
        longest=8,
    )


def test_no_batch_has_a_text_twice_and_no_pair_is_lost() -> None:
    draw = np.random.default_rng(0)
    anchors, keys = draw.integers(300, size=500).tolist(), draw.integers(300, size=500).tolist()
    batches = distinct_batches(pair_split(anchors, keys), range(500), 16)
    assert sorted(row for batch in batches for row in batch) == list(range(500))
    for batch in batches:
        assert len({anchors[row] for row in batch}) == len({keys[row] for row in batch}) == len(batch) <= 16
    assert sum(len(batch) == 16 for batch in batches) >= 28  # of 31 that would be full without repeats


def test_no_batch_has_a_document_that_another_anchor_wants() -> None:
    relevant = [{at, at + 1} for at in range(40)]
    batches = distinct_batches(pair_split(list(range(40)), list(range(40)), relevant), range(40), 8)
    assert sorted(row for batch in batches for row in batch) == list(range(40))
    for batch in batches:
        rows = set(batch.tolist())
        assert all(not (relevant[row] & rows) - {row} for row in rows)


def test_a_text_that_all_pairs_share_is_bearable() -> None:
    split = pair_split([0] * 3000, list(range(3000)))
    assert [len(batch) for batch in distinct_batches(split, range(3000), 64)] == [1] * 3000


def test_what_repeats_do_is_counted() -> None:
    assert PairBatches(pair_split(list(range(40)), list(range(40))), 8).repeats() == (0, 0)
    assert PairBatches(pair_split(list(range(41)), list(range(41))), 8).repeats() == (0, 1)
    assert PairBatches(pair_split([0] * 3 + list(range(37)), list(range(40))), 20).repeats()[0] >= 1


@pytest.mark.parametrize("kind", ["spans", "neighbors", "twins", "title"])
def test_generated_pairs_come_from_their_document(kind: PairKind) -> None:
    body = np.arange(100)
    split = replace(pair_split([0], [0]), inputs=[body], targets=[body], kinds=[kind], longest=30)
    draw = np.random.default_rng(0)
    drawn = [split.draw(0, 10, draw) for _ in range(50)]
    longest = 10 if kind in ("spans", "neighbors") else 30
    for anchor, document in drawn:
        for ids in (anchor, document):
            assert 4 <= len(ids) <= longest and np.array_equal(ids, np.arange(ids[0], ids[-1] + 1))
    starts = {int(document[0]) for _, document in drawn}
    assert starts == {0} if kind == "twins" else len(starts) > 20
    if kind == "neighbors":
        assert all(anchor[-1] + 1 == document[0] for anchor, document in drawn)


def test_a_collection_has_splits_of_its_own(tmp_path: Path) -> None:
    source = write_collection(tmp_path / "collection")
    settings = {"task.name": "embed", "corpus.split_ratios": "80/10/10"}
    with pytest.raises(UsageError, match=r"corpus\.split_ratios does nothing: .* with splits of its own"):
        settings_from_request(source, {}, settings, {})
    with pytest.raises(UsageError, match="with splits of its own: leave out --validation and --test"):
        opened(source, validation=(str(source / "corpus.jsonl"),))
    (source / "qrels" / "train.tsv").unlink()
    data = opened(source)  # no query to train or to validate on
    assert {name: len(some) for name, some in data.splits.items()} == {"train": 54, "validation": 6, "test": 10}
    assert len(data.documents["test"]) == 60 and {pair.kind for pair in data.splits["train"]} == {"title"}


def test_a_collection_tells_its_task(tmp_path: Path) -> None:
    said: list[str] = []
    settings = settings_from_request(write_collection(tmp_path / "collection"), {}, {}, {}, log=said.append)
    assert settings.task.name == "embed"
    assert any("has documents and queries, in the layout of BEIR: the task is embed" in note for note in said)


@pytest.mark.parametrize(
    ("source", "task", "message"),
    [
        ("toy-words", "embed", "'toy-words' is no collection of documents: see seqlab list corpora."),
        ("parity", "embed", "'parity' is no collection of documents: see seqlab list corpora."),
        ("python-sections", "classify", "'python-sections' is no set of labeled texts. Train it with --task embed."),
        ("parity", "language", "'parity' is not a running text. Train it with --task tag."),
        ("python-sections", "language", "'python-sections' is not a running text. Train it with --task embed."),
    ],
)
def test_built_in_corpora_of_another_kind_are_refused(source: str, task: str, message: str) -> None:
    settings = settings_from_request(source, {}, {"task.name": task}, {})
    with pytest.raises(DataError, match=re.escape(message)):
        TASKS.load(task).read(settings)


def test_the_sections_of_the_reference_are_a_collection() -> None:
    data = opened(Path("python-sections"))
    assert {pair.kind for pair in data.splits["train"]} == {"given"} and set(data.splits) == {
        "train",
        "validation",
        "test",
    }
    assert all(query.relevant[0] == query.id[1:] for query in data.splits["test"])
