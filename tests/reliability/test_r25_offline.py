"""R25: the commands open no network connection."""

import json
import subprocess
import sys
from pathlib import Path

from reliability_runs import TEXT, TINY_OPTIONS, environment

# found by every Python that has this folder on its path, before anything else runs
NO_NETWORK = """
import socket, sys
def refuse(*arguments, **options):
    sys.stderr.write(f"NETWORK {arguments[:2]}\\n")
    raise OSError("no network in this test")
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, refuse)
for name in ("getaddrinfo", "create_connection", "gethostbyname"):
    setattr(socket, name, refuse)
"""
COMMANDS = [
    ["train", "toy-words", "--steps", "2", "--out", "toy", *TINY_OPTIONS],
    [
        "train",
        "python-docs",
        "--steps",
        "2",
        "--out",
        "docs",
        "--tokenizer",
        "bpe",
        "--vocab-size",
        "300",
        *TINY_OPTIONS,
    ],
    ["train", "my.txt", "--steps", "2", "--out", "mine", "--documents", "lines", *TINY_OPTIONS],
    ["train", "my.txt", "--steps", "2", "--out", "tuned", "--init", "toy", "--window", "16"],
    ["resume", "mine", "--more", "2"],
    ["generate", "toy", "--prompt", "the", "-l", "5"],
    ["generate", "docs", "--beam", "2", "-l", "5"],
    ["generate", "mine", "-n", "2", "-l", "5", "--json"],
    ["evaluate", "toy", "--json"],
    ["evaluate", "toy", "my.txt", "--mode", "carry"],
    ["doctor", "my.txt"],
    ["runs", "."],
    *(["list", kind] for kind in ("archs", "corpora", "tokenizers", "tasks", "recipes")),
    ["--version"],
    ["train", "--help"],
]
PROGRAM = """
import json, sys
from seqlab.__main__ import main
for command in json.loads(sys.argv[1]):
    sys.argv = ["seqlab", *command]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{command} ended with {ended.code}")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(NO_NETWORK)
    command = [sys.executable, *arguments]
    paths = environment(PYTHONPATH=folder, SEQLAB_CACHE=folder / "cache", SEQLAB_DATA="")
    return subprocess.run(command, cwd=folder, env=paths, capture_output=True, text=True, timeout=250, check=False)


def test_the_commands_work_without_a_network(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text(TEXT)
    done = run(tmp_path, "-c", PROGRAM, json.dumps(COMMANDS))
    assert done.returncode == 0, done.stderr
    assert "NETWORK" not in done.stderr


def test_the_guard_works_and_a_download_is_said_plainly(tmp_path: Path) -> None:
    """The one corpus that has to be fetched: without a network, what to do instead."""
    done = run(tmp_path, "-m", "seqlab", "train", "tiny-shakespeare", "--steps", "1")
    assert "NETWORK" in done.stderr
    assert done.returncode == 66 and "Traceback" not in done.stderr
    assert "SEQLAB_DATA" in done.stderr and "toy-words" in done.stderr
