"""Suffixes of files that may be codes of languages, as of a text and its translation: train.en, train.de."""

import re
from pathlib import Path

from seqlab.data.examples.lines import suffix

# suffixes of two or three letters that are not language codes
OTHER_SUFFIXES = {
    *("txt", "tsv", "csv", "bio", "iob", "md", "rst", "tex", "bib", "log", "xml", "htm", "svg", "ini", "cfg", "sql"),
    *("css", "js", "jsx", "tsx", "py", "pyi", "rs", "go", "rb", "sh", "cc", "cpp", "hpp", "php", "lua", "srt", "vtt"),
    *("bak", "old", "org", "tmp", "doc", "pdf", "zip", "dat"),
}


def are_languages(first: Path, second: Path) -> bool:
    """Whether two files differ in a suffix that may be a language: train.en train.de."""
    suffixes = [suffix(path) for path in (first, second)]
    stems = [path.name.lower().removesuffix(".gz").removesuffix(suffix(path)) for path in (first, second)]
    return stems[0] == stems[1] and suffixes[0] != suffixes[1] and all(map(may_be_language, suffixes))


def may_be_language(suffix: str) -> bool:
    return re.fullmatch(r"\.[a-z]{2,3}", suffix) is not None and suffix[1:] not in OTHER_SUFFIXES
