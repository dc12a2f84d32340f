import contextlib
import gzip
import hashlib
import io
import os
import sys
import urllib.error
import urllib.request
from http.client import IncompleteRead
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.config import CorpusSettings
from seqlab.data.text import builtin
from seqlab.data.text.corpus import Corpus, corpus_from_text, measure_corpus, open_corpus
from seqlab.data.text.split import split_text
from seqlab.errors import DataError, MissingInput, StorageError, UsageError
from seqlab.registry import CORPORA

SONG = "the lark\nthe wren\n"


def text_of(corpus):
    return "".join(corpus.blocks())


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_file_is_read_anew_each_time(tmp_path):
    path = tmp_path / "song.txt"
    path.write_text(SONG)
    corpus = open_corpus([str(path)])
    assert (corpus.name, text_of(corpus), text_of(corpus), corpus.paths) == ("song", SONG, SONG, (path,))


def test_several_files_are_one_text(tmp_path):
    """A newline is put between two files where it is missing, and only there."""
    for name, content in (("a", "one"), ("b", ""), ("c", "two\n"), ("d", "three")):
        (tmp_path / name).write_text(content)
    corpus = open_corpus([str(tmp_path / name) for name in "abcd"])
    assert text_of(corpus) == "one\ntwo\nthree"
    assert corpus.name == "a-and-3-more"
    assert corpus.fixes.source_notes == ["left out 1 file (empty): b"]


def test_a_folder_with_the_name_of_a_built_in_text_is_said_to_be_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert open_corpus(["toy-words"]).fixes.notes() == []
    Path("toy-words").mkdir()
    Path("toy-words", "a.txt").write_text(SONG)
    assert "not the file or folder of that name, which ./toy-words reads" in open_corpus(["toy-words"]).fixes.notes()[0]
    assert text_of(open_corpus(["./toy-words"])) == SONG


def test_a_folder_is_its_text_files_in_order(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "b.txt").write_text("b\n")
    (tmp_path / "deep" / "a.txt").write_text("deep\n")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a\n"))
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / ".hidden").write_text("hidden\n")
    (tmp_path / ".git" / "config").write_text("hidden\n")
    corpus = open_corpus([str(tmp_path)])
    assert text_of(corpus) == "a\nb\ndeep\n"
    assert corpus.name == tmp_path.name


def test_a_linked_folder_is_left_out_and_said(tmp_path):
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"{name}\n")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    corpus = open_corpus([str(tmp_path / "in")])
    assert text_of(corpus) == "in\n"
    assert corpus.fixes.source_notes == ["left out 1 folder (a link): link"]


def test_links_that_are_read_are_said_and_backups_left_out(tmp_path):
    """A link to a text of the folder is a copy of it."""
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"{name}\n")
    (tmp_path / "in" / "here.txt").symlink_to("a.txt")
    (tmp_path / "in" / "there.txt").symlink_to(tmp_path / "out/a.txt")
    for backup in ("a.txt~", "b.txt.bak", "c.txt.orig"):
        (tmp_path / "in" / backup).write_text(f"old {backup}\n")
    corpus = open_corpus([str(tmp_path / "in")])
    assert text_of(corpus) == "in\nout\n"
    backups, copies, links = corpus.fixes.notes()
    assert backups.startswith("left out 3 files (an editor's backup): ") and "a.txt~" in backups
    assert copies == "left out 1 file (its content is that of another file): here.txt"
    assert links == "read 1 link to a file: there.txt"
    assert text_of(open_corpus([str(tmp_path / "in" / "a.txt~")])) == "old a.txt~\n", "it was asked for"


@pytest.mark.parametrize("whole_folder", [True, False])
def test_tables_read_as_running_text_are_said(tmp_path, whole_folder):
    (tmp_path / "a.jsonl").write_text('{"text": "caf\\u00e9"}\n')
    (tmp_path / "b.txt").write_text("b\n")
    corpus = open_corpus([str(tmp_path)] if whole_folder else [str(tmp_path / name) for name in ("a.jsonl", "b.txt")])
    [note] = corpus.fixes.source_notes
    assert note.startswith(
        "read 1 table as running text (a.jsonl): column names or keys, delimiters, quotes and escapes"
    )


