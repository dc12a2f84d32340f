"""Which encoding a file is read in, what is said about it, and what is refused rather than misread."""

import codecs
import gzip
import subprocess
from pathlib import Path

import numpy as np
import pytest

from seqlab.data.encoding import recognize_encoding
from seqlab.data.file_layout import recognize_layout
from seqlab.data.files import InputFixes, read_file
from seqlab.data.readable_files import UNCLEAR
from seqlab.data.text.corpus import open_corpus
from seqlab.errors import DataError, UsageError

FRENCH = "L\u2019été, la gar\xe7on dit : « d\xe9j\xe0 vu »\xa0! C\u2019est 5\xa0\u20ac.\nOn va à l\u2019hôtel.\n" * 3
RUSSIAN = "Привет, мир! Это простой текст на русском языке.\n" * 3
POLISH = "Zażółć gęślą jaźń. Wszyscy ludzie rodzą się wolni i równi, są obdarzeni łaską.\n" * 3
CHINESE = "这是一个简单的文本。\n" * 5


def pieces(raw, size):
    return (raw[at : at + size] for at in range(0, len(raw), size))


@pytest.mark.parametrize("size", [64, 10_000])
@pytest.mark.parametrize(
    ("raw", "codec"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        (RUSSIAN.encode(), "utf-8"),
        (codecs.BOM_UTF8 + FRENCH.encode(), "utf-8"),
        (FRENCH.encode("cp1252"), "cp1252"),
        (b"text,label\nna\xefve,x\n", "cp1252"),
        (b"plain words " * 40 + b"and caf\xe9 noir", "cp1252"),
        (RUSSIAN.encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + FRENCH.encode("utf-16-be"), "utf-16"),
        (FRENCH.encode("utf-32"), "utf-32"),
        (RUSSIAN.encode("cp1251"), None),
        (RUSSIAN.encode("koi8-r"), None),
        (POLISH.encode("cp1250"), None),
        (POLISH.encode("iso8859-2"), None),
        (CHINESE.encode("gbk"), None),
        (FRENCH.replace("\u20ac", "").replace("\u2019", "'").encode("cp850"), None),
        ("Un été, le café était fermé.\n".encode("mac_roman"), None),
        (FRENCH.encode()[:-30] + b"\xff", None),  # damaged UTF-8
        ("déjà".encode()[:-1], None),
        ("voilà".encode()[:-1], None),
        (b"price \xe2\x82 three\n", None),  # a character that lost its last byte
        (b"\x89PNG\r\n\x1a\n\xff\xff", None),
        (b"\x07\x08\xe9 caf\xe9", None),
    ],
)
def test_the_encoding_of_a_file(raw, codec, size):
    assert recognize_encoding(pieces(raw, size)) == codec


def test_unmarked_utf16_is_recognized_by_its_zeros():
    assert recognize_encoding([b"some text\n".decode().encode("utf-16-le")]) == "utf-16-le"
    assert recognize_encoding(["some text\n".encode("utf-16-be")]) == "utf-16-be"
    assert recognize_encoding([b"a\0b\0"]) is None
    assert recognize_encoding([b"some text with one \0 in it"]) is None
    assert recognize_encoding([b"text, and later\n", b"a \0"]) is None


UNMARKED = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
SCRIPTS = {
    "Russian": RUSSIAN,
    "Chinese": CHINESE,
    "Japanese": "吾輩は猫である。名前はまだ無い。\nコーヒーを飲みました。\n",
    "hiragana": "わがはいはねこである なまえはまだない どこでうまれたか",
    "Hindi": "नमस्ते दुनिया, यह एक सरल पाठ है।\n",
    "Korean": "안녕하세요 세계, 이것은 간단한 텍스트입니다.\n",
    "Arabic": "مرحبا بالعالم هذا نص عربي قديم.\n",
    "Thai": "สวัสดีชาวโลก นี่คือข้อความภาษาไทย\n",
    "numbers": "12.5\t33.1\t4\n77.1\t0.3\t5\n",
    "French": FRENCH,
}


@pytest.mark.parametrize("codec", UNMARKED)
@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_unmarked_text_of_any_script_is_recognized(text, codec):
    raw = text.encode(codec)
    assert recognize_encoding([raw * 3]) == codec
    assert recognize_encoding([(raw * 3)[:-3]]) == codec  # the beginning of a file


