"""The numbers of every view against the model itself."""

import math
from typing import Any

import pytest
import torch
from inspected_runs import TEXT, UntrainedRun, untrained

from seqlab.cells.cell import RecurrentCell
from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.inspection import inspect
from seqlab.inspection.reading import MAX_TEXT_TOKENS, read_text
from seqlab.inspection.sheet import Sheet
from seqlab.inspection.step import written_out


def view(name: str, *runs: UntrainedRun, text: str = TEXT, **options: Any) -> Sheet:
    return inspect(runs, text, name, options).sheets[0]


def logprobs(run: UntrainedRun, text: str = TEXT) -> torch.Tensor:
    """Of every token but the first."""
    ids_T = torch.tensor(run.tokenizer.encode(text))
    with torch.no_grad():
        logits_TV = run.model(ids_T[None, :-1])[0][0]
    return logits_TV.log_softmax(1)


# --- surprise -------------------------------------------------------------------------------------------------------


def test_surprise_is_the_loss_of_every_token() -> None:
    run = untrained()
    pieces = view("surprise", run).data["pieces"]
    expected_TV = logprobs(run)
    ids = run.tokenizer.encode(TEXT)
    assert pieces[0]["bits"] == [None]
    for t, piece in enumerate(pieces[1:]):
        assert piece["bits"] == pytest.approx([-float(expected_TV[t, ids[t + 1]]) / math.log(2)], rel=1e-5)
        (likeliest,) = piece["likeliest"]
        best = expected_TV[t].exp().sort(descending=True).values[:10]
        assert list(likeliest.values()) == pytest.approx(best.tolist(), rel=1e-5)
    assert [piece["text"] for piece in pieces] == list(TEXT.replace(" ", "·").replace("\n", "↵"))


def test_the_mean_by_position_counts_every_predicted_token_once() -> None:
    sheet = view("surprise", untrained())
    bits = [piece["bits"][0] for piece in sheet.data["pieces"]]
    (rows,) = [block.rows[1:] for block in sheet.blocks if block.title == "mean bits by position"]
    assert [row[0] for row in rows] == ["2-3", "4-7", "8-15", "16-31", "32"]
    assert [float(row[1]) for row in rows[:2]] == pytest.approx([sum(bits[1:3]) / 2, sum(bits[3:7]) / 4], abs=0.006)


def test_a_document_is_predicted_from_its_beginning() -> None:
    pieces = view("surprise", untrained(documents="lines"), text="The cat").data["pieces"]
    assert [piece["text"] for piece in pieces] == ["<begin>", *"The·cat"]
    assert all(piece["bits"][0] > 0 for piece in pieces[1:])


def test_a_masked_model_predicts_each_token_without_seeing_it() -> None:
    run = untrained("transformer-encoder")
    pieces = view("surprise", run).data["pieces"]
    ids = run.tokenizer.encode(TEXT)
    for t in (0, 5, 9):
        hidden = [run.model.mask if at % 7 == t % 7 else token for at, token in enumerate(ids)]
        with torch.no_grad():
            logprob = float(run.model(torch.tensor([hidden]))[0][0, t].log_softmax(0)[ids[t]])
        assert pieces[t]["bits"] == pytest.approx([-logprob / math.log(2)], rel=1e-5)


def test_two_runs_are_compared_between_the_boundaries_that_both_have() -> None:
    chars, words = untrained("gru"), untrained("lstm", tokenizer="word")
    text = "The cat sat on the mat,"
    sheet = view("surprise", chars, words, text=text)
    pieces = sheet.data["pieces"]
    assert "".join(piece["text"] for piece in pieces) == text.replace(" ", "·")
    assert sheet.data["runs"] == ["gru", "lstm"]
    assert len(pieces) == len(words.tokenizer.encode(text))
    alone = [piece["bits"][0] for piece in view("surprise", chars, text=text).data["pieces"]]
    second = len(pieces[0]["text"])
    assert pieces[1]["bits"][0] == pytest.approx(sum(alone[second : second + len(pieces[1]["text"])]), rel=1e-5)
    shades = {(column.shade > 0) - (column.shade < 0) for column in sheet.columns}
    leads = {(piece["bits"][0] > piece["bits"][1]) - (piece["bits"][0] < piece["bits"][1]) for piece in pieces[1:]}
    assert leads <= shades


