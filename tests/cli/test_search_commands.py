"""seqlab embed, index and search as they are typed."""

import io
import json
from pathlib import Path

import pytest
from small_runs import small_run

TEXT = "the cat sat on the mat. "


@pytest.fixture
def notes(text: Path) -> Path:
    folder = text.parent / "notes"
    folder.mkdir()
    (folder / "otter.md").write_text("# The otter\n\nIt swims in the sea.", encoding="utf-8")
    (folder / "dog.md").write_text("# The [dog]\n\nIt ran to the mat.", encoding="utf-8")
    return folder


def test_the_index_says_whose_title_is_the_text(text: Path, seqlab) -> None:
    Path("d.csv").write_text("id,title,text\n1,The otter,\n2,The dog,It ran to the mat.\n", encoding="utf-8")
    shown = seqlab("index", "d.csv", "--no-vectors", "--out", "i").out
    assert shown.startswith("Note: 1 of 2 documents has no text: its title is read as the text ('1').\n")


def test_index_and_search(notes: Path, seqlab) -> None:
    shown = seqlab("index", "notes", "--no-vectors", "--out", "i").out
    assert "2 documents, 2 passages, BM25 alone" in shown and "2 added" in shown and "seqlab search i" in shown
    shown = seqlab("search", "i", "who swims?", "--explain").out
    assert "  1  " in shown and "The otter" in shown and "notes/otter.md, characters 0 to 20 of its text" in shown
    assert (
        "words (BM25): " in shown and "= swim " in shown and "1 document, by its best passage, with bm25, in " in shown
    )
    assert "The [dog]" in seqlab("search", "i", "dog").out
    found = json.loads(seqlab("search", "i", "dog", "--json").out)
    assert found["by"] == "bm25" and found["hits"][0]["id"] == "notes/dog.md" and found["hits"][0]["parts"]["bm25"]
    (notes / "dog.md").unlink()
    assert "1 removed" in seqlab("index", "notes", "--no-vectors", "--out", "i").out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["search", "i", ""], 2, "the query is empty"),
        (["search", "i", "dog", "--explain", "--json"], 2, "--explain does nothing with --json"),
        (["search", "i", "two", "dogs", "-k", "3"], 2, "a query of several words in quotes"),
        (["search", "none", "dog"], 66, "there is no index 'none'"),
        (["index", "gone", "--no-vectors", "--out", "i"], 66, "no file or folder 'gone'"),
        (["index", "notes", "--no-vectors", "--out", "i", "--column", "text"], 2, "--column text: expected"),
        (["index", "notes", "--out", "i", "--no-vectors", "--pooling", "max"], 2, "pooling does nothing"),
        (["map", "none"], 66, "there is no index 'none'"),
        (["embed", "none", "notes", "--out", "v"], 66, "no run 'none'"),
        (["embed", "none", "notes", "--out", "v", "--reduce", "pca"], 2, "without --dimensions"),
    ],
)
def test_wrong_commands(notes: Path, seqlab, words: list[str], code: int, message: str) -> None:
    answer = seqlab(*words)
    assert answer.code == code and message in answer.err


def test_a_map_needs_vectors(notes: Path, seqlab) -> None:
    seqlab("index", "notes", "--no-vectors", "--out", "i")
    shown = seqlab("map", "i").err
    assert "has no vectors" in shown and "bm25" not in shown
    assert "-k does nothing without --neighbors" in seqlab("map", "i", "-k", "3").err


def test_evaluate_an_index(notes: Path, seqlab) -> None:
    seqlab("index", "notes", "--no-vectors", "--out", "i")
    rows = [{"_id": "1", "text": "who swims?"}, {"_id": "2", "text": "a dog"}, {"_id": "3", "text": "the mat"}]
    (notes.parent / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    judged = "1\tnotes/otter.md\t1\n2\tnotes/dog.md\t1\n3\tnotes/otter.md\t1\n"
    (notes.parent / "r.tsv").write_text(judged, encoding="utf-8")
    command = ["evaluate", "i", "--queries", "q.jsonl", "--qrels", "r.tsv"]
    shown = seqlab(*command, "--no-baselines").out
    assert "nDCG@10 on 3 queries" in shown and "BM25" in shown and "recall@100" in shown and "all (3)" in shown
    assert "Note: without judgments of training queries" in shown and "static vectors" not in shown
    rankers = json.loads(seqlab(*command, "--json").out)["rankers"]
    assert rankers["BM25"]["mrr"]["all"]["value"] == pytest.approx((1 + 1 + 1 / 2) / 3) and "static vectors" in rankers


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "i"], "name queries and the documents that answer them: --queries, --qrels"),
        (["evaluate", "i", "a.txt", "--queries", "q", "--qrels", "r"], "a file does nothing for an index"),
        (["evaluate", "none", "--queries", "q"], "--queries does nothing for a run, only for an index"),
        (["evaluate", "none", "--no-baselines"], "--no-baselines does nothing for a run"),
    ],
)
def test_wrong_evaluations(notes: Path, seqlab, words: list[str], message: str) -> None:
    seqlab("index", "notes", "--no-vectors", "--out", "i")
    answer = seqlab(*words)
    assert answer.code == 2 and message in answer.err


def test_a_query_of_a_megabyte_from_standard_input(notes: Path, seqlab, monkeypatch: pytest.MonkeyPatch) -> None:
    seqlab("index", "notes", "--no-vectors", "--out", "i")
    monkeypatch.setattr("sys.stdin", io.StringIO("otter " * 170_000))
    shown = seqlab("search", "i", "-").out
    assert "The otter" in shown and "1,020,000 characters: its first 10,000 are searched for" in shown


def test_finished_vectors_are_said(notes: Path, seqlab, tmp_path_factory: pytest.TempPathFactory) -> None:
    run = small_run(tmp_path_factory.mktemp("run"))
    command = ["embed", str(run.path), "notes", "--out", "v"]
    assert "Already done" not in seqlab(*command).out
    again = seqlab(*command)
    assert again.code == 0 and "Already done" in again.out


def test_a_note_ends_once(notes: Path, seqlab) -> None:
    (notes / "a.jsonl").write_text('{"text": "x"}\n' * 20 + "what?\n")
    shown = seqlab("index", "notes", "--no-vectors", "--out", "i").out
    assert "Note: " in shown and "?." not in shown and ".." not in shown
