"""Parts of queries that share no relevant document."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from seqlab.data.documents.collection import Collection
from seqlab.data.documents.document import Document, Query
from seqlab.data.documents.folds import document_folds, with_validation

judged = st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 2), min_size=1, max_size=3)


def relevant(qrels, names):
    return {document for name in names for document, relevance in qrels[name].items() if relevance > 0}


@given(st.dictionaries(st.integers(0, 99).map(str), judged, min_size=1), st.integers(2, 5))
def test_no_document_is_relevant_in_two_parts(qrels, folds):
    parts = document_folds(qrels, folds)
    assert sorted(name for part in parts for name in part) == sorted(qrels)
    for one, other in combinations(parts, 2):
        assert not relevant(qrels, one) & relevant(qrels, other)


@given(st.permutations([("1", {"a": 1}), ("2", {"b": 1}), ("3", {"a": 1, "c": 1}), ("4", {"c": 2}), ("5", {"d": 1})]))
def test_the_order_of_the_queries_plays_no_role(rows):
    parts = document_folds(dict(rows), 2)
    assert {frozenset(part) for part in parts} == {frozenset("134"), frozenset("25")}


def test_irrelevant_documents_link_nothing_and_parts_are_of_one_size():
    qrels = {str(number): {"shared": 0, f"d{number}": 1} for number in range(20)}
    assert [len(part) for part in document_folds(qrels, 5)] == [4] * 5
    linked = {name: {"shared": 1} for name in qrels}
    assert document_folds(linked, 5) == [list(qrels)]


def collection(**splits):
    queries = {split: [Query(name, f"about {name}") for name in qrels] for split, qrels in splits.items()}
    return Collection("some", [Document("a", "text")], queries, splits)


def test_validation_is_a_part_of_training_that_shares_nothing_with_the_rest():
    training = {str(number): {f"d{number // 2}": 1} for number in range(40)}
    given = collection(train=training, test={"t": {"a": 1}})
    held = with_validation(given)
    assert list(held.queries) == ["train", "validation", "test"] and held.qrels["test"] == {"t": {"a": 1}}
    assert len(held.queries["validation"]) == 4 and held.qrels["validation"].keys() <= training.keys()
    assert [query.id for query in held.queries["train"]] == list(held.qrels["train"])
    assert not relevant(training, held.qrels["train"]) & relevant(training, held.qrels["validation"])
    assert held.notes == ("validation: 4 training queries that share no relevant document with the others",)


def test_a_given_validation_split_stays():
    given = collection(train={"1": {"a": 1}}, validation={"2": {"a": 1}})
    assert with_validation(given) is given
    assert with_validation(alone := collection(test={"1": {"a": 1}})) is alone
