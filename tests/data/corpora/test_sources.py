"""Which files a corpus is read from, as what, and what is said about them."""

import gzip
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from corpus_files import encode, large_text, some_texts, write_rows

from seqlab.config import CorpusSettings, build_settings
from seqlab.data.corpora.large_text import open_large
from seqlab.data.corpora.when_sharded import is_sharded
from seqlab.data.text.given_splits import read_text
from seqlab.errors import DataError, MissingInput, SeqlabWarning, UsageError
from seqlab.registry import TASKS
from seqlab.tokenization.byte import ByteTokenizer
from seqlab.training.request import settings_from_request


def write_parquet(path: Path, **columns: Sequence[object]) -> Path:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=100)
    return path


def settings(*source: Path, **more: object) -> CorpusSettings:
    return CorpusSettings.model_validate({"source": tuple(map(str, source)), **more})


def test_what_is_encoded_into_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "a.txt"
    text.write_text("some text\n")
    assert not is_sharded(settings(text))
    assert is_sharded(settings(text, sharded=True))
    for name in ("b.jsonl", "b.ndjson.gz", "b.txt.zst", "b.parquet"):
        (tmp_path / name).touch()
        assert is_sharded(settings(tmp_path / name)) and is_sharded(settings(text, validation=(str(tmp_path / name),)))
        assert not is_sharded(settings(tmp_path / name, sharded=False))
    assert not is_sharded(settings(tmp_path)), "empty files of a folder are left out, and decide nothing"
    write_rows(tmp_path / "b.jsonl", some_texts(5))
    assert is_sharded(settings(tmp_path)) and not is_sharded(CorpusSettings(source=("python-docs",)))
    assert is_sharded(CorpusSettings(source=("s3://bucket/a.txt",)))
    monkeypatch.setattr("seqlab.data.corpora.when_sharded.MAX_IN_ONE_FILE", 5)
    assert is_sharded(settings(text))


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.jsonl", b"", "empty"),
        ("x.parquet", b"PAR1\x15 and nothing else", "cannot be read as Parquet"),
        ("y.txt.zst", b"not packed", "zstd"),
        ("z.jsonl", b'{"head": "A head", "story": "A story"}\n' * 9, "which one is the text?"),
        ("large.bin", bytes(999), "binary"),
    ],
)
def test_a_file_that_is_left_out_does_not_decide_how_the_others_are_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, why: str
) -> None:
    monkeypatch.setattr("seqlab.data.corpora.when_sharded.MAX_IN_ONE_FILE", 900)
    (tmp_path / "a.txt").write_text("The old man walked.\n" * 30)
    (tmp_path / name).write_bytes(content)
    text = read_text(settings(tmp_path))
    assert not is_sharded(settings(tmp_path)) and text.stats.characters == 600
    (note,) = text.corpus.fixes.source_notes
    assert note.startswith("left out 1 file (") and why in note and note.endswith(name)
    with pytest.raises(DataError):  # given by its name, it is refused
        read_text(settings(tmp_path / name))


