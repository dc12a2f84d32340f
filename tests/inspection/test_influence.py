"""Attention, memory and ablation against direct computations."""

import base64
import math

import numpy as np
import pytest
import torch
from inspected_runs import TEXT, UntrainedRun, untrained

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.ablate import bits_per_answer
from seqlab.inspection.attention import habits, rollout
from seqlab.inspection.inspection import inspect
from seqlab.inspection.maps import packed_maps
from seqlab.inspection.memory import changed, divergences
from seqlab.inspection.reading import read_text
from seqlab.inspection.sheet import WeightMap, WeightMaps

# --- memory ---------------------------------------------------------------------------------------------------------


def test_a_window_forgets_what_has_left_it() -> None:
    run = untrained("feedforward", span=3)
    bits_K = divergences(run.model, read_text(run, TEXT).ids)
    assert (bits_K[:3] > 1e-6).all() and (bits_K[3:] < 1e-9).all()
    assert "as far as 2 tokens back" in inspect([run], TEXT, "memory", {}).sheets[0].sentence


def test_several_runs_are_curves_in_one_chart() -> None:
    sheet = inspect([untrained("rnn"), untrained("gru"), untrained("transformer")], TEXT, "memory", {}).sheets[0]
    assert sheet.blocks[0].rows[0][1:] == ["rnn", "gru", "transformer"] and len(sheet.charts) == 1


def test_memory_is_the_divergence_of_the_predictions() -> None:
    run = untrained("gru")
    reading = read_text(run, "The cat")
    ids_T = torch.tensor(reading.ids)
    found = []
    for s in range(3):
        other_T = changed(ids_T, s)
        assert (other_T != ids_T).sum() == 1 and other_T[s] != ids_T[s]
        with torch.no_grad():
            p_TV, q_TV = (run.model(some[None])[0][0].softmax(1).double() for some in (ids_T, other_T))
        found.append((p_TV * (p_TV / q_TV).log2()).sum(1)[s : s + 4])
    assert divergences(run.model, reading.ids) == pytest.approx(torch.stack(found).mean(0).numpy(), rel=1e-3, abs=1e-7)


# --- ablation -------------------------------------------------------------------------------------------------------


def test_a_head_that_is_left_out_is_gone_from_the_output() -> None:
    run = untrained("transformer", heads=2)
    found = inspect([run], TEXT, "ablate", {"how": "zero"}).sheets[0].data
    reading = read_text(run, TEXT)
    whole = bits_per_answer(reading)
    assert found["bits_per_token"] == pytest.approx(whole, rel=1e-5)
    run.model.backbone.stack.blocks[1].attention.out.weight.data[:, :4] = 0
    change = bits_per_answer(read_text(run, TEXT)) - whole
    assert found["change"]["layer2.attention head 1"] == pytest.approx(change, abs=1e-5) and abs(change) > 1e-4


def test_without_what_the_last_layer_says_only_the_bias_is_left() -> None:
    run = untrained("lstm")
    change = inspect([run], TEXT, "ablate", {"how": "zero"}).sheets[0].data["change"]
    logprobs_V = run.model.output.bias.log_softmax(0)
    ids = torch.tensor(run.tokenizer.encode(TEXT)[1:])
    left = -float(logprobs_V[ids].detach().mean()) / math.log(2)
    assert change["layer2"] == pytest.approx(left - bits_per_answer(read_text(run, TEXT)), abs=1e-5)
    assert list(change.values()) == sorted(change.values(), reverse=True)


def test_a_unit_at_its_mean() -> None:
    run = untrained("lstm")
    change = inspect([run], TEXT, "ablate", {"layer": 1}).sheets[0].data["change"]
    assert sorted(change) == sorted(f"layer1.cell unit {unit}" for unit in range(1, 9))
    assert all(abs(by) > 1e-7 for by in change.values())
    for options, message in (({"layer": 7}, "there is no layer 7"), ({"how": "twice"}, "there is no way 'twice'")):
        with pytest.raises(UsageError, match=message):
            inspect([run], TEXT, "ablate", options)