def test_the_folder_here_has_a_name(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text(SONG)
    monkeypatch.chdir(tmp_path)
    assert open_corpus(["."]).name == tmp_path.name


def test_a_folder_without_text(tmp_path):
    (tmp_path / "image.png").write_bytes(b"\0")
    with pytest.raises(DataError, match="has no text file among its 1 file\\."):
        open_corpus([str(tmp_path)])


def test_oddities_are_those_of_one_reading(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(f"\ufeffone {name}\r\ntwo\r\n".encode())
    corpus = open_corpus([str(tmp_path)])
    for _ in range(2):
        assert text_of(corpus) == "one a\ntwo\none b\ntwo\n"
        assert (corpus.fixes.byte_order_marks, corpus.fixes.crlf_lines) == (2, 4)


@pytest.mark.parametrize(("given_", "near"), [("toy-word", "toy-words"), ("tinyshakespeare", "tiny-shakespeare")])
def test_a_misspelt_corpus(given_, near):
    with pytest.raises(MissingInput, match=f"did you mean '{near}'") as refused:
        open_corpus([given_])
    assert all(name in str(refused.value) for name in CORPORA)


def test_a_missing_file_among_others(tmp_path):
    (tmp_path / "a.txt").write_text(SONG)
    with pytest.raises(MissingInput, match=r"b\.txt'"):
        open_corpus([str(tmp_path / "a.txt"), str(tmp_path / "b.txt")])


@pytest.mark.parametrize("name", ["no\0where", "a text that somebody pasted " * 400, "\udcff"])
def test_names_that_no_file_can_have(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingInput, match="there is no file, folder or built-in corpus") as refused:
        open_corpus([name])
    assert len(str(refused.value)) < 500


def test_an_empty_name_is_a_wrong_call_and_no_missing_file():
    with pytest.raises(UsageError, match=r"^an empty name was given: name a file or a folder"):
        open_corpus([""])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(tmp_path):
    path = tmp_path / "closed.txt"
    path.write_text(SONG)
    path.chmod(0)
    with pytest.raises(StorageError, match=r"closed\.txt' cannot be read"):
        open_corpus([str(tmp_path)])


@pytest.mark.parametrize("among", [["toy-words", "a.txt"], ["-", "a.txt"], ["-", "-"]])
def test_built_in_ones_stand_alone(among):
    with pytest.raises(DataError, match="cannot be combined"):
        open_corpus(among)


# --- standard input -------------------------------------------------------------------------------------------------


def pipe(monkeypatch, raw):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_standard_input_can_be_read_twice(monkeypatch):
    pipe(monkeypatch, SONG.encode())
    corpus = open_corpus(["-"])
    assert (corpus.name, text_of(corpus), text_of(corpus)) == ("stdin", SONG, SONG)
    assert corpus.stdin_copy is not None
    assert corpus.stdin_copy.is_relative_to(os.environ["SEQLAB_CACHE"])
    assert text_of(open_corpus(["-"], stdin_copy=corpus.stdin_copy)) == SONG


def test_what_was_kept_of_standard_input_may_be_gone(tmp_path):
    with pytest.raises(MissingInput, match=r"is missing.*corpus\.txt"):
        open_corpus(["-"], stdin_copy=tmp_path / "corpus.txt")


@pytest.mark.parametrize(
    "text, looks",
    [
        ('{"text": "The old man walked."}\n' * 30, "it looks like JSON lines"),
        ("the old man\tder alte Mann\n" * 30, "100% of the lines of standard input have 2 fields separated by tabs"),
        (SONG, None),
    ],
)
def test_what_is_no_running_text_is_said_of_standard_input_too(monkeypatch, text, looks):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    said = [note for note in open_corpus(["-"]).fixes.notes() if "as running text" in note]
    assert len(said) == (looks is not None) and all(looks in note and "seqlab doctor FILE" in note for note in said)


def test_nothing_is_piped_in(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stdin in (Terminal(), None):
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(MissingInput, match="nothing is piped in"):
            open_corpus(["-"])


def test_standard_input_that_cannot_be_read_leaves_nothing_behind(monkeypatch):
    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer, /):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    with pytest.raises(StorageError, match="Input/output error"):
        open_corpus(["-"])
    assert not [path for path in Path(os.environ["SEQLAB_CACHE"]).rglob("*") if path.is_file()]


def test_a_cache_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "file" / "cache"))
    pipe(monkeypatch, SONG.encode())
    with pytest.raises(StorageError, match="Set SEQLAB_CACHE"):
        open_corpus(["-"])