def test_every_form_is_recognized_and_said(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", some_texts(50), id=7, url="x")
    write_rows(tmp_path / "b.jsonl.gz", some_texts(50, 100))
    write_rows(tmp_path / "c.jsonl.zst", some_texts(50, 200))
    write_parquet(tmp_path / "d.parquet", body=some_texts(250, 300), stars=[1] * 250)
    (tmp_path / "e.txt").write_text("".join(some_texts(10, 600)))
    (tmp_path / "f.txt.gz").write_bytes(gzip.compress(b"plain\n" * 10))
    (tmp_path / "g.txt").touch()
    (tmp_path / "h.bin").write_bytes(bytes(range(256)))
    (tmp_path / ".hidden").touch()
    text = large_text(tmp_path)
    assert sorted(text.notes) == sorted(
        [
            "left out 1 file (binary): h.bin",
            "left out 1 file (empty): g.txt",
            "left out 1 file or folder (hidden): .hidden",
            "read 1 file as JSON lines: a.jsonl",
            "read 1 file as JSON lines, unpacked by gzip: b.jsonl.gz",
            "read 1 file as JSON lines, unpacked by zstd: c.jsonl.zst",
            "read 1 file as Parquet: d.parquet",
            "read 1 file as running text: e.txt",
            "read 1 file as running text, unpacked by gzip: f.txt.gz",
            "the text is 'text' of a.jsonl; left out: 'id', 'url'",
            "the text is 'text' of b.jsonl.gz, c.jsonl.zst",
            "the text is 'body' of d.parquet; left out: 'stars'",
            "split 90/10, by the SHA-256 of each document (of a text file: of stretches of 262,144 bytes)",
        ]
    )
    read = sorted(document for split in text.splits for document in text.lines(split))
    rows = [*some_texts(50), *some_texts(50, 100), *some_texts(50, 200), *some_texts(250, 300)]
    assert read == sorted([*rows, "".join(some_texts(10, 600)), "plain\n" * 10])


def test_a_category_of_strings_is_a_text(tmp_path: Path) -> None:
    import pyarrow

    column = pyarrow.array(some_texts(250)).dictionary_encode()
    text = large_text(write_parquet(tmp_path / "a.parquet", text=column, stars=[1] * 250))
    assert sorted(document for split in text.splits for document in text.lines(split)) == sorted(some_texts(250))


@pytest.mark.parametrize(
    ("values", "kind", "function"),
    [([b"a", b"b"], "binary", "bytes.decode"), ([["a"], ["b", "c"]], "list<", '" ".join'), ([1, 2], "int64", "str")],
)
def test_columns_of_other_types_are_named_with_what_to_do(
    tmp_path: Path, values: list[object], kind: str, function: str
) -> None:
    path = write_parquet(tmp_path / "a.parquet", text=values)
    with pytest.raises(DataError) as refused:
        large_text(path)
    assert f"has no texts, which are strings: it has 'text' of type {kind}" in str(refused.value)
    assert str(refused.value).endswith(f"frame['text'] = frame['text'].map({function})")
    assert "which one" not in str(refused.value)
    beside = write_parquet(tmp_path / "b.parquet", text=values, title=["one", "two"])
    with pytest.raises(DataError, match=f"it has 'text' of type {kind}"):
        large_text(beside, text_column="text")


def test_the_column_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"question": "why", "answer": "so", "n": 1}) + "\n")
    asked = r"has the keys 'question', 'answer' of texts .*which one is the text\? Name it: --set corpus.text_column=q"
    with pytest.raises(DataError, match=asked):
        large_text(path)
    assert "the text is 'answer' of a.jsonl; left out: 'question', 'n'" in large_text(path, text_column="answer").notes
    with pytest.raises(DataError, match=r"has no key 'reply': there is 'question', 'answer', 'n'"):
        large_text(path, text_column="reply")
    parquet = write_parquet(tmp_path / "b.parquet", x=[1, 2], y=["a", "b"])
    assert large_text(parquet).parts["train"].sources[0].column == "y"  # the only one of texts
    with pytest.raises(DataError, match="has no texts"):
        large_text(write_parquet(tmp_path / "c.parquet", x=[1, 2]))
    (tmp_path / "d.jsonl").write_text("[1, 2]\n")
    with pytest.raises(DataError, match="no JSON object on its first lines"):
        large_text(tmp_path / "d.jsonl")


def test_bad_rows_are_counted_with_their_places(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", some_texts(100))
    rows = [b'{"text": ""}', b'{"text": null}', b"nonsense", b'{"text": 5}', b'{"other": 1}']
    bad = b"\n".join([*rows, b'{"text": "\xff"}', b'{"text": "\\ud800"}', b"7", b""])
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + bad + b'{"text": "a\\r\\nb\\u0000"}\n')
    with pytest.warns(SeqlabWarning) as said:
        encode(large_text(path))
    assert [str(one.message) for one in said] == [
        f"skipped 2 empty documents; the first: '{path}', offset {size:,}",
        f"skipped 6 rows that cannot be read; the first: '{path}', offset {size + 28:,}: not JSON",
        f"removed 1 NUL character; the first: '{path}', offset {size + len(bad):,}",
        f"read 1 CRLF line ending as LF; the first: '{path}', offset {size + len(bad):,}",
    ]
    with pytest.raises(DataError, match=r"6 of 107 rows cannot be read, and at most 5% may be skipped"):
        encode(large_text(path, skip_limit=0.05))


def test_undecodable_bytes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("é text\n".encode() * 20_000 + b"a \xff b\n" + b"text\n" * 50_000 + b"\xfe\xfd\n")
    held_out = str(write_rows(tmp_path / "v.jsonl", ["held out"]))
    with pytest.warns(
        SeqlabWarning, match=r"replaced 3 bytes that are not UTF-8 by U\+FFFD; the first: .*offset 160,002"
    ):
        encode(large_text(path, validation=(held_out,)))


