"""Collections from the documentation of Python."""

import sysconfig
from pathlib import Path

import pytest

from seqlab.data.documents import python_docs
from seqlab.data.documents.python_docs import python_api, python_sections
from seqlab.errors import UsageError

LIBRARY = Path(sysconfig.get_path("stdlib"))


def answers(collection):
    """The text that answers each query."""
    texts = {document.id: document.text for document in collection.documents}
    return {
        query.text: texts[document]
        for split, queries in collection.queries.items()
        for query in queries
        for document in collection.qrels[split][query.id]
    }


def assert_nothing_is_shared(collection):
    """Every document answers one query of one split, and no text occurs twice."""
    judged = [name for qrels in collection.qrels.values() for gold in qrels.values() for name in gold]
    assert sorted(judged) == sorted(collection.ids)
    assert len({" ".join(document.text.split()) for document in collection.documents}) == len(judged)
    assert not any(document.title for document in collection.documents)


def test_sections_are_found_by_their_titles():
    collection = python_sections()
    assert_nothing_is_shared(collection)
    found = answers(collection)
    assert len(found) > 100 and all(collection.queries.values())
    assert found['The "assert" statement'].startswith("Assert statements are a convenient way")
    assert "***" not in found['The "assert" statement']
    assert collection.fingerprint == python_sections().fingerprint


def test_descriptions_are_found_by_the_words_of_names(monkeypatch):
    """The real library takes seconds, so that a few modules have to do."""
    modules = [LIBRARY / name for name in ("shutil.py", "json/__init__.py", "json/decoder.py", "configparser.py")]
    monkeypatch.setattr(python_docs, "_modules", lambda library: modules)
    collection = python_api()
    assert_nothing_is_shared(collection)
    found = answers(collection)
    assert "directory tree" in found["shutil copytree"]
    assert "json decoder JSON Decoder raw decode" in found
    assert "json" in found and not any("init" in name for name in found)


def test_private_modules_and_tests_are_left_out(tmp_path):
    for name in ("json/__init__.py", "json/tool.py", "json/_private.py", "test/support.py", "site-packages/x.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f'"""The documentation of {name}, which is long enough."""\n', encoding="utf-8")
    (tmp_path / "json" / "scanner.py").write_text("a b c", encoding="utf-8")
    named = [one for path in python_docs._modules(tmp_path) for one in python_docs._described(path, tmp_path)]  # pyright: ignore[reportPrivateUsage]
    assert [name for name, _ in named] == ["json", "json.tool"]


def test_there_is_no_difficulty():
    with pytest.raises(UsageError, match="'python-sections' has no difficulty to set"):
        python_sections(2)