# --- gates ----------------------------------------------------------------------------------------------------------


def test_gates_are_means_of_units_or_one_unit() -> None:
    run = untrained("gru")
    trace = read_text(run, TEXT).trace
    sheet = view("gates", run)
    assert (
        list(sheet.data["gates"]) == sheet.lanes == ["layer1.reset", "layer1.update", "layer2.reset", "layer2.update"]
    )
    for name, values in sheet.data["gates"].items():
        assert values == pytest.approx(trace[name][0].mean(1).tolist())
    third = view("gates", run, layer=2, unit=3).data["gates"]["layer2.reset"]
    assert third == pytest.approx(trace["layer2.reset"][0, :, 2].tolist())


def test_saturation_counts_values_near_zero_and_one() -> None:
    run = untrained("lstm")
    value = read_text(run, TEXT).trace["layer1.forget"]
    found = view("gates", run).data["saturation"]["layer1.forget"]
    counted = {
        "mean": value.mean(),
        "closed": (value < 0.1).sum() / value.numel(),
        "open": (value > 0.9).sum() / value.numel(),
    }
    assert found == pytest.approx({name: float(share) for name, share in counted.items()})


# --- lens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["lstm", "transformer", "lstm-attention", "feedforward"])
def test_after_the_last_layer_the_lens_shows_the_prediction_itself(arch: str) -> None:
    run = untrained(arch)
    whole = view("surprise", run).data["bits_per_token"]
    assert view("lens", run).data["bits_per_token"][-1:] == pytest.approx(whole, rel=1e-5)


def test_the_lens_of_a_transformer_is_the_final_norm_and_the_projection() -> None:
    run, ids = untrained("transformer"), torch.tensor([untrained("transformer").tokenizer.encode(TEXT)])
    trace = Trace()
    with torch.no_grad():
        run.model(ids[:, :-1], trace=trace)
        after = run.model.project(run.model.backbone.stack.last(trace["layer1"]))[0].log_softmax(1)
    found = view("lens", run).data
    assert found["layers"] == ["input", "layer1", "layer2"]
    expected = -float(after.gather(1, ids[0, 1:, None]).mean()) / math.log(2)
    assert found["bits_per_token"][1] == pytest.approx(expected, rel=1e-4)


def test_the_lens_of_a_recurrent_stack_projects_what_a_layer_passes_on() -> None:
    run = untrained("lstm")
    ids = torch.tensor([run.tokenizer.encode(TEXT)])
    trace = Trace()
    with torch.no_grad():
        run.model(ids[:, :-1], trace=trace)
        after = run.model.project(trace["layer1"])[0].log_softmax(1)
    expected = -float(after.gather(1, ids[0, 1:, None]).mean()) / math.log(2)
    assert view("lens", run).data["bits_per_token"][0] == pytest.approx(expected, rel=1e-4)


def test_one_layer_has_no_lens() -> None:
    with pytest.raises(UsageError, match="records 1 of its layers"):
        view("lens", untrained("gru", layers=1))


# --- step -----------------------------------------------------------------------------------------------------------

CELLS = {
    "rnn tanh": ("rnn", {"activation": "tanh"}),
    "rnn relu": ("rnn", {"activation": "relu"}),
    "rnn sigmoid": ("rnn", {"activation": "sigmoid"}),
    "gru after": ("gru", {"reset": "after"}),
    "gru before": ("gru", {"reset": "before"}),
    "lstm": ("lstm", {}),
}
LETTERS = {
    "rnn": ["hidden"],
    "gru": ["reset", "update", "candidate", "hidden"],
    "lstm": ["input", "forget", "candidate", "output", "cell", "hidden"],
}