def test_values_of_another_run_take_the_place_of_its_own() -> None:
    first, second = untrained("lstm"), untrained("lstm")
    generator = torch.Generator().manual_seed(3)
    for parameter in second.model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    same = inspect([first, first], TEXT, "ablate", {"how": "run"}).sheets[0].data["change"]
    assert set(same.values()) == {0.0}
    found = inspect([first, second], TEXT, "ablate", {"how": "run"}).sheets[0].data
    ids_T = torch.tensor(first.tokenizer.encode(TEXT))
    with torch.no_grad():
        second.model(ids_T[None, :-1], trace=(theirs := Trace()))
        logprobs_TV = first.model.project(theirs["layer2"])[0].log_softmax(1)
    bits = -float(logprobs_TV.gather(1, ids_T[1:, None]).mean()) / math.log(2)
    assert found["change"]["layer2"] == pytest.approx(bits - found["bits_per_token"], abs=1e-5)
    heads = [untrained("transformer", heads=2), untrained("transformer", heads=2)]
    heads[1].model.backbone.stack.blocks[1].attention.into.weight.data *= 2
    change = inspect(heads, TEXT, "ablate", {"how": "run"}).sheets[0].data["change"]
    assert change["layer2.attention head 1"] != 0 and change["layer1.attention head 1"] == 0


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (["lstm"], {}, "first: 1 given, not 2"),
        (["lstm", "lstm"], {"layer": 1}, "replaces whole parts"),
        (["lstm", "gru"], {}, "the runs have different shapes, first in layer1.cell"),
        (["lstm", "word"], {}, "the runs read different tokens"),
    ],
)
def test_runs_that_do_not_fit_are_refused(runs: list[str], options: dict[str, int], message: str) -> None:
    given = [untrained("lstm", tokenizer="word") if name == "word" else untrained(name) for name in runs]
    with pytest.raises(UsageError, match=message):
        inspect(given, TEXT, "ablate", {"how": "run", **options})


# --- attention ------------------------------------------------------------------------------------------------------


def shown_heads(run: UntrainedRun, **options: int) -> dict[str, dict[str, float]]:
    return inspect([run], TEXT, "attention", options).sheets[0].data["heads"]


@pytest.mark.parametrize("arch", ["lstm-attention", "transformer", "transformer-encoder"])
def test_a_token_shows_where_the_heads_look(arch: str) -> None:
    run = untrained(arch)
    reading = read_text(run, TEXT)
    names = [name for name, recorded in run.model.records.items() if recorded.kind == "attention"]
    mean_TS = torch.cat([reading.trace[name][0] for name in names], dim=1).mean(1)
    looks_at = inspect([run], TEXT, "attention", {}).sheets[0].data["looks_at"]
    t = 11
    weights, places = mean_TS[t].topk(10)
    assert [share for _, share in looks_at[t]] == pytest.approx(weights.tolist())
    assert looks_at[t][0][0] == f"{reading.tokens[int(places[0])]} ({int(places[0]) + 1})"


def test_one_layer_and_one_head() -> None:
    run = untrained("transformer", heads=2)
    assert list(shown_heads(run, layer=2)) == ["layer2.attention head 1", "layer2.attention head 2"]
    assert list(shown_heads(run, layer=1, head=2)) == ["layer1.attention head 2"]
    for options in ({"layer": 3}, {"head": 3}):
        with pytest.raises(UsageError, match=r"3[a-z ]*: give a number from 1 to 2"):
            shown_heads(run, **options)


def test_habits_of_heads_that_have_only_one() -> None:
    previous_TS = torch.eye(8).roll(-1, 1).tril()
    previous_TS[0, 0] = 1
    repeated_TS = torch.zeros(8, 8)
    repeated_TS[:4, 0] = 1
    repeated_TS[range(4, 8), range(1, 5)] = 1  # four tokens twice: the token after the first time
    found = habits(WeightMap("made up", previous_TS), repeated_TS=repeated_TS)
    assert found == pytest.approx(
        {"previous": 1, "itself": 1 / 8, "first": 2 / 8, "induction": 1, "entropy": 0}, abs=1e-5
    )
    uniform = habits(WeightMap("uniform", torch.full((4, 4), 0.25)), repeated_TS=torch.full((8, 8), 0.125))
    assert uniform["entropy"] == pytest.approx(2) and uniform["induction"] == pytest.approx(0.125)


def test_rollout_multiplies_layers() -> None:
    first = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    second = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    expected = torch.tensor([[1.0, 0.0], [0.5 * 1 + 0.5 * 0.25, 0.5 * 0.75]])
    torch.testing.assert_close(rollout([first, second]), expected)


def test_a_page_keeps_maps_and_the_largest_weights_as_bytes() -> None:
    """Rows and columns are other tokens, as in a translation, and there are more of them than a map has points."""
    weights_TS = torch.rand(300, 200, generator=torch.Generator().manual_seed(0)) ** 4
    maps = WeightMaps(["r"] * 300, ["c"] * 200, [[WeightMap("made up head 1", weights_TS)]], [])
    packed = packed_maps(maps)
    (head,) = packed["maps"]
    factor, kept = packed["factor"], packed["kept"]
    map_ = np.frombuffer(base64.b64decode(head["map"]), np.uint8).reshape(-(-300 // factor), -(-200 // factor))
    assert factor == 3 and map_[4, 5] == round(255 * float(weights_TS[12:15, 15:18].max()) ** 0.5)
    columns_TK = np.frombuffer(base64.b64decode(head["columns"]), "<u2").reshape(300, kept)
    weights_TK = np.frombuffer(base64.b64decode(head["weights"]), np.uint8).reshape(300, kept)
    largest = weights_TS[7].topk(kept)
    assert columns_TK[7].tolist() == largest.indices.tolist()
    assert (weights_TK[7] / 255) ** 2 == pytest.approx(largest.values.numpy(), abs=0.005)
