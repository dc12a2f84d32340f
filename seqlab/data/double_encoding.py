"""Text that was encoded twice: UTF-8 that was taken for Windows-1252 and saved as UTF-8 again, such as Ã¼ for ü."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

# bytes 0x80 to 0xBF, which follow the first of a character in UTF-8, as Windows-1252 or Latin-1 reads them
FOLLOWING = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
CLOSING = "”’…›»"  # they follow a capital letter of prose, too
TWICE = re.compile(
    rf"Ã(?![{CLOSING}])[{FOLLOWING}]|Â[\u0080-\u00ba\u00bc-\u00bf]|â€[{FOLLOWING}]|(?:[ÐÑ][{FOLLOWING}]){{2}}|ðŸ[{FOLLOWING}]{{2}}"
)
FEWEST = 2  # places
MAX_NAMED = 3  # that a note quotes
# Windows-1252 lacks five bytes, which stand for themselves, or were lost (U+FFFD): iconv would stop at them. What is no
# character encoded twice is kept
DECODE_ONCE = (
    r"import re, sys; f = '[\x80-\xbf' + bytes(range(128, 192)).decode('cp1252', 'ignore') + ']'; "
    "byte = lambda c: bytes([ord(c)]) if ord(c) < 256 else c.encode('cp1252'); "
    r"twice = fr'[\xc2-\xdf]{f}|[\xe0-\xef]{f}{f}|[\xf0-\xf4]{f}{f}{f}'; "
    "once = lambda m: b''.join(map(byte, m[0])).decode('utf-8', 'ignore') or m[0]; "
    "sys.stdout.buffer.write(re.sub(twice, once, sys.stdin.buffer.read().decode()).encode())"
)


class DoubleEncoding:
    """Counts the characters that were encoded twice, while others read the text."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def watch(self, blocks: Iterable[str]) -> Iterator[str]:
        for block in blocks:
            if not block.isascii():
                self.found.update(TWICE.findall(block))
            yield block

    def notes(self) -> list[str]:
        meant = {wrong: right for wrong in self.found if (right := _decoded_once(wrong))}
        places = sum(self.found[wrong] for wrong in meant)
        if places < FEWEST:
            return []
        most = sorted(meant, key=lambda wrong: (-self.found[wrong], wrong))[:MAX_NAMED]
        named = ", ".join(f"'{wrong}' for '{meant[wrong]}' ({self.found[wrong]:,})" for wrong in most)
        named += f" and {len(meant) - MAX_NAMED:,} more kinds" if len(meant) > MAX_NAMED else ""
        return [
            f"UTF-8 that was encoded twice: {places:,} places look so, {named}, read as they are. If the whole file is "
            f'so: python3 -c "{DECODE_ONCE}" < FILE > NEW'
        ]


def double_encoding_notes(blocks: Iterable[str]) -> list[str]:
    twice = DoubleEncoding()
    for _ in twice.watch(blocks):
        pass
    return twice.notes()


def _decoded_once(wrong: str) -> str | None:
    """The text that was meant; None if it is none."""
    try:
        raw = b"".join(bytes([ord(mark)]) if ord(mark) < 256 else mark.encode("cp1252") for mark in wrong)
        return raw.decode()
    except UnicodeError:
        return None