@pytest.mark.parametrize("case", CELLS)
def test_the_equations_give_what_the_cell_computed(case: str) -> None:
    arch, options = CELLS[case]
    run = untrained(arch, **options)
    trace, cell, t = read_text(run, TEXT).trace, run.model.backbone.cells[1], 6
    assert isinstance(cell, RecurrentCell)
    inputs = {"x": trace["layer1"][0, t], "h": trace["layer2.hidden"][0, t - 1]}
    if arch == "lstm":
        inputs["c"] = trace["layer2.cell"][0, t - 1]
    for unit in (0, 3):
        with torch.no_grad():
            lines = written_out(cell, inputs, unit)
        expected = [float(trace[f"layer2.{name}"][0, t, unit]) for name in LETTERS[arch]]
        assert [line.result for line in lines] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    shown = view("step", run, layer=2, unit=4, position=t + 1).blocks[0]
    assert [row[2] for row in shown.rows[1:]] == [f"{value:.3f}".replace("-", "−") for value in expected]


def test_the_first_step_begins_with_zeros() -> None:
    blocks = view("step", untrained("lstm"), position=1).blocks
    (before,) = [block for block in blocks if block.title.endswith("what goes in")]
    assert set(before.rows[2][1:-1]) == set(before.rows[3][1:-1]) == {"0.000"}


def test_attention_is_written_out_for_one_head() -> None:
    run = untrained("transformer", heads=2)
    trace, t = read_text(run, TEXT).trace, 9
    equations, keys = view("step", run, layer=2, head=2, position=t + 1).blocks
    weights_S, scores_S = trace["layer2.attention.weights"][0, t, 1], trace["layer2.attention.scores"][0, t, 1]
    s = int(weights_S.argmax())
    values = [scores_S[s], weights_S[s], trace["layer2.attention.heads"][0, t, 1, 0]]
    assert [row[2] for row in equations.rows[1:]] == [f"{float(value):.3f}".replace("-", "−") for value in values]
    assert [int(row[1]) - 1 for row in keys.rows[1:]] == weights_S.argsort(descending=True)[:10].tolist()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("step", {"position": 99}, "there is no token 99: give a number from 1 to 32"),
        ("step", {"layer": 3}, "there is no layer 3: give a number from 1 to 2"),
        ("step", {"unit": 9}, "there is no unit 9: give a number from 1 to 8"),
        ("step", {"head": 1}, "has no heads"),
        ("gates", {"layer": 5}, "no layer 5 with gates"),
        ("gates", {"unit": 9}, "has no unit 9"),
        ("gates", {"head": 1}, "head does nothing in the view gates"),
        ("lens", {"layer": 1, "unit": 2}, "layer and unit do nothing in the view lens"),
        ("surprise", {"position": 1}, "position does nothing in the view surprise"),
        ("sunrise", {}, "unknown view 'sunrise'"),
    ],
)
def test_what_does_not_apply_is_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        view(name, untrained("lstm"), **options)


def test_an_option_needs_a_view() -> None:
    with pytest.raises(UsageError, match="unit does nothing without a view"):
        inspect([untrained()], TEXT, None, {"unit": 1})


def test_texts_that_cannot_be_shown_are_refused() -> None:
    run = untrained()
    for other in (run, untrained(documents="lines")):
        with pytest.raises(UsageError, match="the text is empty"):
            read_text(other, "")
    with pytest.raises(UsageError, match="2,001 tokens: a view shows at most 2,000"):
        read_text(run, "a" * (MAX_TEXT_TOKENS + 1))
    with pytest.raises(UsageError, match="the text has 9 tokens: the model reads at most 8"):
        read_text(untrained("transformer", positions="learned", context=8), "The cat s")
    with pytest.raises(UsageError, match="shows one run at a time: 2 were given"):
        view("gates", run, run)
