"""Units that follow a property of the text, and what chance would find."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from inspected_runs import UntrainedRun, untrained

from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.inspection.cells import chance, correlations
from seqlab.inspection.inspection import inspect
from seqlab.inspection.properties import capitals, indentation, inside_quotes, position_in_line, read_property
from seqlab.inspection.sheet import Sheet

DRAW = random.Random(0)
PIECES = ("The cat", " sat on the mat", ",\n", '"and I ran"', ".\n", "The dog said: ", '"The mat"', " ", "I and T")
TEXT = "".join(DRAW.choices(PIECES, k=40))  # in no order, so that no shift of it looks like another


def view(run: UntrainedRun, follow: str | None = None, text: str = TEXT) -> Sheet:
    return inspect([run], text, "cells", {"follow": follow}).sheets[0]


@pytest.fixture
def sees_capitals() -> UntrainedRun:
    """An RNN whose unit 3 is 1 after a capital letter and nearly 0 otherwise, but for the sign."""
    run = untrained("rnn", layers=1)
    cell, weight = run.model.backbone.cells[0], run.model.embedding.weight
    with torch.no_grad():
        weight[:, 0] = torch.tensor([float(token.isupper()) for token in run.tokenizer.tokens()])
        for parameter in cell.parameters():
            parameter[2] = 0
        cell.weight_ih[2, 0] = -4.0
    return run


def test_a_unit_that_follows_capitals_is_found(sees_capitals: UntrainedRun) -> None:
    sheet = view(sees_capitals, "capitals")
    (first, *_), chance_found = sheet.data["units"].items(), sheet.data["chance"]
    assert first[0] == "layer1 unit 3" and first[1]["second"] == pytest.approx(-1, abs=1e-5)
    assert chance_found["quantile_95"] <= chance_found["largest"] < 0.99
    assert "more than the" in sheet.sentence and "no more than" not in sheet.sentence
    # turned so that it follows the property
    assert all((column.shade > 0) == column.token.isupper() for column in sheet.columns)


def test_a_unit_is_left_out_as_ablate_does_it(sees_capitals: UntrainedRun) -> None:
    without = view(sees_capitals, "capitals").data["without"]
    every = inspect([sees_capitals], TEXT, "ablate", {"layer": 1}).sheets[0].data["change"]
    assert without["best"] == pytest.approx(every["layer1 unit 3"], abs=1e-6)
    rest = [every[name] for name in every if name != "layer1 unit 3"]
    assert sorted(without["others"]) == pytest.approx(sorted(rest), abs=1e-6)


def test_correlations_are_those_of_numpy() -> None:
    draw = np.random.default_rng(1)
    values_TU, wanted_T = draw.normal(size=(30, 4)), draw.normal(size=30)
    values_TU[:, 3] = 2.0  # never changes
    expected = [np.corrcoef(values_TU[:, u], wanted_T)[0, 1] for u in range(3)]
    assert correlations(values_TU, wanted_T[None])[0] == pytest.approx([*expected, 0.0])


def test_chance_is_what_the_search_finds_in_noise() -> None:
    """The best of 200 units on half the text looks good there; on the other half it is noise again."""
    draw = np.random.default_rng(2)
    values_TU, wanted_T = draw.normal(size=(400, 200)), draw.normal(size=400)
    found = np.abs(correlations(values_TU[:200], wanted_T[None, :200])).max()
    assert found > 0.15
    assert np.median(chance(values_TU, wanted_T)) < 0.08


@pytest.mark.parametrize("arch", ["lstm", "transformer", "feedforward"])
def test_every_family_has_units(arch: str) -> None:
    names = list(view(untrained(arch), "line").data["units"])
    assert len(names) == len(set(names)) == 10


def test_properties_of_a_text() -> None:
    assert inside_quotes('a "b" «c»') == [0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert position_in_line("ab\ncd") == [1, 2, 0, 1, 2]
    assert indentation("  a b\n\tc\nd") == [1, 2, 2, 2, 2, 0, 1, 1, 0, 0]
    assert capitals("aBC") == [0, 1, 1]


def test_labels_from_a_file(tmp_path: Path, sees_capitals: UntrainedRun) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text(" ".join(f"{float(c.isupper()):g}" for c in TEXT), encoding="utf-8")
    assert next(iter(view(sees_capitals, str(labels)).data["units"])) == "layer1 unit 3"
    with pytest.raises(DataError, match="2 numbers: expected a finite one for each of the 3 characters"):
        labels.write_text("1 0", encoding="utf-8")
        read_property(str(labels), "abc")
    with pytest.raises(DataError, match="does not consist of numbers"):
        labels.write_text("1 x", encoding="utf-8")
        read_property(str(labels), "ab")
    with pytest.raises(MissingInput, match="cannot be read"):
        read_property(str(tmp_path / "no.txt"), "ab")
    with pytest.raises(UsageError, match=r"'quote' is no property \(did you mean 'quotes'\?\)"):
        read_property("quote", "ab")


def test_a_property_that_never_changes_is_refused() -> None:
    with pytest.raises(UsageError, match="'quotes' never changes in the first half"):
        view(untrained(), text="The cat sat on the mat and the dog ran")
    with pytest.raises(UsageError, match="cells needs at least 8"):
        view(untrained(), "line", text="The cat")
