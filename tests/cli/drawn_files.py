"""Files to give to commands: good ones, odd ones, and runs, some of which are then damaged."""

import gzip
import os
import random
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from example_files import SENTENCES, labelled, paired, tagged

WORDS = "".join(" ".join(words) + "\n" for words in SENTENCES)
VARIED = " ".join(map(str, random.Random(0).sample(range(10_000), 600)))  # no two stretches are alike
GOOD: dict[str, bytes] = {
    "text.txt": (WORDS + VARIED).encode(),
    "other.txt": WORDS.upper().encode(),
    "table.tsv": labelled().encode(),
    "table.csv": labelled().replace("\t", ",").encode(),
    "tags.conll": tagged().encode(),
    "pairs.tsv": paired().encode(),
    "pairs.en": WORDS.encode(),
    "pairs.de": WORDS.upper().encode(),
    "documents.jsonl": "".join(
        f'{{"_id": "d{n}", "title": "stone {n}", "text": "red fish {n}"}}\n' for n in range(30)
    ).encode(),
    "queries.jsonl": b"".join(b'{"_id": "q%d", "text": "fish %d"}\n' % (n, n) for n in range(5)),
    "qrels.tsv": b"query-id\tcorpus-id\tscore\n" + b"".join(b"q%d\td%d\t1\n" % (n, n) for n in range(5)),
    "good.toml": b"[backbone]\nname = 'gru'\nhidden = 8\n",
}
ODD: dict[str, bytes] = {
    "empty.txt": b"",
    "short.txt": b"hello\n",
    "one.txt": b"a" * 3000,
    "newlines.txt": b"\n" * 3000,
    "spaces.txt": b" \t" * 1500,
    "line.txt": b"word " * 4000,
    "crlf.txt": b"\xef\xbb\xbf" + WORDS.replace("\n", "\r\n").encode(),
    "cr.txt": WORDS.replace("\n", "\r").encode(),
    "latin.txt": b"caf\xe9\n" * 50,
    "nul.txt": b"a\0b\n" * 50,
    "utf16.txt": WORDS.encode("utf-16"),
    "surrogate.txt": b"\xed\xa0\x80 lone\n" * 50,
    "emoji.txt": "👩‍👩‍👧 é é \u202eabc\u2028\x85\x0b\x1b[31m\n".encode() * 60,
    "bytes.txt": bytes(range(1, 256)) * 10,
    "bad.txt.gz": b"\x1f\x8b\x08 no more",
    "good.txt.gz": gzip.compress(WORDS.encode() * 3),
    "two.csv": b"text,label\nyes,a\nno,b\n",
    "broken.csv": b'text,label\n"yes,a\n',
    "header.csv": b"text,label\n",
    "ragged.tsv": b"text\tlabel\nyes\ta\tb\nno\n\tc\n" * 20,
    "one-label.csv": b"text,label\n" + b"yes,a\n" * 40,
    "semicolons.csv": labelled().replace("\t", ";").encode(),
    "lines.jsonl": b'{"text": "yes", "label": "a"}\n{"text": 5}\n[]\nnull\n' * 20,
    "deep.jsonl": b'{"text": ' * 5000,
    "bad.conll": b"a B-x\nb\n\nc I-y z\n" * 20,
    "tree.conllu": b"# text\n1-2\tx\n1\ta\ta\tNOUN\n" * 20,
    "fewer.de": b"one line\n",
    "empty.de": b"\n" * 60,
    "broken.toml": b"[train\nlr=",
    "odd.toml": b"train = 5\n[backbone]\nname = []\n",
    "digits.toml": b"x = " + b"9" * 5000,
    "config.json": b"{}",
    "foreign/config.json": b"{}",
    "foreign/manifest.json": b"[]",
    "planned/plan.json": b'{"models": [], "seeds": []}',
    "planned/best": b"\xff",
    "planned/results.json": b'{"format": "seqlab-comparison", "version": 1}',
    "splits/train.txt": WORDS.encode(),
    "splits/valid.txt": b"hello\n",
    "splits/test.txt": b"",
    "odd \x1b[31m name'$(x).txt": WORDS.encode(),
}
# commands that make runs of every kind; a comparison takes longer than all of them
TINY = ["--steps", "2", "--hidden", "8", "--embedding", "8", "--batch-size", "4", "--threads", "1"]
RUNS: dict[str, list[str]] = {
    "writer": ["train", "text.txt", "--arch", "gru", "--window", "16", *TINY],
    "transformer": [
        "train",
        "text.txt",
        "--arch",
        "transformer",
        "--window",
        "16",
        "--split-ratios",
        "80/10/10",
        *TINY,
    ],
    "lines": ["train", "text.txt", "--documents", "lines", "--tokenizer", "word", *TINY],
    "masked": ["train", "text.txt", "--task", "masked", "--arch", "transformer-encoder", "--window", "16", *TINY],
    "labels": ["train", "table.tsv", *TINY],
    "tags": ["train", "tags.conll", *TINY],
    "pairs": ["train", "pairs.en", "pairs.de", *TINY],
}
COMPARISON = ["compare", "text.txt", "--archs", "rnn,gru", "--seeds", "1", "--budget", "steps=2", "--tune", "0",
              "--match", "params=500", "--window", "16", "--jobs", "1"]  # fmt: skip


def write_files(folder: Path) -> None:
    for name, content in (GOOD | ODD).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")


def drawn_text(draw: random.Random) -> bytes:
    """A text of symbols that a draw has chosen, bytes that are no UTF-8 now and then."""
    if draw.random() < 0.2:
        return draw.randbytes(draw.choice((1, 100, 5000)))
    symbols = draw.sample("abc \n\t\r,;\"'\\é日😀\u0301\u200b\ufeff\x00\x1b_-#<unk>", draw.randint(1, 8))
    return "".join(draw.choices(symbols, k=draw.choice((1, 63, 64, 700, 5000)))).encode()


def damage(folder: Path, words: list[str], draw: random.Random) -> str:
    """Spoil one file of the runs that a command names, or of any, and say how."""
    named = [folder / word for word in words if word.startswith("runs/")]
    files = sorted(path for place in named or [folder / "runs"] for path in place.rglob("*") if path.is_file())
    files = [path for path in files if not path.is_symlink()]
    if not files:
        return "nothing to damage"
    path, how = draw.choice(files), draw.choice(("cut", "flip", "empty", "junk", "gone", "folder", "pipe", "link"))
    content = path.read_bytes()
    path.unlink()
    if how == "cut":
        path.write_bytes(content[: draw.randrange(len(content) + 1)])
    elif how == "flip":
        at = draw.randrange(max(1, len(content)))
        path.write_bytes(content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :])
    elif how in ("empty", "junk"):
        path.write_bytes(b"" if how == "empty" else draw.choice((b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 3000)))
    elif how == "folder":
        path.mkdir()
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "link":
        path.symlink_to("nowhere")
    return f"{how} {path.relative_to(folder)}"


def copy_prepared(prepared: Path, folder: Path) -> None:
    """The files and the runs, as a command may change them."""
    for path in prepared.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, folder / path.name, symlinks=True)
        elif path.is_symlink():
            (folder / path.name).symlink_to(path.readlink())
        elif path.is_file():
            shutil.copyfile(path, folder / path.name)
        else:
            os.mkfifo(folder / path.name)