# --- the survey -----------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.sampled_from("aé日😀\n"), min_size=1, max_size=9), max_size=6))
def test_a_survey(blocks):
    text = "".join(blocks)
    stats = measure_corpus(Corpus("x", lambda: iter(blocks)))
    assert (stats.characters, stats.bytes) == (len(text), len(text.encode()))
    assert stats.lines == len(text.split("\n")) - (text.endswith("\n") or not text)
    assert stats.fingerprint == hashlib.sha256(text.encode()).hexdigest()


def test_text_in_memory():
    assert text_of(corpus_from_text(SONG, "song")) == SONG
    assert list(corpus_from_text("", "nothing").blocks()) == []


# --- built-in ones --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["python-docs", "toy-words"])
def test_built_in_corpora_are_the_same_each_time(name):
    first, second = (measure_corpus(open_corpus([name])) for _ in range(2))
    assert first == second
    assert first.characters > 50_000
    assert open_corpus([name]).name == name


def test_toy_words_are_the_same_for_everybody():
    stats = measure_corpus(open_corpus(["toy-words"]))
    assert (stats.lines, stats.characters) == (2000, 75_884)
    assert stats.fingerprint.startswith("51e80f0d85fb2b55")


def test_no_paragraph_of_the_python_docs_comes_twice():
    text = "".join(open_corpus(["python-docs"]).blocks())
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    long = [paragraph for paragraph in paragraphs if len(paragraph) > 40]
    assert len(long) == len(set(long)) > 1000


def test_python_docs_tell_their_version():
    version = ".".join(map(str, sys.version_info[:3]))
    assert version in open_corpus(["python-docs"]).about


class Network:
    """Answers every request with the same content, or fails."""

    def __init__(self, monkeypatch, answer):
        self.answer, self.asked = answer, 0
        monkeypatch.setattr(urllib.request, "urlopen", self.open)

    @contextlib.contextmanager
    def open(self, address, timeout):
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        yield io.BytesIO(self.answer)


@pytest.fixture
def shakespeare(monkeypatch):
    """A short text in place of the true one, so that nothing has to be there."""
    content = b"To be, or not to be.\n"
    monkeypatch.setattr(builtin, "SHAKESPEARE_SHA256", hashlib.sha256(content).hexdigest())
    return content


def put_in_data_folder(monkeypatch, folder, content):
    path = folder / "tiny-shakespeare" / "input.txt"
    path.parent.mkdir()
    path.write_bytes(content)
    monkeypatch.setenv("SEQLAB_DATA", str(folder))


def test_tiny_shakespeare_from_the_data_folder(monkeypatch, tmp_path, shakespeare):
    network = Network(monkeypatch, OSError("no network"))
    put_in_data_folder(monkeypatch, tmp_path, shakespeare)
    assert text_of(open_corpus(["tiny-shakespeare"])) == shakespeare.decode()
    assert not network.asked


@pytest.mark.parametrize("failure", [urllib.error.URLError("no network"), TimeoutError(), IncompleteRead(b"half")])
def test_another_file_and_no_network(monkeypatch, tmp_path, failure):
    network = Network(monkeypatch, failure)
    put_in_data_folder(monkeypatch, tmp_path, b"To be, or not to be.\n")
    with pytest.raises(MissingInput, match="SEQLAB_DATA") as refused:
        open_corpus(["tiny-shakespeare"])
    assert network.asked
    assert all(name in str(refused.value) for name in ("python-docs", "toy-words"))


def test_a_download_is_kept(monkeypatch, tmp_path, shakespeare):
    monkeypatch.setenv("SEQLAB_DATA", str(tmp_path))
    network = Network(monkeypatch, shakespeare)
    for _ in range(2):
        assert text_of(open_corpus(["tiny-shakespeare"])) == shakespeare.decode()
    assert network.asked == 1


def test_a_wrong_download_is_not_kept(monkeypatch, shakespeare):
    monkeypatch.delenv("SEQLAB_DATA", raising=False)
    Network(monkeypatch, b"<html>not here</html>")
    with pytest.raises(MissingInput, match="SHA-256 differs"):
        open_corpus(["tiny-shakespeare"])
    assert not [path for path in Path(os.environ["SEQLAB_CACHE"]).rglob("*") if path.is_file()]


