"""Collections in the layout of BEIR, and what does not fit together in them."""

import gzip
import json
from pathlib import Path

import pytest

from seqlab.data.documents.collection import match_queries, read_collection, scifact
from seqlab.data.documents.document import Document, Query
from seqlab.data.documents.qrels import read_qrels
from seqlab.data.files import InputFixes
from seqlab.errors import DataError, MissingInput, UsageError

DOCUMENTS = [{"_id": "d1", "title": "Cats", "text": "They sleep."}, {"_id": "d2", "text": "Dogs bark."}]
QUERIES = [{"_id": "1", "text": "who sleeps?"}, {"_id": "2", "text": "who barks?"}, {"_id": "3", "text": "who sings?"}]
HEADER = "query-id\tcorpus-id\tscore\n"


def write(folder: Path, **qrels: str) -> Path:
    (folder / "qrels").mkdir(exist_ok=True)
    for name, rows in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for split, table in qrels.items():
        (folder / "qrels" / f"{split}.tsv").write_text(table, encoding="utf-8")
    return folder


def test_documents_queries_and_judgments_by_split(tmp_path):
    collection = read_collection(write(tmp_path, test=HEADER + "2\td2\t2\n2\td1\t0\n", dev="1\td1\t1\n"))
    assert collection.documents == [Document("d1", "They sleep.", "Cats"), Document("d2", "Dogs bark.")]
    assert collection.ids == ["d1", "d2"]
    assert collection.queries == {"validation": [Query("1", "who sleeps?")], "test": [Query("2", "who barks?")]}
    assert collection.qrels == {"validation": {"1": {"d1": 1}}, "test": {"2": {"d2": 2, "d1": 0}}}
    assert collection.notes == ("1 query of queries.jsonl without a judgment: not used",)
    assert collection.facts()["queries"] == {"validation": 1, "test": 1}


def test_packed_files_and_the_columns_of_trec(tmp_path):
    folder = write(tmp_path, test="1 0 d1 1\n2 Q0 d2 1\n3 0 d2 0\n")
    for path in [*folder.glob("*.jsonl"), *folder.glob("qrels/*")]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    collection = read_collection(folder)
    assert collection.qrels["test"] == {"1": {"d1": 1}, "2": {"d2": 1}, "3": {"d2": 0}}
    assert "test.tsv.gz: 1 query without a relevant document" in collection.notes[-1]


@pytest.mark.parametrize(
    ("table", "notes"),
    [
        ("corpus-id\tquery-id\tscore\nd2\t1\t2\n", []),
        ("query_id doc_id relevance iteration\n1 d2 2 0\n", []),
        ("Score\tDocNo\tQID\n2\td2\t1\n", []),
        ("TOPIC ITERATION DOCUMENT# RELEVANCY\n1 0 d2 2\n", []),
        ("split\tDoc ID\tQuery ID\tscore\tlabel\ndev\td2\t1\t17\t2\n", ["columns 'split', 'score' of t.tsv not read"]),
        ("doc\tfrage\trel\nd2\t1\t2\n",
         ["columns of t.tsv by their position: 'frage' as the query, 'doc' as the document, 'rel' as the relevance"]),
        ("a b c score\n1 0 d2 2\n",
         ["columns of t.tsv by their position: 'a' as the query, 'c' as the document, 'score' as the relevance",
          "column 'b' of t.tsv not read"]),
        ("# query_id doc_id label\n1 d2 2\n", []),
        ("# by the score of each document\n#\nquery-id\tcorpus-id\tscore\n1\td2\t2\n",
         ["passed over lines of comments, which begin with #: 2"]),
        ("query\td2\t2\n", None),
    ],
)  # fmt: skip
def test_the_columns_of_judgments_are_those_that_the_header_names(tmp_path, table, notes):
    (tmp_path / "t.tsv").write_text(table, encoding="utf-8")
    fixes = InputFixes()
    query = "query" if notes is None else "1"  # which is no header, since the line ends in a number
    assert read_qrels(tmp_path / "t.tsv", fixes) == {query: {"d2": 2}}
    assert fixes.notes() == (notes or [])


@pytest.mark.parametrize("name", ["valid", "validation", "Val"])
def test_judgments_of_a_split_have_any_of_its_names(tmp_path, name):
    collection = read_collection(write(tmp_path, training="1\td1\t1\n", **{name: "2\td2\t1\n"}, test="3\td2\t1\n"))
    assert collection.facts()["queries"] == {"train": 1, "validation": 1, "test": 1}
    assert not collection.notes


