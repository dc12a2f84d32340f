import gzip
import io
import json
import os
import random
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seqlab.analysis import doctor as module
from seqlab.analysis import suggestion
from seqlab.analysis.doctor import examine
from seqlab.baselines.compression import xz_bits
from seqlab.cli.app import app
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.training import budget as prepare
from seqlab.training import timing


@pytest.fixture(autouse=True)
def quick_timing(monkeypatch):
    monkeypatch.setattr(timing, "TIMED_STEPS", 1)
    for room in (prepare, suggestion):
        monkeypatch.setattr(room, "default_threads", lambda: 1)


def write(folder, content, name="my text.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def prose(words, seed=0):
    draw = random.Random(seed)
    return "".join(draw.choice(["the ", "lark ", "wren ", "sings ", "and.\n"]) for _ in range(words))


def run(*arguments):
    return CliRunner().invoke(app, ["doctor", *arguments])


# --- the library ----------------------------------------------------------------------------------------------------


def test_a_healthy_text(tmp_path):
    text = prose(2000)
    path = write(tmp_path, text)
    begun: list[str] = []
    result = examine([path], log=begun.append)
    assert begun[:3] == ["reading the text", "scoring baselines", "timing training steps"]
    assert (result.name, result.refusal, result.scan.characters) == ("my text", None, len(text))
    assert result.overlap is not None
    assert result.overlap.checked
    assert result.baselines_on == "the held-out tenth of the whole text"
    unigram, counting, xz = result.baselines
    assert [unigram.name, counting.name[:10], xz.name] == ["unigram", "kneser-ney", "xz"]
    assert counting.metrics["bits_per_char"] < unigram.metrics["bits_per_char"]
    cut = len(text) * 9 // 10
    bits = xz_bits(text[:cut].encode(), text[cut:].encode())
    assert xz.metrics["bits_per_char"] == pytest.approx(bits / (len(text) - cut - 1))
    assert result.command is not None
    assert result.command.startswith(f"seqlab train '{path}' --arch lstm --tokenizer char")


def test_lines(tmp_path):
    draw = random.Random(0)
    names = "".join("".join(draw.choices("abcde", k=draw.randint(2, 5))) + "\n" for _ in range(300))
    result = examine([write(tmp_path, names)], "lines")
    assert result.overlap is not None
    assert (result.overlap.unit, result.overlap.checked) == ("lines", 30)
    assert result.baselines[0].metrics["tokens"] == sum(len(line) + 1 for line in held_out_lines(names))
    assert result.command is not None
    assert "--documents lines" in result.command


def held_out_lines(text):
    from seqlab.config import CorpusSettings
    from seqlab.data.text.corpus import corpus_from_text
    from seqlab.data.text.split import split_text

    return split_text(corpus_from_text(text, "x"), CorpusSettings(source=("x",), documents="lines")).lines("validation")


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_of_a_long_text_samples_are_taken_and_named(tmp_path, monkeypatch, documents):
    monkeypatch.setattr(module, "MAX_BASELINE_CHARACTERS", 3000)
    monkeypatch.setattr(module, "TIMED_CHARACTERS", 2000)
    text = prose(3000)
    result = examine([write(tmp_path, text)], documents)
    assert "3,000 characters" in result.baselines_on
    if documents == "stream":
        # the sample is held out from where the whole text is
        assert result.baselines[0].metrics["tokens"] == 299
        cut = len(text) * 9 // 10
        bits = xz_bits(text[cut - 2700 : cut].encode(), text[cut : cut + 300].encode())
        assert result.baselines[2].metrics["bits_per_char"] == pytest.approx(bits / 299)
    assert result.estimate is not None
    assert result.scan.characters == len(text)


def test_unknown_characters_of_the_held_out_part_are_no_trouble(tmp_path):
    assert examine([write(tmp_path, prose(500) + "日本語")]).baselines


def test_standard_input_is_not_kept(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(prose(300).encode())))
    assert examine(["-"]).name == "stdin"
    assert not list((Path(os.environ["SEQLAB_CACHE"]) / "stdin").iterdir())