@pytest.mark.parametrize("place", [0, 30_000, 120_000])
def test_a_few_nuls_in_a_text_are_counted_and_binary_files_left_out(tmp_path: Path, place: int) -> None:
    lines = "".join(some_texts(3000)).encode()
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_bytes(lines[:place] + b"\0" + lines[place:])
    (tmp_path / "corpus" / "b.bin").write_bytes(bytes(range(256)) * 400)
    held_out = str(write_rows(tmp_path / "v.jsonl", ["held out"]))
    text = large_text(tmp_path / "corpus", validation=(held_out,))
    with pytest.warns(SeqlabWarning, match="removed 1 NUL character; the first: '.*a.txt', offset 0"):
        splits = encode(text)
    assert len(splits["train"]) == len(lines)
    assert "left out 1 file (binary): b.bin" in text.notes
    with pytest.raises(DataError, match="is binary, not text"):
        large_text(tmp_path / "corpus" / "b.bin")


def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", some_texts(10))
    with pytest.raises(MissingInput, match="there is no file or folder"):
        large_text(tmp_path / "missing.jsonl")
    with pytest.raises(UsageError, match="given twice"):
        large_text(path, path)
    with pytest.raises(UsageError, match="belongs to train and to validation"):
        large_text(path, validation=(str(path),))
    with pytest.raises(UsageError, match="documents=lines needs a text in one file"):
        large_text(path, documents="lines")
    with pytest.raises(UsageError, match="split=scattered is for a text that is encoded into one file"):
        large_text(path, split="scattered")
    (tmp_path / "b.txt.zst").write_bytes(b"no zstd")
    with pytest.raises(DataError, match=r"'.*b.txt.zst' cannot be unpacked after 0 unpacked bytes"):
        large_text(tmp_path / "b.txt.zst")
    (tmp_path / "c.txt").write_bytes("text\n".encode("utf-16"))
    with pytest.raises(DataError, match=r"is UTF-16, and .* read as UTF-8"):
        large_text(tmp_path / "c.txt")
    (tmp_path / "d.parquet").write_bytes(b"PAR1 but nothing else")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        large_text(tmp_path / "d.parquet")
    (tmp_path / "e.jsonl").write_text('{"text": " "}\n')
    with pytest.raises(DataError, match=r"no document with a text. Skipped 1 empty document"):
        encode(large_text(tmp_path / "e.jsonl"))


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", some_texts(100))
    text = large_text(path)
    write_rows(path, some_texts(101))
    with pytest.raises(DataError, match=r"a.jsonl' was changed while seqlab was using it"):
        encode(text)