def test_files_beside_the_judgments_are_said_not_to_be_read(tmp_path):
    folder = write(tmp_path, dev="1\td1\t1\n", valid="2\td2\t1\n", test="2\td2\t1\n3\td2\t1\n", extra="3\td2\t1\n")
    collection = read_collection(folder)
    assert [query.id for query in collection.queries["validation"]] == ["1"]
    assert collection.notes == (f"not read in the judgments of {folder}: extra.tsv, valid.tsv",)


def test_unknown_ids_are_counted_and_said(tmp_path):
    """A query without text cannot be asked; a relevant document that does not exist is never found."""
    collection = read_collection(write(tmp_path, test="1\td1\t1\n1\tgone\t1\n9\td1\t1\n8\td1\t1\n"))
    assert [query.id for query in collection.queries["test"]] == ["1"]
    assert collection.qrels["test"] == {"1": {"d1": 1, "gone": 1}}
    unknown, missing, _ = collection.notes
    assert unknown.endswith("test.tsv: judgments of 2 unknown queries ('8', '9'), left out")
    assert missing.endswith("relevant documents that do not exist: 1 ('gone')")
    said = match_queries(collection.queries["test"], collection.qrels["test"], collection.ids, "test.tsv")[1]
    assert said == ["test.tsv: relevant documents that do not exist: 1 ('gone'); they count as not found"]


def test_the_fingerprint_covers_everything(tmp_path):
    prints = [read_collection(write(tmp_path, test=f"1\td1\t{relevance}\n")).fingerprint for relevance in (1, 2, 1)]
    assert prints[0] == prints[2] != prints[1]
    QUERIES[0]["text"], before = "who wakes?", QUERIES[0]["text"]
    try:
        assert read_collection(write(tmp_path, test="1\td1\t1\n")).fingerprint != prints[0]
    finally:
        QUERIES[0]["text"] = before


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("7\td1\t1\n", r"judges no query that is given: it names '7'"),
        (
            "1\tx\t1\n2\ty\t1\n",
            r"no document that is judged relevant exists. It names 'x', 'y', the documents are 'd1'",
        ),
        ("1\td1\n", r"line 1: expected query, document and relevance, separated by tabs; given: 1"),
        (HEADER + "1\td1\tyes\n", r"line 2: the relevance 'yes' is not a whole number"),
        ("1\td1\t1\n1\td1\t0\n", r"line 2: query '1' and document 'd1' have two judgments: 1 and 0"),
        (HEADER + "1\td1\n", r"line 2: expected 3 fields separated by tabs, as in the header; given: 1"),
        (
            "query-id\tcorpus-id\n1\td1\n",
            r"line 1: expected query, document and relevance, not columns 'query-id', 'corpus-id'",
        ),
        (HEADER, r"has no judgment: expected lines"),
    ],
)
def test_judgments_that_cannot_be_used(tmp_path, table, reason):
    with pytest.raises(DataError, match=reason):
        read_collection(write(tmp_path, test=table))


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MissingInput, match=r"no folder 'nowhere'.*corpus\.jsonl"):
        read_collection("nowhere")
    folder = write(tmp_path)
    with pytest.raises(MissingInput, match="has no table of judgments in qrels/"):
        read_collection(folder)
    (folder / "queries.jsonl").unlink()
    with pytest.raises(MissingInput, match=r"has no queries\.jsonl and"):
        read_collection(folder)
    with pytest.raises(MissingInput, match=r"no file 'nowhere\.tsv'"):
        read_qrels("nowhere.tsv")


def test_scifact_is_not_downloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("SEQLAB_DATA", str(tmp_path))
    with pytest.raises(MissingInput, match=r"set SEQLAB_DATA to a folder in which scifact/ has corpus\.jsonl"):
        scifact()
    with pytest.raises(UsageError, match="no difficulty"):
        scifact(3)


def test_scifact(shared_data, monkeypatch):
    monkeypatch.setenv("SEQLAB_DATA", str(shared_data))
    collection = scifact()
    assert collection.facts()["queries"] == {"train": 809, "test": 300} and len(collection.documents) == 5183
    assert not collection.notes
