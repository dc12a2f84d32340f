"""The help of every command: natural options, and examples that can be typed."""

import shlex
from pathlib import Path

import pytest
import typer

from seqlab.cli.app import app

COMMANDS = typer.main.get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]


def examples(name: str) -> list[str]:
    return [line.strip() for line in COMMANDS[name].epilog.split("\n\n")[1:]]


@pytest.mark.parametrize("name", COMMANDS)
def test_it_ends_with_examples_that_fit_a_terminal(name: str, seqlab) -> None:
    assert 2 <= len(examples(name)) <= 3
    shown = seqlab(name, "--help").out
    for example in examples(name):
        assert len(example) < 80 and example in shown.split("Examples:")[1], example


@pytest.mark.parametrize("name", COMMANDS)
def test_its_examples_parse(name: str) -> None:
    for example in examples(name):
        program, command, *arguments = shlex.split(example)
        assert (program, command) == ("seqlab", name)
        COMMANDS[name].make_context(name, arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is(name: str) -> None:
    command = COMMANDS[name]
    assert command.help.endswith(".") and "\n" not in command.help.strip()
    for parameter in command.params:
        assert parameter.help and parameter.help[-1] == ".", parameter.name


def test_the_changelog_has_every_command() -> None:
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert not [name for name in COMMANDS if f"`seqlab {name}" not in changelog]
