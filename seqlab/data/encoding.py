"""Which encoding a file has: UTF-8, UTF-16, UTF-32 or Windows-1252.

Windows-1252 contains the printable characters of Latin-1. It fits nearly any bytes, so text in it must also look
Western: few letters outside ASCII, and hardly any sign inside a word.
"""

import codecs
import re
from collections.abc import Iterable
from itertools import chain

from seqlab.data.foreign import on_file
from seqlab.data.unmarked import CONTROLS, recognize_unmarked, suspect_unmarked
from seqlab.errors import DataError
from seqlab.wording import counted

UTF8 = "utf-8"
ENCODING_NAMES = {
    UTF8: "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 without a byte-order mark",
    "utf-16-be": "UTF-16 without a byte-order mark",
    "utf-32": "UTF-32",
    "utf-32-le": "UTF-32 without a byte-order mark",
    "utf-32-be": "UTF-32 without a byte-order mark",
    "cp1252": "Windows-1252 (Latin-1)",
}
# the mark of UTF-32 begins with that of UTF-16
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
MAX_HIGH = 0.3  # the share of letters outside ASCII in Western text
MAX_SIGNS = 0.1  # the share of bytes outside ASCII that are signs inside a word, as Polish or Czech text would have
MAX_PAIRED = 0.5  # the share of bytes outside ASCII that stand as in UTF-8; with more, the file is damaged UTF-8
FOREIGN_WORD = re.compile(rb"(?<![A-Za-z\xc0-\xff])[\xc0-\xff]{4,}(?![A-Za-z\xc0-\xff])")  # as of Cyrillic or Greek
MAX_FOREIGN = 0.5  # the share of letters outside ASCII that stand in such words
MIN_JOINED = 8  # bytes that are not UTF-8; fewer are damage
BY_CHANCE = 0.1  # for each of them, the characters of UTF-8 that another encoding has by chance
HIGH = bytes(range(128, 256))
HIGH_LETTERS = bytes({*range(0xC0, 0x100)} - {0xD7, 0xF7})
NOT_LETTERS = bytes({*range(256)} - {*HIGH_LETTERS, *range(0x41, 0x5B), *range(0x61, 0x7B)})
UTF8_PAIR = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
# signs that Western words do not contain, unlike quotation marks, dashes and spaces; and capitals after small letters
SIGN_IN_WORD = re.compile(
    rb"(?<=[a-z])[\x8a\x8c\x8e\x9f]|(?<=[A-Za-z\xc0-\xff])[\x80\x82\x84\x86-\x89\x8b\x95\x98\x99\x9b\xa1-\xa9\xab\xac\xae-\xb3\xb5\xb6\xb8\xb9"
    rb"\xbb-\xbf\xd7\xf7](?=[A-Za-z\xc0-\xff])"
)


# encodings of old systems that can be told: their small letters stand inside words; as iconv and Python name them
OLD = {"MACINTOSH": "mac_roman", "CP850": "cp850"}
JAPANESE, KANA = "cp932", re.compile("[\u3041-\u30ff]")  # as Windows and spreadsheets write it; every text has kana
MIN_KANA = 0.3  # the share of characters beyond ASCII
HIGH_IN_WORD = re.compile(r"(?<=[a-z])[^\x00-\x7f]|[^\x00-\x7f](?=[a-z])")
MIN_SMALL = 0.8  # the share of them that are small letters


DECLARED = re.compile(rb"""\bcharset\s*=\s*["']?([A-Za-z][\w.:-]*)""", re.IGNORECASE)
WESTERN = ("ascii", "iso8859-1", "cp1252")  # what readers of pages take for Windows-1252


def declared_encoding(raw: bytes) -> str | None:
    """The codec that a page or an e-mail declares, if its bytes fit it; None where it declares several, or UTF-8."""
    names = {name.decode().lower() for name in DECLARED.findall(raw)}
    try:
        (codec,) = {codecs.lookup(name).name for name in names}
        raw.decode(codec)
    except (ValueError, LookupError):  # no name or several, an unknown one, or bytes that do not fit
        return None
    return None if codec == UTF8 else "cp1252" if codec in WESTERN else codec


def encoding_name(codec: str) -> str:
    """What people call a codec."""
    return ENCODING_NAMES.get(codec, codec)


def recognize_encoding(blocks: Iterable[bytes]) -> str | None:
    """The codec of a file's bytes; None for binary data, damaged UTF-8 and other encodings."""
    blocks = iter(blocks)
    first = next(blocks, b"")
    for mark, codec in MARKS.items():
        if first.startswith(mark):
            return codec
    if unmarked := recognize_unmarked(first):
        return unmarked
    decoder = codecs.getincrementaldecoder(UTF8)()
    letters, ascii_only = 0, True
    for block in chain([first], blocks, [b""]):
        if b"\0" in block:
            return None
        pending = decoder.getstate()[0]  # what the decoder holds of the blocks before
        try:
            ascii_only &= decoder.decode(block, final=not block).isascii()
        except UnicodeDecodeError:  # after characters in UTF-8, and at the end of a file, it is damaged
            western = ascii_only and block and _is_western(chain([pending + block], blocks), letters)
            return "cp1252" if western else None
        letters += len(block.translate(None, NOT_LETTERS))
    return UTF8