def test_the_real_tiny_shakespeare(monkeypatch, shared_data):
    monkeypatch.setenv("SEQLAB_DATA", str(shared_data))
    stats = measure_corpus(open_corpus(["tiny-shakespeare"]))
    assert (stats.characters, stats.lines) == (1_115_394, 40_000)
    assert stats.fingerprint == builtin.SHAKESPEARE_SHA256


def test_markup_read_as_running_text_is_said(tmp_path):
    for name in ("a.tmx", "b.html.gz", "c.txt", "d.xliff.gz", "e.po"):
        raw = f"<p>{name}</p>\n".encode()
        (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    assert open_corpus([str(tmp_path)]).fixes.source_notes == [
        "unpacked b.html.gz, d.xliff.gz",
        "read a.tmx, b.html.gz, d.xliff.gz as running text: tags and entities are part of it",
        "read e.po as running text: keywords, quotes and comments are part of it",
        "a.tmx, d.xliff.gz, e.po: texts with their translations, by the suffix. To learn from them, make a table of "
        "source and target",
    ]


def test_a_text_that_occurs_again_is_left_out_of_a_folder_and_refused_by_name(tmp_path):
    files = {name: tmp_path / name for name in ("a.txt", "b.txt", "copy.txt", "alias.txt")}
    files["a.txt"].write_text("one\n")
    files["b.txt"].write_text("two\n")
    files["copy.txt"].write_text("two\n")
    files["alias.txt"].symlink_to("a.txt")
    corpus = open_corpus([str(tmp_path)])
    assert text_of(corpus) == "one\ntwo\n"
    assert corpus.fixes.notes() == ["left out 2 files (its content is that of another file): alias.txt, copy.txt"]
    for name, first in {"alias.txt": "a.txt", "copy.txt": "b.txt"}.items():
        with pytest.raises(UsageError, match=f"{name}' has the same content as '.*{first}': give every text once"):
            open_corpus([str(files[first]), str(files[name])])


def test_what_joining_and_line_ends_changed_is_said_though_the_last_reading_stopped_early(tmp_path):
    files = {"a.txt": b"first\n" * 20, "b.txt": b"\xef\xbb\xbfsecond", "c.txt.gz": gzip.compress(b"third\r\n" * 30)}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    corpus = open_corpus([str(tmp_path)])
    text = split_text(corpus, CorpusSettings(source=(str(tmp_path),)))
    next(corpus.blocks())
    assert text.reading_notes == [
        "unpacked c.txt.gz",
        "removed a byte-order mark at the start of a file",
        "read 30 CRLF line endings as LF",
        "joined 3 files into one text: a.txt, b.txt, c.txt.gz; added 1 newline after files that end without one",
    ]


def test_a_packed_copy_of_a_text_is_a_copy(tmp_path):
    (tmp_path / "a.txt").write_text("one text\n" * 20)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one text\n" * 20))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"two text\n" * 20))
    corpus = open_corpus([str(tmp_path)])
    assert text_of(corpus) == "one text\n" * 20 + "two text\n" * 20
    assert "left out 1 file (its content is that of another file): a.txt.gz" in corpus.fixes.notes()
    with pytest.raises(UsageError, match=r"a\.txt\.gz' has the same content as"):
        open_corpus([str(tmp_path / "a.txt"), str(tmp_path / "a.txt.gz")])


def test_files_of_one_name_are_told_by_their_folders_and_names_stay_on_one_line(tmp_path):
    for name in ("pos/1.txt", "neg/1.txt", "neg/odd\nname.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"the text of {name}, long enough\n" * 5)
    text = split_text(open_corpus([str(tmp_path)]), CorpusSettings(source=(str(tmp_path),)))
    assert r"joined 3 files into one text: neg/1.txt, neg/odd\nname.txt, pos/1.txt" in text.reading_notes


def test_notes_on_standard_input_call_it_so(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(("the wår\n" * 20).encode("utf-16"))))
    corpus = open_corpus(["-"])
    assert text_of(corpus) == "the wår\n" * 20
    assert "read standard input as UTF-16, not UTF-8, such as 'wår' in standard input" in corpus.fixes.notes()