def test_the_sample_of_the_tokenizer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From all over the files, of the training split alone, and no more than is allowed."""
    monkeypatch.setattr("seqlab.data.corpora.plan.MAX_SAMPLE_BYTES", 6400)
    monkeypatch.setattr("seqlab.data.corpora.plan.STRETCH", 64)
    paths = [write_rows(tmp_path / f"{name}.jsonl", some_texts(300, 1000 * at)) for at, name in enumerate("abc")]
    text = large_text(*paths).with_sample()
    sampled = [*text.sample_chunks()]
    assert {*sampled} <= {*text.lines("train")}
    sample = text.sample
    assert sample is not None and not sample.is_whole
    assert {Path(name).name for name, _, _ in sample.spans} == {"a.jsonl", "b.jsonl", "c.jsonl"}
    assert sample.documents == len(sampled) and sample.bytes == sum(map(len, sampled)) < 12_000
    assert f"in {len(sampled)} documents, from 64 places in 3 files" in str(sample)
    encoded = text.encode(ByteTokenizer(), 0)[0].encoded
    assert encoded is not None and encoded.tokenizer_sample == vars(sample)


def test_a_small_packed_text_has_no_second_split_and_the_advice_helps(tmp_path: Path) -> None:
    import zstandard

    packed = tmp_path / "a.txt.zst"
    packed.write_bytes(zstandard.compress("".join(some_texts(50)).encode()))
    with pytest.raises(DataError, match=r"has 1 document.* with --validation, or unpack or convert it") as raised:
        encode(open_large(settings(packed)))
    assert "leave out corpus.sharded" not in str(raised.value)
    with pytest.raises(DataError, match=r"or leave out corpus\.sharded"):
        encode(large_text(packed))
    other = tmp_path / "b.txt"
    other.write_text("".join(some_texts(9, 900)))
    assert all(map(len, encode(large_text(packed, validation=(str(other),))).values()))


def test_copies_of_files_are_read_once_and_said(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", some_texts(50))
    for name in ("b.txt", "c.txt"):
        (tmp_path / name).write_text("one text\n" * 20)
    text = open_large(settings(tmp_path))
    assert [Path(source.name).name for source in text.parts["train"].sources] == ["a.jsonl", "b.txt"]
    assert any("its content is that of another file" in note and "c.txt" in note for note in text.notes)
    with pytest.raises(UsageError, match="has the same content as"):
        open_large(settings(tmp_path / "a.jsonl", tmp_path / "b.txt", tmp_path / "c.txt"))


def test_only_the_last_text_of_a_row_is_read_and_that_is_said(tmp_path: Path) -> None:
    rows = [f'{{"text": "lost {number}", "n": {{"text": 1}}, "text": "kept {number}"}}\n' for number in range(90)]
    (tmp_path / "a.jsonl").write_text("".join(rows) + '{"text": "\\"text\\" once", "n": {"text": 1, "text": 2}}\n')
    with pytest.warns(SeqlabWarning, match=r"used only the last text of 90 rows that have several; .*offset 0: 'text'"):
        encode(text := large_text(tmp_path / "a.jsonl"))
    assert "lost" not in text.text("train")


def test_markup_beside_rows_is_said_as_it_is_without_them(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", some_texts(50))
    (tmp_path / "page.html").write_text("<p>A page</p>\n" * 20)
    (tmp_path / "b.csv").write_text("a,b\n1,2\n" * 20)
    notes = open_large(settings(tmp_path)).notes
    assert "read page.html as running text: tags and entities are part of it" in notes
    assert [note for note in notes if note.startswith("read 1 table as running text (b.csv): column names")]


def test_the_key_with_the_most_different_text_is_suggested(tmp_path: Path) -> None:
    rows = [{"user": "a", "msg": text} for text in some_texts(20)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=r"--set corpus\.text_column=msg"):
        large_text(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("codec", "name", "iconv"), [("latin-1", "Windows-1252 (Latin-1)", "WINDOWS-1252"), ("utf-16", "UTF-16", "UTF-16")]
)
def test_rows_in_another_encoding_are_told_by_it(tmp_path: Path, codec: str, name: str, iconv: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(('{"text": "the caf\xe9 is open"}\n' * 30).encode(codec))
    with pytest.raises(DataError) as refused:
        large_text(tmp_path / "a.jsonl")
    assert f"is {name}, and JSON lines are read as UTF-8. Convert it: iconv -f {iconv} " in str(refused.value)


def test_a_column_of_splits_is_said_with_what_keeps_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = ["train", "train", "dev", "test"] * 20
    rows = [{"text": text, "split": kind} for text, kind in zip(some_texts(80), kinds, strict=True)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (note,) = (note for note in large_text("a.jsonl").notes if "names splits, and is not used" in note)
    *made, train = note.partition("To keep to it: ")[2].split("; ")
    assert train == "seqlab train a-train.jsonl --task language --validation a-validation.jsonl --test a-test.jsonl"
    if shutil.which("jq"):
        for command in made:
            subprocess.run(["bash", "-c", command], check=True)
        assert len(Path("a-train.jsonl").read_text().splitlines()) == 40
        held_out = {"validation": ("a-validation.jsonl",), "test": ("a-test.jsonl",)}
        assert not [note for note in large_text("a-train.jsonl", **held_out).notes if "names splits" in note]
    with pytest.raises(UsageError, match=r"split_column does nothing .*a file of each split.* --validation and --test"):
        settings_from_request("a.jsonl", {}, {"corpus.split_column": "split"}, {"task": "language"})


@pytest.mark.parametrize(
    ("row", "column", "why"),
    [
        ({"text": "half \ud83d a pair"}, "auto", "has no document with a text.*half of a surrogate pair"),
        ({"text": "a text", "n": 5}, "n", "has no document with a text.*'n' is no text"),
    ],
)
def test_why_there_is_nothing_to_learn_a_tokenizer_from(tmp_path: Path, row: object, column: str, why: str) -> None:
    (tmp_path / "a.jsonl").write_text((json.dumps(row) + "\n") * 30)
    tables = {"corpus": {"source": [str(tmp_path / "a.jsonl")], "text_column": column}}
    with pytest.raises(DataError, match=why):
        TASKS.load("language").open_dataset(build_settings(tables, []), lambda _: None)


def test_a_training_split_without_documents_is_told_by_their_number(tmp_path: Path) -> None:
    number = next(n for n in range(999) if not [*large_text(written(tmp_path, n)).lines("train")])
    tables = {"corpus": {"source": [str(written(tmp_path, number))], "sharded": True}}
    with pytest.raises(DataError, match=r"the train split has 0 tokens.*has 1 document.*leave out corpus\.sharded"):
        TASKS.load("language").open_dataset(build_settings(tables, []), lambda _: None)


def written(folder: Path, number: int) -> Path:
    (folder / "a.txt").write_text(f"text number {number} of many\n" * 9)
    return folder / "a.txt"