def _is_western(blocks: Iterable[bytes], letters: int) -> bool:
    """Whether the rest of a file, from its first byte that is not UTF-8, is Windows-1252; `letters` stand before it."""
    high = high_letters = signs = pairs = foreign = 0
    for block in blocks:
        try:
            block.decode("cp1252")
        except UnicodeDecodeError:
            return False
        if len(block.translate(None, CONTROLS)) < len(block):
            return False
        letters += len(block.translate(None, NOT_LETTERS))
        high += len(block) - len(block.translate(None, HIGH))
        high_letters += len(block) - len(block.translate(None, HIGH_LETTERS))
        signs += len(SIGN_IN_WORD.findall(block))
        pairs += len(UTF8_PAIR.findall(block))
        foreign += sum(map(len, FOREIGN_WORD.findall(block)))
    if foreign > MAX_FOREIGN * high_letters:
        return False
    return high_letters <= MAX_HIGH * letters and signs <= MAX_SIGNS * high and 2 * pairs < MAX_PAIRED * high


def _old_encoding(raw: bytes) -> str:
    """The name for iconv of the encoding in which words look like words; ENCODING if none does."""
    if _is_japanese(raw):
        return JAPANESE.upper()
    shares = {}
    for name, codec in OLD.items():
        text = raw.decode(codec)
        if sum(not sign.isascii() for sign in text) > MAX_HIGH * sum(map(str.isalpha, text)):  # another script
            return "ENCODING"
        found = HIGH_IN_WORD.findall(text)
        shares[name] = sum(map(str.islower, found)) / len(found) if found else 0.0
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= MIN_SMALL else "ENCODING"


def _is_japanese(raw: bytes) -> bool:
    try:
        text = raw.decode(JAPANESE)
    except UnicodeDecodeError as error:
        text = raw[: error.start].decode(JAPANESE) if error.end == len(raw) else ""  # cut off within a character
    others = sum(not sign.isascii() for sign in text)
    return others > 0 and len(KANA.findall(text)) >= MIN_KANA * others


def nul_advice(raw: bytes, name: str, codec: str) -> str:
    """What to do about a text with NUL characters, without damage to the others."""
    if codec == UTF8 and (advice := _as_unmarked(raw, name)):
        return advice
    remove = r"tr -d '\000' < FILE > NEW"
    if codec != UTF8:
        remove = rf"iconv -f {iconv_name(codec)} -t UTF-8 FILE | tr -d '\000' > NEW"
    return f"Text has none: if the file is binary, give another; otherwise remove them: {on_file(remove, name)}"


def _as_unmarked(raw: bytes, name: str) -> str | None:
    unmarked = suspect_unmarked(raw)
    if unmarked is None:
        return None
    command = on_file(f"iconv -f {iconv_name(unmarked)} -t UTF-8 FILE > NEW", name)
    return f"It may be {ENCODING_NAMES[unmarked]}, but is too short to be sure. If so: {command}"


def iconv_name(codec: str) -> str:
    """What iconv calls a codec."""
    return "WINDOWS-1252" if codec == "cp1252" else codec.upper().replace("-LE", "LE").replace("-BE", "BE")


def _joined(raw: bytes, start: int, line: int) -> tuple[str, str] | None:
    """What to say of a text in UTF-8 that goes on in another encoding, with the command; None for any other."""
    first = raw.rfind(b"\n", 0, start) + 1
    before, after = raw[:first].decode(UTF8), raw[first:]
    valid = after.decode(UTF8, errors="ignore")
    others, kept = len(after) - len(valid.encode()), sum(not character.isascii() for character in valid)
    if before.isascii() or others < MIN_JOINED or kept > BY_CHANCE * others:
        return None
    encoding = iconv_name("cp1252") if _is_western([after], 0) else _old_encoding(after)
    rest = f"tail -n +{line} FILE | iconv -f {encoding} -t UTF-8"
    what = "The lines before it are UTF-8, with characters beyond ASCII; it and the others are not. To convert these"
    return what, f"(head -n {line - 1} FILE; {rest}) > NEW"


def undecodable(name: str, codec: str, error: UnicodeError, base: int, line: int) -> DataError:
    """The error for bytes that do not fit the encoding, with the command that makes a text of the file."""
    if not isinstance(error, UnicodeDecodeError):  # UTF-16 that ends after half a mark
        return DataError(f"'{name}' is not {encoding_name(codec)}: {error}.")
    if codec == UTF8 and b"\0" in error.object:
        advice = _as_unmarked(error.object, name) or "Give a file of text."
        return DataError(f"'{name}' is binary, not text: it has NUL bytes. {advice}")
    byte = error.object[error.start]
    where = f"'{name}', line {line}, offset {base + error.start}: byte 0x{byte:02x} is not {encoding_name(codec)}. "
    if codec == UTF8 and (joined := _joined(error.object, error.start, line)):
        what, command = joined
        return DataError(f"{where}{what}: {on_file(command, name)}")
    rest = error.object.decode(UTF8, errors="ignore") if codec == UTF8 else ""
    valid = sum(not character.isascii() for character in rest)
    if valid > len(error.object) - len(rest.encode()):  # another encoding would damage these
        return DataError(
            f"{where}The text around it is UTF-8, with {counted(valid, 'character')} beyond ASCII: correct the line, "
            f"or remove the bytes that are not: {on_file('iconv -c -f UTF-8 -t UTF-8 FILE > NEW', name)}"
        )
    old = _old_encoding(error.object)
    return DataError(
        f"{where}If the file has another encoding, convert it: {on_file(f'iconv -f {old} -t UTF-8 FILE > NEW', name)}"
    )