@pytest.mark.parametrize(
    "raw",
    [
        np.random.default_rng(0).zipf(1.2, 9000).clip(0, 50_000).astype("<u2").tobytes(),  # ids of tokens
        np.random.default_rng(0).integers(0, 1000, 9000).astype("<i4").tobytes(),
        (1000 * np.sin(np.arange(9000) / 7)).astype("<i2").tobytes(),  # sound
        np.arange(40_000).astype("<u2").tobytes(),
        b"\0".join(b"./some/path/file%d.txt" % number for number in range(300)),
        b"words with a NUL\0 here and there\n" * 100,
    ],
)
def test_numbers_and_text_with_nul_are_not_taken_for_unmarked_text(raw):
    assert recognize_encoding([raw]) is None


def test_unmarked_text_is_no_table_and_is_read(tmp_path):
    path = tmp_path / "zh.txt"
    path.write_bytes("老人与海是一本关于勇气和孤独的书。他每天都去钓鱼。\n".encode("utf-16-le") * 80)
    assert recognize_layout(path) is None
    corpus = open_corpus([str(path)])
    assert "".join(corpus.blocks()).startswith("老人与海")
    assert "read zh.txt as UTF-16 without a byte-order mark" in corpus.fixes.notes()[0]


@pytest.mark.parametrize(
    ("codec", "text"), [("utf-16-le", "мир мир"), ("utf-32-be", "Hi"), ("utf-16-le", "plain words " * 50 + "\0")]
)
def test_the_advice_for_nul_characters_damages_nothing(tmp_path, monkeypatch, codec, text):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(text.encode(codec))
    with pytest.raises(DataError, match=r"iconv -f UTF-(16LE|32BE) ") as refused:
        list(read_file(Path("a.txt"), InputFixes()))
    subprocess.run(str(refused.value).rpartition(": ")[2], shell=True, check=True)
    assert Path("new.txt").read_text("utf-8") == text.replace("\0", "")


