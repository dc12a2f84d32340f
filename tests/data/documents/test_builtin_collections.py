"""Built-in collections by their names, and what they are not."""

import pytest

from seqlab.analysis.doctor import diagnose
from seqlab.config import CorpusSettings
from seqlab.data.documents.open_pairs import open_retrieval
from seqlab.data.examples.load import open_examples
from seqlab.data.text.corpus import open_corpus
from seqlab.errors import DataError, UsageError

SECTIONS = CorpusSettings(source=("python-sections",))


def test_a_name_opens_its_splits():
    data = open_retrieval(SECTIONS, ())
    assert data.name == "python-sections" and "language reference" in data.about
    assert list(data.splits) == ["train", "validation", "test"] and all(data.splits.values())


def test_a_collection_has_no_difficulty():
    with pytest.raises(UsageError, match="no difficulty to set"):
        open_retrieval(SECTIONS.model_copy(update={"difficulty": 2}), ())


@pytest.mark.parametrize("name", ["python-docs", "toy-words", "reverse"])
def test_other_corpora_are_no_collections(name):
    with pytest.raises(DataError, match=f"'{name}' is no collection of documents"):
        open_retrieval(CorpusSettings(source=(name,)), ())


def test_a_collection_is_no_set_of_labeled_texts():
    with pytest.raises(DataError, match=r"'python-sections' is no set of labeled texts\. Train it with --task embed"):
        open_examples("labeled", SECTIONS)


@pytest.mark.parametrize(("name", "task"), [("python-sections", "embed"), ("sst", "classify"), ("copy", "translate")])
def test_examples_and_collections_are_no_running_text(name, task):
    with pytest.raises(DataError, match=f"'{name}' is not a running text. Train it with --task {task}"):
        open_corpus((name,))


def test_the_doctor_says_that_it_examines_no_collections():
    with pytest.raises(UsageError, match="--task embed trains on documents"):
        diagnose(["python-sections"])
