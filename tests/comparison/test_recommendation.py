from dataclasses import replace

import pytest
from verdict_cases import NATS, entrant, pair_of, runs_of

from seqlab.comparison.judgment.recommendation import recommendation

COSTS = {"lstm": (100.0, 1000, 4000), "gru": (80.0, 750, 3000), "rnn": (40.0, 250, 2000)}  # seconds, size, memory


def advised(pairs, costs=COSTS, spread=0.0):
    """Advice by lens, the pairs given as they were judged; the time of every step varies by this share."""
    entrants = [replace(entrant(name, size, memory), step_spread=spread) for name, (_, size, memory) in costs.items()]
    runs = [run for name, (seconds, _, _) in costs.items() for run in runs_of(name, [[1.0]] * 3, seconds)]
    return {advice.lens: advice for advice in recommendation(entrants, runs, NATS, pairs)}


def judged(gru, rnn, difference=0.02):
    """lstm has the best mean, ahead of gru and rnn with these verdicts."""
    return [
        pair_of("lstm", "gru", difference, gru),
        pair_of("lstm", "rnn", 0.21, rnn),
        pair_of("gru", "rnn", 0.21 - difference, rnn),
    ]


def test_the_best_alone():
    result = advised(judged("better", "better"))
    assert {lens: advice.name for lens, advice in result.items()} == dict.fromkeys(
        ("quality", "time", "size", "memory"), "lstm"
    )
    assert result["quality"].sentence == "Use lstm: it is better than gru and rnn."
    assert result["time"].sentence == (
        "lstm has the best mean, and all others are behind it; "
        "rnn trains in 0.4 of the time of lstm and gives up 0.210 nats/char."
    )
    assert "rnn has 0.25 of the total parameters of lstm and gives up 0.210 nats/char." in result["size"].sentence
    assert "rnn needs 0.5 of the memory of lstm when generating and gives up 0.210" in result["memory"].sentence


def test_the_cheapest_of_those_that_may_be_as_good():
    for verdict, words in (
        ("not distinguishable", "is not distinguishable from it"),
        ("equal for practical purposes", "is equal to it for practical purposes"),
    ):
        result = advised(judged(verdict, "better"))
        assert result["quality"].name == "lstm"
        assert [result[lens].name for lens in ("time", "size", "memory")] == ["gru"] * 3
        assert result["time"].sentence == (
            f"gru trains in 0.8 of the time of lstm and {words}; "
            "rnn trains in 0.4 of the time of lstm and gives up 0.210 nats/char."
        )


def test_quality_says_what_is_not_shown():
    result = advised(judged("not distinguishable", "suggestive"))
    sentence = "Use lstm: it is probably better than rnn; gru may be as good."
    assert result["quality"].sentence == sentence


@pytest.mark.parametrize(
    ("gru", "rnn", "said"),
    [
        ("not distinguishable", "not distinguishable", "no other model is clearly better; gru and rnn may be as good."),
        ("equal for practical purposes", "better", "it is better than rnn; gru is as good for practical purposes."),
        (
            "equal for practical purposes",
            "not distinguishable",
            "no other model is clearly better; gru is as good for practical purposes; rnn may be as good.",
        ),
    ],
)
def test_the_bottom_line_says_what_to_use_and_what_may_be_as_good(gru, rnn, said):
    assert advised(judged(gru, rnn))["quality"].sentence == f"Use lstm: {said}"


def test_what_is_suggestively_behind_is_no_contender():
    assert advised(judged("suggestive", "better"))["time"].name == "lstm"


def test_with_one_seed_only_what_is_hardly_behind_contends():
    near, far = (advised(judged("ahead on this data", "ahead on this data", by)) for by in (0.01, 0.011))
    assert (near["time"].name, far["time"].name) == ("gru", "lstm")
    assert "is hardly behind it on this data; rnn trains in" in near["time"].sentence
    assert near["quality"].sentence == (
        "Use lstm: it is ahead of gru and rnn on this data, where the noise is unknown."
    )


def test_the_best_may_be_the_cheapest():
    cheap = COSTS | {"lstm": (10.0, 100, 100)}
    alone, among = advised(judged("better", "better"), cheap), advised(judged("not distinguishable", "better"), cheap)
    assert (
        alone["time"].sentence
        == "lstm has the best mean, and all others are behind it; it is also the fastest to train."
    )
    assert among["size"].sentence == "lstm has the best mean and is the smallest of those that may be as good."


def test_of_equally_cheap_contenders_the_better_is_named():
    same = dict.fromkeys(COSTS, (100.0, 1000, 4000))
    result = advised(judged("not distinguishable", "not distinguishable"), same)
    assert {advice.name for advice in result.values()} == {"lstm"}


def test_what_saves_next_to_nothing_is_no_reason_to_choose_it():
    near = {"lstm": (100.0, 1000, 4000), "gru": (96.0, 960, 3900), "rnn": (95.5, 955, 3880)}
    result = advised(judged("not distinguishable", "better"), near)
    assert {advice.name for advice in result.values()} == {"lstm"}
    assert result["time"].sentence == "lstm has the best mean; no other model is noticeably cheaper."
    assert advised(judged("better", "better"), near)["size"].sentence.endswith(
        "; no other model is noticeably cheaper."
    )


def test_the_best_is_found_whatever_the_order_of_entrants():
    result = advised(judged("better", "better"), dict(reversed(COSTS.items())))
    assert result["quality"].name == "lstm"


def test_memory_is_left_out_where_it_is_unknown():
    result = advised(judged("better", "better"), COSTS | {"gru": (80.0, 750, None)})
    assert list(result) == ["quality", "time", "size"]


def test_one_entrant_and_none():
    result = advised([], {"a {} b": (1.0, 100, 1)})
    assert {lens: advice.sentence for lens, advice in result.items()} == {
        "quality": "Use a {} b: it is the only model."
    }
    assert recommendation([entrant("a")], [], NATS, []) == []


def test_time_is_no_advice_if_timings_vary_by_more():
    """gru takes 0.8 of the time of lstm: enough if timings vary by 5%, too little if they vary by 15%."""
    pairs = judged("not distinguishable", "better")
    assert advised(pairs, spread=0.05)["time"].name == "gru"
    vague = advised(pairs, spread=0.15)
    assert vague["time"].name == "lstm"
    assert vague["time"].sentence == (
        "lstm has the best mean; rnn trains in 0.4 of the time of lstm and gives up 0.210 nats/char."
    )
    assert vague["size"].name == vague["memory"].name == "gru"  # sizes do not vary
    two = {name: COSTS[name] for name in ("lstm", "gru")}
    alone = advised(pairs[:1], two, spread=0.15)["time"].sentence
    assert (
        alone == "lstm has the best mean; no other model is noticeably cheaper: timings of gru and lstm vary too much."
    )


def test_a_mixed_model_is_sized_by_its_bytes_and_a_tie_is_no_advantage():
    mixed = {"task": {"mix": "counts"}}
    entrants = [
        replace(entrant("lstm+counts"), settings=mixed, file_bytes=9_000),
        replace(entrant("lstm"), file_bytes=4_000),
    ]
    runs = [run for one in entrants for run in runs_of(one.name, [[1.0]] * 3, 100.0)]
    pairs = [pair_of("lstm+counts", "lstm", 0.2, "better")]
    result = {advice.lens: advice.sentence for advice in recommendation(entrants, runs, NATS, pairs)}
    assert "lstm takes 0.44 of the bytes of lstm+counts and gives up 0.200" in result["size"]
    assert "no other model is noticeably cheaper" in result["time"] and "fastest" not in result["time"]
    assert "memory" not in result
