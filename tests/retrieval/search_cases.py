"""Documents for tests of retrieval."""

import json
from pathlib import Path

WORDS = ["the", "cat", "sat", "on", "the", "mat", "and", "the", "dog", "ran", "to", "the", "sea"]


def write_documents(path: Path, count: int = 40) -> Path:
    """JSON lines of texts of different lengths, some of them several passages long."""
    rows = []
    for number in range(count):
        words = [WORDS[(number * 7 + place * (number + 1)) % len(WORDS)] for place in range(1 + 37 * number % 211)]
        rows.append({"_id": f"d{number}", "title": f"Document {number}", "text": " ".join(words)})
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path
