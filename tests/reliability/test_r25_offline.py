"""R25: the commands open no network connection."""

import json
import subprocess
import sys

import pytest
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
    sys.stderr.write(f"COMMAND {json.dumps(command)}\\n")
    sys.argv = ["seqlab", *command]
    try:
        main()
    except SystemExit as ended:
        sys.stderr.write(f"ENDED {ended.code or 0}\\n")
"""
DOWNLOAD = ["train", "tiny-shakespeare", "--steps", "1"]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command wrote to standard error; all run in one process without a network."""
    folder = tmp_path_factory.mktemp("offline")
    (folder / "sitecustomize.py").write_text(NO_NETWORK)
    (folder / "my.txt").write_text(TEXT)
    paths = environment(PYTHONPATH=folder, SEQLAB_CACHE=folder / "cache", SEQLAB_DATA="")
    program = [sys.executable, "-c", PROGRAM, json.dumps([*COMMANDS, DOWNLOAD])]
    done = subprocess.run(program, cwd=folder, env=paths, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    commands = done.stderr.split("COMMAND ")[1:]
    return {command: said for command, _, said in (answer.partition("\n") for answer in commands)}


def test_the_commands_work_without_a_network(ended: dict[str, str]) -> None:
    for command in COMMANDS:
        said = ended[json.dumps(command)]
        assert said.endswith("ENDED 0\n") and "NETWORK" not in said, (command, said)


def test_the_guard_works_and_a_download_is_said_plainly(ended: dict[str, str]) -> None:
    """The one corpus that has to be fetched: without a network, what to do instead."""
    said = ended[json.dumps(DOWNLOAD)]
    assert "NETWORK" in said
    assert said.endswith("ENDED 66\n") and "Traceback" not in said
    assert "SEQLAB_DATA" in said and "toy-words" in said
