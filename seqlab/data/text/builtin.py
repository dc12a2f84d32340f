"""Built-in texts."""

import hashlib
import os
import random
import sys
import tempfile
import urllib.request
from http.client import HTTPException
from pathlib import Path

from seqlab.cache import cache_directory
from seqlab.data.encoding import UTF8
from seqlab.data.files import InputFixes
from seqlab.data.text.corpus import Corpus, corpus_from_files, corpus_from_text
from seqlab.errors import MissingInput

SHAKESPEARE_HOME = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
SHAKESPEARE_SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"

SHORT_PARAGRAPH = 40  # characters; headings may repeat

TOY_SENTENCE = "the cat sat on a mat and the dog ran to see the red sun set over my old sea hut by an oak tree"

TOY_SENTENCES = (
    "The cat sat on the mat",
    "The dog sat on the rug",
    "A cat saw the dog",
    "The dog saw a bird",
    "The bird sat on the tree",
    "A bird sang to the cat",
    "The cat ran to the tree",
    "The dog ran to the mat",
    "A dog slept on the rug",
    "The cat slept on the mat",
)


def python_docs() -> Corpus:
    """The language reference that comes with Python; its text varies with the version."""
    from pydoc_data.topics import topics

    version = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    text = "\n".join(topics[name].strip("\n") + "\n" for name in sorted(topics))
    return corpus_from_text(_deduplicate(text), "python-docs", about=f"the language reference of Python {version}")


def _deduplicate(text: str) -> str:
    """Remove repeated paragraphs: several topics quote the same ones, which would leak into held-out text."""
    seen: set[str] = set()
    paragraphs = []
    for paragraph in text.split("\n\n"):
        words = " ".join(paragraph.split())
        if len(words) <= SHORT_PARAGRAPH or words not in seen:
            paragraphs.append(paragraph)
        seen.add(words)
    return "\n\n".join(paragraphs)


def toy_words() -> Corpus:
    """20,000 short words in random order, ten per line, from a fixed seed."""
    draw = random.Random(0)
    words = TOY_SENTENCE.split()
    lines = (" ".join(draw.choice(words) for _ in range(10)) for _ in range(2000))
    return corpus_from_text("\n".join(lines) + "\n", "toy-words", about="short words in random order")


def toy_sentences() -> Corpus:
    """Ten short sentences, the same few words in several places."""
    return corpus_from_text("\n".join(TOY_SENTENCES) + "\n", "toy-sentences", about="ten short sentences")


def tiny_shakespeare() -> Corpus:
    """From SEQLAB_DATA, the cache or its public home, in this order; the SHA-256 is always checked."""
    folder = os.environ.get("SEQLAB_DATA")
    cached = cache_directory("corpora") / "tiny-shakespeare.txt"
    candidates = [Path(folder) / "tiny-shakespeare" / "input.txt"] if folder else []
    for path in [*candidates, cached]:
        if path.is_file() and _sha256(path.read_bytes()) == SHAKESPEARE_SHA256:
            return corpus_from_files({path: UTF8}, "tiny-shakespeare", InputFixes())
    _download(SHAKESPEARE_HOME, SHAKESPEARE_SHA256, cached)
    return corpus_from_files({cached: UTF8}, "tiny-shakespeare", InputFixes())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _download(address: str, sha256: str, target: Path) -> None:
    """Download, check, then move into place, so a broken download is never used."""
    advice = (
        "Set SEQLAB_DATA to a folder with tiny-shakespeare/input.txt, "
        "or use a built-in corpus that needs no network: python-docs, toy-words."
    )
    try:
        with urllib.request.urlopen(address, timeout=30) as response:
            content = response.read()
    except (OSError, HTTPException) as error:
        raise MissingInput(
            f"tiny-shakespeare is not on this machine and {address} cannot be read: {error}. {advice}"
        ) from None
    if _sha256(content) != sha256:
        raise MissingInput(f"{address} did not send tiny-shakespeare: the SHA-256 differs. {advice}")
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as stream:
        stream.write(content)
    Path(stream.name).replace(target)
