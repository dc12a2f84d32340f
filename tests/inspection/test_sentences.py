"""What views say in words about a text, a model or an answer that is not the usual one."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from inspected_runs import TEXT, UntrainedRun, untrained

from seqlab.errors import SeqlabWarning, UsageError
from seqlab.inspection.backward import Backward
from seqlab.inspection.inspection import inspect
from seqlab.inspection.maps import map_charts
from seqlab.inspection.sheet import Sheet
from seqlab.plotting import new_figure


def view(name: str, *runs: UntrainedRun, text: str = TEXT, target: str | None = None, **options: Any) -> Sheet:
    return inspect(runs, text, name, options, target).sheets[0]


# --- ablate ---------------------------------------------------------------------------------------------------------


def test_the_part_that_is_named_is_the_one_that_is_missed_most() -> None:
    sheet = view("ablate", untrained("lstm"))
    part, change = max(sheet.data["change"].items(), key=lambda item: item[1])
    assert change > 0.001 and f"{part} raises that most" in sheet.sentence


def test_no_part_is_missed_by_a_model_that_predicts_the_same_whatever_it_reads() -> None:
    run = untrained("lstm")
    torch.nn.init.zeros_(run.model.output.weight)
    sentence = view("ablate", run).sentence
    assert "none is missed" in sentence and "most" not in sentence


def test_the_largest_differences_have_a_unit_and_a_position() -> None:
    sheet = view("surprise", untrained("gru"), untrained("lstm"))
    table, pieces = sheet.blocks[0], sheet.data["pieces"]
    assert table.title == "the largest differences, in bits" and table.rows[0][2] == "position"
    for text, _, position, *bits in table.rows[1:]:
        piece = pieces[int(position) - 1]
        assert (piece["text"], [f"{bit:.2f}" for bit in piece["bits"]]) == (text, bits)


# --- gradients ------------------------------------------------------------------------------------------------------


def test_a_factor_is_given_only_where_the_curve_is_a_line() -> None:
    distances = np.arange(12)
    for norms_K, straight in (
        (0.5**distances, True),
        (np.full(12, 3.0) + 0.01 * (distances % 2), True),
        (np.where(distances == 1, 1.0, 0.01) * 1.1**distances, False),
        (np.eye(12)[0], False),
    ):
        assert Backward(norms_K, None).straight is straight
    window = view("gradients", untrained("feedforward", span=2))
    assert "by no single factor (no straight line, 1 to" in window.sentence and "nan" not in window.sentence
    recurrent = view("gradients", untrained("rnn", layers=1))
    assert re.search(r"in rnn by 0\.\d{3} on average \(1 to \d+ tokens back\)", recurrent.sentence)


# --- attention ------------------------------------------------------------------------------------------------------


def test_a_map_says_which_tokens_look_at_which() -> None:
    maps = view("attention", untrained("transformer"), text="The cat").maps
    assert maps is not None
    axes = new_figure(4, 4).subplots()
    map_charts(maps)[1].draw(axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("token that is looked at", "token that looks")


# --- a text of one token --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["surprise", "lens", "ablate", "attribution"])
def test_a_single_token_is_predicted_from_nothing(name: str) -> None:
    with pytest.raises(UsageError, match="the text has one token, and nothing before it predicts it"):
        view(name, untrained(), text="T")


def test_two_runs_that_share_no_predicted_piece_are_refused() -> None:
    with pytest.raises(UsageError, match="no piece of the text is predicted by both runs"):
        view("surprise", untrained("gru"), untrained("lstm", tokenizer="word", documents="lines"), text="The")


@pytest.mark.parametrize("name", ["gradients", "memory", "cells"])
def test_one_token_is_one_token(name: str) -> None:
    with pytest.raises(UsageError, match="the text has 1 token:"):
        view(name, untrained(), text="T")


# --- unknown tokens -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
def test_unknown_tokens_in_the_mean_are_counted() -> None:
    assert "unknown" not in view("surprise", untrained()).sentence
    assert view("surprise", untrained(), text="The zebra").sentence.endswith("This counts 2 unknown tokens for lstm.")
    first = view("surprise", untrained(), text="zThe")  # which nothing predicts
    assert "unknown" not in first.sentence
    target = view("surprise", untrained("gru", "translate"), text="The cat", target="THE z")
    assert target.sentence.endswith("This counts 1 unknown token for gru.")


@pytest.mark.parametrize("task", ["classify", "translate", "tag"])
def test_unknown_input_is_named(task: str) -> None:
    with pytest.warns(SeqlabWarning, match="z.*encoded as the unknown token"):
        view("attribution", untrained("gru", task), text="The zoo")


def test_unknown_words_in_a_target_are_named_and_those_in_pieces_too() -> None:
    with pytest.warns(SeqlabWarning, match="'z'.*encoded as the unknown token"):
        view("surprise", untrained("gru", "translate"), text="The cat", target="THE z")
    with pytest.warns(SeqlabWarning, match="'z'.*encoded as the unknown token"):
        view("surprise", untrained("gru", "tag", tokenizer="char"), text="The zoo")


# --- translators ----------------------------------------------------------------------------------------------------


def test_a_translator_shows_both_texts_and_that_its_own_was_cut_off() -> None:
    own = inspect([untrained("gru", "translate")], "The cat", "surprise", {})
    assert str(own).startswith("source: The cat\ntarget: ") and "cut off after tokens: 9\n" in str(own)
    (texts,) = own.as_dict()["texts"]
    assert texts["source"] == "The cat" and texts["cut_off_after_tokens"] == 9
    assert "which it chose itself, cut off after 9 tokens." in own.sheets[0].sentence
    given = inspect([untrained("gru", "translate")], "The cat", None, {}, "THE MAT")
    assert given.as_dict()["texts"] == [{"source": "The cat", "target": "THE MAT"}]
    assert "cut off" not in str(given) and "texts" not in inspect([untrained()], TEXT, "surprise", {}).as_dict()


# --- taggers --------------------------------------------------------------------------------------------------------


def test_what_surprises_a_tagger_are_tags() -> None:
    sheet = view("surprise", untrained(task="tag"), text="The cat sat")
    assert sheet.blocks[0].title == "the most surprising tags"