def test_a_built_in_corpus():
    result = examine(["toy-words"])
    assert result.overlap is not None
    assert result.overlap.repeated == 0
    assert result.scan.faults == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"caf\x81\n" * 100, "byte 0x81 is not UTF-8"),
        (b"a\0b\n" * 100, "NUL"),
        (b"too short", "has 9 characters"),
        (b"\xef\xbb\xbf", "has 0 characters"),
    ],
)
def test_a_text_that_training_refuses(tmp_path, content, reason):
    result = examine([write(tmp_path, content)])
    assert result.refusal is not None
    assert reason in result.refusal
    assert result.scan.bytes == len(content)
    assert (result.overlap, result.baselines, result.suggestion, result.command) == (None, [], None, None)


def test_what_cannot_be_examined(tmp_path):
    with pytest.raises(DataError, match="has 0 characters"):
        examine([write(tmp_path, b"")])
    with pytest.raises(MissingInput, match="did you mean 'toy-words'"):
        examine(["toywords"])
    with pytest.raises(UsageError, match=r"corpus\.documents"):
        examine(["toy-words"], "pages")


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_report_ends_with_the_command(tmp_path):
    result = run(write(tmp_path, prose(500) + "é"))
    assert result.exception is None
    said = " ".join(result.output.split())
    for words in ("bits/char", "kneser-ney", "U+00E9", "held-out windows", "take about", "no faults"):
        assert words in said
    assert result.output.rstrip().splitlines()[-1].strip().startswith("seqlab train ")


def test_what_joining_unpacking_and_converting_did_is_said(tmp_path):
    (tmp_path / "a.txt").write_bytes(prose(300).encode().rstrip(b"\n"))
    (tmp_path / "b.txt").write_bytes("un café noir".encode("latin-1"))
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"word\n" * 9))
    result = run(str(tmp_path))
    said = " ".join(result.output.split())
    size = len(prose(300).rstrip("\n")) + 13 + 45 + 2  # the newlines that are added
    assert (
        f"{size:,} bytes in UTF-8 - unpacked c.txt.gz - joined 3 files into one text: a.txt, b.txt, c.txt.gz; " in said
    )
    assert "added 2 newlines after files that end without one" in said
    plain = " ".join(run(str(tmp_path / "a.txt")).output.split())
    assert "bytes - the text begins: " in plain and "joined" not in plain and "unpacked" not in plain


def test_invisible_characters_are_named_and_counted(tmp_path):
    text = prose(500).replace("e", "e\u200b", 20).replace("a", "a\u00ad", 3) + "\ufeff"
    said = " ".join(run(write(tmp_path, text)).output.split())
    named = "U+200B zero width space (20), U+00AD soft hyphen (3), U+FEFF zero width no-break space (1)"
    assert f"invisible characters: 24, read as they are: {named}" in said


def test_the_suggested_command_is_one_that_train_takes(tmp_path, monkeypatch):
    import shlex

    from seqlab import api

    asked = {}

    def pretend(source, **values):
        asked.update(values, source=source)
        raise DataError("enough")

    monkeypatch.setattr(api, "train", pretend)
    names = "".join(f"name {number}\n" for number in range(100))
    command = examine([write(tmp_path, names)]).command
    assert command is not None
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert str(result.exception) == "enough"
    assert asked["source"] == [str(tmp_path / "my text.txt")]
    assert (asked["documents"], asked["arch"], asked["steps"]) == ("lines", "lstm", 1000)
    assert (asked["patience"], asked["dropout"]) == (3, 0.5)


def test_json(tmp_path):
    content = json.loads(run(write(tmp_path, prose(500)), "--json").stdout)
    assert content["scan"]["lines"]["total"] > 1
    assert content["overlap"]["share"] <= 1
    assert content["estimate"]["sentence"]
    assert content["command"].startswith("seqlab train")


def test_a_faulty_text_gets_a_report_and_then_an_error(tmp_path):
    result = run(write(tmp_path, "naïve\r\ntext\n".encode() * 50 + b"\xff\n" * 30, "bad.txt"))
    assert isinstance(result.exception, DataError)
    said = " ".join(result.output.split())
    assert "not UTF-8: 30, the first 20" in said
    assert "50 CRLF and 80 LF, mixed" in said
    assert "distinct characters: 8, without 30 bytes that are not UTF-8; none of them is rare" in said
    assert "bits/char" not in said


