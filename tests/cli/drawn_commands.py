"""Commands drawn from the options' own declarations: extreme, missing and contradictory values, and odd files."""

import random
from collections.abc import Iterator
from pathlib import Path

from typer.main import get_command

from seqlab.cli.app import app

NUMBERS = ("0", "-1", "1", "3", "99999999999999999999", "nan", "inf", "1e400", "x", "")
WORDS = ("", "none", "lstm", "-", "\x1b[31m", "é" * 300, "no:where", "0", "{}", "steps=", "params=-1", "a,b")
SETTINGS = ("train.lr=-1", "x.y=1", "train.steps=[]", "backbone.name=5", "task.window=0", "=", "train.lr")
FILES: dict[str, bytes] = {
    "empty.txt": b"",
    "latin.txt": b"caf\xe9\n" * 50,
    "nul.txt": b"a\0b\n" * 50,
    "short.txt": b"hello\n",
    "table.csv": b"text,label\nyes,a\nno,b\n",
    "broken.csv": b'text,label\n"yes,a\n',
    "broken.toml": b"[train\nlr=",
    "config.json": b"{}",
    "run/config.json": b"{}",
    "run/manifest.json": b"[]",
    "comparison/plan.json": b'{"models": [], "seeds": []}',
    "comparison/best": b"\xff",
}
# they train for minutes if nothing is wrong with the other options
BOUNDED = {"train": ["--steps", "1"], "compare": ["--budget", "steps=1", "--tune", "0"], "distill": ["--tune", "0"]}


def write_files(folder: Path) -> None:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def drawn_commands(seed: int) -> Iterator[list[str]]:
    """Commands without end; `demo` takes no data and trains for minutes."""
    draw = random.Random(seed)
    commands = {name: command for name, command in get_command(app).commands.items() if name != "demo"}  # pyright: ignore[reportAttributeAccessIssue]
    places = [*FILES, "run", "comparison", ".", "nothere", "", "/dev/null"]
    while True:
        name = draw.choice(list(commands))
        words = [name]
        for parameter in commands[name].params:
            required = parameter.param_type_name == "argument"
            if not required and draw.random() > 0.15:
                continue
            if required and draw.random() < 0.1:
                continue
            words += [] if required else [draw.choice(parameter.opts)]
            if getattr(parameter, "is_flag", False):
                continue
            kind = parameter.bare_type()
            if "--set" in parameter.opts:
                words.append(draw.choice(SETTINGS))
            elif kind in ("int", "float"):
                words.append(draw.choice(NUMBERS))
            else:
                words.append(draw.choice(places if required or "Path" in kind else WORDS))
        yield [*words, *BOUNDED.get(name, [])]
