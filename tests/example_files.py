"""Sixty labelled, tagged or translated sentences in files as people have them, no input twice."""

import gzip
import json
from pathlib import Path

WORDS = ["red", "green", "blue", "small", "large", "old", "new", "fish", "bird", "stone"]
SENTENCES = [
    [*(WORDS[(at * 3 + place * (at + 1)) % len(WORDS)] for place in range(1 + at % 4)), f"n{at}"] for at in range(60)
]


def labelled() -> str:
    """Warm is what is red."""
    rows = (f"{' '.join(words)}\t{'warm' if 'red' in words else 'cold'}" for words in SENTENCES)
    return "\n".join(["text\tlabel", *rows]) + "\n"


def tagged() -> str:
    """Fish are entities."""
    sentences = ("".join(f"{word} {'B-x' if word == 'fish' else 'O'}\n" for word in words) for words in SENTENCES)
    return "\n".join(sentences)


def paired() -> str:
    """A target is its source backwards."""
    rows = (f"{' '.join(words)}\t{' '.join(reversed(words))}" for words in SENTENCES)
    return "\n".join(["source\ttarget", *rows]) + "\n"


def titled() -> str:
    """A document has the words of its title, twice and backwards."""
    rows = ({"title": " ".join(words), "text": " ".join(reversed(words * 2))} for words in SENTENCES)
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_examples(task: str, folder: Path) -> Path:
    name, content = {
        "classify": ("examples.tsv", labelled),
        "tag": ("examples.conll", tagged),
        "translate": ("examples.tsv", paired),
        "embed": ("documents.jsonl", titled),
    }[task]
    path = folder / name
    path.write_text(content(), encoding="utf-8")
    return path


def write_all(folder: Path) -> None:
    """A file for each kind, by the names that the documentation uses; the translation in two parallel files."""
    lines = "".join(" ".join(words) + "\n" for words in SENTENCES)
    files = {"reviews.tsv": labelled(), "entities.conll": tagged(), "train.en": lines, "train.de": lines.upper()}
    files["documents.jsonl"] = titled()
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "corpus").mkdir()
    for part in range(2):
        rows = (json.dumps({"text": f"{lines}{number}"}) + "\n" for number in range(60 * part, 60 * (part + 1)))
        (folder / "corpus" / f"{part}.jsonl.gz").write_bytes(gzip.compress("".join(rows).encode()))
