"""How far back models look, in the report: the words, the stretch of text, and results that have none."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from comparison_cases import realistic
from hypothesis import given
from hypothesis import strategies as st

from seqlab.comparison.judgment.distances import held_out_stretch
from seqlab.comparison.report.look_back import look_back_figure, look_back_pictures, look_back_sentence
from seqlab.comparison.report.page import page
from seqlab.comparison.results import NAME, Distances, read_comparison, write_comparison
from seqlab.data.text.tokens import SplitStats, TokenSplit
from seqlab.plotting import COLORS


def looked(*memories: list[float]) -> list[Distances]:
    return [Distances(f"m{place}", 0, 8, memory, memory) for place, memory in enumerate(memories)]


@pytest.mark.parametrize(
    ("memories", "words"),
    [
        ([[1.0, 0.5, 0.0], [1.0, 0.0, 0.0]], "m0 uses the last 2 tokens, m1 1; what"),
        ([[1.0, 0.0, 0.0], [1.0, 0.001, 0.5]], "m1 uses at least the last 3 tokens, m0 1; what"),
        ([[1.0, 0.001, 0.0]], "m0 uses the last 1 token; what"),
        ([[0.0, 0.0]], "m0 uses the last 0 tokens; what"),
    ],
)
def test_the_reach_is_said_in_words(memories: list[list[float]], words: str) -> None:
    assert look_back_sentence(replace(realistic(), distances=looked(*memories))).startswith(words)


def test_the_charts_show_every_entrant_in_its_color() -> None:
    results = realistic()
    memory, gradients = look_back_figure(results).axes
    for axes, of in ((memory, "memory"), (gradients, "gradients")):
        lines = {line.get_label(): line for line in axes.get_lines()}
        for index, each in enumerate(results.distances):
            line = lines[each.name]
            values_K = np.array(getattr(each, of))
            assert line.get_color() == COLORS[index] and axes.get_yscale() == "log"
            assert line.get_ydata() == pytest.approx(values_K[values_K > 0])
        assert "zero" in lines  # behind the context of the Transformer
    assert [picture.alt.split(" by ")[0] for picture in look_back_pictures(results)] == [
        "Change of the prediction (bits)", "Norm of d loss / d input",
    ]  # fmt: skip


def test_results_without_distances_are_still_shown(tmp_path: Path) -> None:
    write_comparison(realistic(), tmp_path)
    assert read_comparison(tmp_path) == realistic()
    assert look_back_sentence(realistic()) in page(realistic())
    content = json.loads((tmp_path / NAME).read_text())
    del content["distances"]
    (tmp_path / NAME).write_text(json.dumps(content))
    shown = page(read_comparison(tmp_path))
    assert "Distances were not measured." in shown and "further back changes" not in shown


@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=6), wanted=st.integers(1, 40))
def test_the_stretch_is_the_beginning_of_one_document(
    lengths: list[int], wanted: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tokens")
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    np.arange(starts[-1], dtype=np.uint16).tofile(folder / "validation.ids")
    starts.tofile(folder / "validation.starts")
    stats = SplitStats(
        tokens=int(starts[-1]),
        documents=len(lengths),
        longest=max(lengths),
        characters=0,
        bytes=0,
        scored_characters=0,
        scored_bytes=0,
        unknown=0,
    )
    ids = held_out_stretch(TokenSplit(folder, "validation", np.dtype(np.uint16), stats), wanted)
    assert len(ids) == min(wanted, max(lengths)) and ids[0] in starts
    assert ids == list(range(ids[0], ids[0] + len(ids)))
    assert ids[-1] < starts[starts > ids[0]].min()