@pytest.mark.parametrize("codec, text", [("koi8-r", "Старик шёл вдоль реки. "), ("shift-jis", "日本語の文章です。")])
def test_nothing_is_said_of_characters_that_could_not_be_decoded(tmp_path, codec, text):
    raw = (text + "\n").encode(codec) * 40 + b"\xc2\x82\n"
    said = " ".join(run(write(tmp_path, raw, "other.txt")).output.split())
    assert f"of {len(raw):,} bytes are not UTF-8: nothing is said of its characters, words and lines" in said
    assert "bytes that are not UTF-8: " in said
    assert not any(word in said for word in ("distinct characters", "control characters", "U+0082", "about"))


def test_what_is_no_text_is_refused_without_a_report_and_left_out_of_a_folder(seqlab, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text(prose(30, 1))
    for name in ("my.pdf", "folder/b.pdf"):
        (tmp_path / name).write_bytes(b"%PDF-1.4\n" + b"1 0 obj << /Type /Catalog >> endobj\n" * 50)
    refused = seqlab("doctor", str(tmp_path / "my.pdf"), "--task", "language")
    assert (refused.code, refused.out) == (65, "")
    assert "is a PDF, not text. Extract its text: pdftotext" in refused.err
    report = seqlab("doctor", str(tmp_path / "folder"))
    assert report.code == 0 and "left out 1 file (a PDF, not text. Extract its text: pdftotext" in report.out


def test_exit_codes(seqlab, tmp_path):
    refused = seqlab("doctor", write(tmp_path, b"caf\x81\n" * 20, "bad.txt"))
    assert refused.code == 65
    assert "bytes that are not UTF-8: 20" in refused.out
    assert "\nerror: " in refused.err
    assert "line 1, offset 3" in refused.err


def test_rows_are_examined_as_training_reads_them(tmp_path):
    (tmp_path / "z.jsonl").write_text("".join(json.dumps({"text": prose(40, i), "id": i}) + "\n" for i in range(30)))
    (tmp_path / "a.txt").write_text(prose(300, 99))
    found = examine([str(tmp_path)])
    expected = prose(300, 99) + "".join(prose(40, i) for i in range(30))
    assert abs(found.scan.characters - len(expected)) <= 31  # newlines at the ends of documents
    assert any("'text' of" in note and "left out: 'id'" in note for note in found.notes)
    assert any("splits this text by documents" in note for note in found.notes)


def test_rows_that_training_skips_are_counted(tmp_path):
    lines = [json.dumps({"text": prose(40, at)}) for at in range(30)]
    lines[3], lines[8], lines[12] = lines[3][:20], '{"text": ""}', '{"other": 1}'
    path = write(tmp_path, "\n".join(lines), "z.jsonl")
    notes = examine([path]).notes
    assert any(note.startswith("skipped 2 rows that cannot be read; the first: ") for note in notes)
    assert any(note.startswith("skipped 1 empty document") for note in notes)
    with pytest.raises(DataError, match="2 of 29 rows cannot be read, and at most 1% may be skipped"):
        examine([path], skip_limit=0.01)
    refused = run(path, "--task", "language", "--set", "corpus.skip_limit=0.01")
    assert refused.exit_code != 0 and "at most 1% may be skipped" in str(refused.exception)


def test_the_text_of_rows_is_examined_by_the_command_that_is_named(tmp_path):
    rows = [{"id": str(at), "utt": f"please wake me up at {at}", "slots": f"time : {at}"} for at in range(900)]
    path = write(tmp_path, "".join(f"{json.dumps(row)}\n" for row in rows), "de-DE.jsonl")
    asked = run(path)
    named = "--task language --set corpus.text_column=utt"
    assert named in str(asked.exception)
    done = run(path, *named.split(), "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["scan"]["characters"] >= sum(len(row["utt"]) for row in rows)
    assert "--set corpus.text_column=utt" in found["command"]
    assert "--documents" not in found["command"]  # which training refuses of rows
    assert run(path, "--task", "language", "--set", "corpus.groups=id").exit_code != 0