@pytest.mark.parametrize("codec", ["cp1252", "utf-16", "utf-16-le", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_text_is_read_in_its_encoding_and_that_is_said(tmp_path, codec, packed):
    raw = FRENCH.replace("\n", "\r\n").encode(codec)
    path, fixes = tmp_path / ("notes.txt.gz" if packed else "notes.txt"), InputFixes()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    assert "".join(read_file(path, fixes)) == FRENCH
    note, *unpacked, line_ends = fixes.notes()
    assert unpacked == ["unpacked notes.txt.gz"] * packed
    assert note.startswith(f"read {path.name} as {'Windows-1252' if codec == 'cp1252' else codec[:6].upper()}")
    assert ("'déjà'" if codec == "cp1252" else "'L\u2019été,'") in note
    assert "6 CRLF" in line_ends


def test_half_a_character_of_utf16_is_an_error(tmp_path):
    path = tmp_path / "cut.txt"
    path.write_bytes("déjà".encode("utf-16")[:-1])
    with pytest.raises(DataError, match=r"cut\.txt', line 1, offset 8: byte 0xe0 is not UTF-16"):
        list(read_file(path, InputFixes()))


def test_one_unreadable_file_does_not_end_a_folder(tmp_path):
    files = {
        "a.txt": b"plain\n",
        "b-latin.txt": "café\n".encode("latin-1") * 3,
        "c-utf16.txt": "wide\n".encode("utf-16"),
        "d.bin": bytes(range(256)),
        "e-cyrillic.txt": RUSSIAN.encode("cp1251"),
        "f.gz": b"not packed",
        "g-empty.txt": b"",
        "h-empty.gz": gzip.compress(b""),
        "i-dense.txt": "Größe déjà vu ".encode("latin-1") * 9,
        ".DS_Store": b"hidden",
    }
    for name, raw in files.items():
        (tmp_path / name).write_bytes(raw)
    corpus = open_corpus([str(tmp_path)])
    for _ in range(2):  # a second reading says the same
        assert "".join(corpus.blocks()) == "plain\n" + "café\n" * 3 + "wide\n"
        assert corpus.fixes.notes() == [
            "read b-latin.txt as Windows-1252 (Latin-1), not UTF-8, such as 'café' in b-latin.txt",
            "read c-utf16.txt as UTF-16, not UTF-8",
            "left out 1 file or folder (hidden): .DS_Store",
            "left out 1 file (binary): d.bin",
            f"left out 2 files ({UNCLEAR}): e-cyrillic.txt, i-dense.txt",
            "left out 1 file (a damaged .gz file): f.gz",
            "left out 2 files (empty): g-empty.txt, h-empty.gz",
        ]
    with pytest.raises(DataError, match="is not UTF-8"):  # named by itself, it is an error
        list(open_corpus([str(tmp_path / "e-cyrillic.txt")]).blocks())


def test_many_files_are_counted(tmp_path):
    for number in range(9):
        (tmp_path / f"{number}.txt").write_bytes(f"café {number}\n".encode("latin-1"))
        (tmp_path / f"{number}.bin").write_bytes(b"\0\1")
    corpus = open_corpus([str(tmp_path)])
    list(corpus.blocks())
    encodings, left_out = corpus.fixes.notes()
    assert "read 9 files (0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 4 more) as Windows-1252" in encodings
    assert left_out == "left out 9 files (binary): 0.bin, 1.bin, 2.bin, 3.bin, 4.bin and 4 more"


def test_a_folder_without_readable_text_says_what_it_has(tmp_path):
    (tmp_path / "e.txt").write_bytes(RUSSIAN.encode("cp1251"))
    with pytest.raises(DataError, match=r"no text file among its 1 file\..*Left out 1 file \(not UTF-8.*e\.txt"):
        open_corpus([str(tmp_path)])


def test_a_file_is_named_once(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("plain\n")
    with pytest.raises(UsageError, match="is given twice"):
        open_corpus([str(path), str(tmp_path)])


@pytest.mark.parametrize(
    ("text", "codec", "named"),
    [
        ("Un été, le café était fermé.\n", "mac_roman", "MACINTOSH"),
        ("Die Tür führt übers Gebäude, größer.\n", "mac_roman", "MACINTOSH"),
        ("吾輩は猫である。名前はまだ無い。\n", "shift_jis", "CP932"),
        ("データ,hot\nバルブ,leak\nポンプ,noise\n", "shift_jis", "CP932"),
        ("吾輩は猫である。名前はまだ無い。\n", "euc_jp", "ENCODING"),
        ("Die Tür führt übers Gebäude, größer.\n", "cp850", "CP850"),
        (RUSSIAN, "cp1251", "ENCODING"),
        (POLISH, "cp1250", "ENCODING"),
        (CHINESE, "gbk", "ENCODING"),
        ("Насос протекает: steam turbine and rotor gasket manifold\n", "cp1251", "ENCODING"),
        ("αντλία: steam turbine and rotor gasket manifold\n", "iso8859-7", "ENCODING"),
    ],
)
def test_old_encodings_are_named_where_words_tell(tmp_path, text, codec, named):
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(codec) * 9)
    with pytest.raises(DataError, match=f"iconv -f {named} -t UTF-8"):
        list(read_file(path, InputFixes()))


def test_one_bad_byte_in_utf8_is_removed_without_damage_to_the_rest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes("Zoë naïve café\n".encode() * 20 + b"caf\xe9\n" + "Zoë\n".encode() * 20)
    with pytest.raises(DataError, match=r"line 21, .*The text around it is UTF-8") as refused:
        list(read_file(Path("a.txt"), InputFixes()))
    subprocess.run(str(refused.value).rpartition(": ")[2], shell=True, check=False)
    assert Path("new.txt").read_text("utf-8") == "Zoë naïve café\n" * 20 + "caf\n" + "Zoë\n" * 20


@pytest.mark.parametrize(("repeated", "encoding"), [(1, "latin-1"), (9, "cp1252"), (1, "mac_roman")])
def test_a_text_that_goes_on_in_another_encoding_is_converted_from_there_on(tmp_path, monkeypatch, repeated, encoding):
    monkeypatch.chdir(tmp_path)
    text = "Un été, le café était fermé.\n" * 9
    Path("a.txt").write_bytes(text.encode() * repeated + text.encode(encoding))
    with pytest.raises(DataError, match=rf"line {9 * repeated + 1}, .*it and the others are not\.") as refused:
        list(read_file(Path("a.txt"), InputFixes()))
    subprocess.run(str(refused.value).rpartition(": ")[2], shell=True, check=True)
    assert Path("new.txt").read_text("utf-8") == text * repeated + text


@pytest.mark.parametrize(
    ("text", "codec", "word"),
    [
        ("Ez történt: a király jó útra lép, és őt várják.\n", "cp1250", "õt"),
        ("Mon frère est là, près de la forêt, l'été déjà passé: léger, âgé, le cœur à l'aise.\n", "iso8859_15", "c½ur"),
        ("Le café est fermé, l'été déjà passé: cela coûte 5 €.\n", "iso8859_15", "¤."),
        ("Le café est fermé, l'été passé, « oui » – le cœur léger.\n", "cp1252", "cœur"),
        ("El niño pasó – ¿qué? Nada más.\n", "cp1252", "¿qué?"),
    ],
)
def test_the_word_of_the_note_would_show_a_wrong_guess(tmp_path, text, codec, word):
    path, fixes = tmp_path / "a.txt", InputFixes()
    path.write_bytes((text + "A few words in ASCII, as most of the text.\n" * 3).encode(codec) * 9)
    for _ in range(2):
        assert "".join(read_file(path, fixes))
        assert f"not UTF-8, such as '{word}' in a.txt" in fixes.notes()[0]
