from dataclasses import replace

import numpy as np
import pytest
from verdict_cases import NATS, baseline_of, entrant, runs_of

from seqlab.comparison.judgment.cautions import seed_warnings
from seqlab.comparison.judgment.verdicts import ESTIMAND, baseline_sentence, judge_baseline, judge_pairs
from seqlab.metrics.descriptions import ACCURACY
from seqlab.metrics.metric import Metric

HARD = np.random.default_rng(0).normal(0, 0.2, 30)  # how hard each unit of text is, for all
SIGNS = np.tile([1.0, -1.0], 15)
KNESER_NEY = "kneser-ney (order 5)"
MAIN = [baseline_of(KNESER_NEY, None, "main")]


def values(mean, seeds=(-1, 0, 1), noise=0.001, text=0.0):
    """Runs whose means are spread by `noise`; `text` is how differently this one finds the units."""
    return np.array([mean + noise * seed + HARD + text * SIGNS for seed in seeds])


def noisy(mean):
    return values(mean, noise=0.01)


def judged(entrants, metric=NATS, seconds=None):
    runs = [run for name, result in entrants.items() for run in runs_of(name, result, (seconds or {}).get(name, 100.0))]
    return judge_pairs([entrant(name) for name in entrants], runs, metric)


def one(a, b, metric=NATS, a_seconds=100.0):
    """The pair of entrants with these names."""
    (pair,) = judged({"a": a, "b": b}, metric, {"a": a_seconds})
    return pair


def counted(baseline, entrants):
    runs = [run for name, result in entrants.items() for run in runs_of(name, result)]
    baselines = [baseline_of("unigram", HARD + 9), baseline_of(KNESER_NEY, baseline, "main"), baseline_of("xz", None)]
    return judge_baseline([entrant(name) for name in entrants], runs, baselines, NATS)


def test_the_estimand_is_said():
    for part in ("fresh seeds", "fresh data of the same source", "this training data", "the chosen learning rates"):
        assert part in ESTIMAND


def test_better_with_effect_interval_and_cost():
    """By hand: three seeds 0.001 apart on each side, so t(4) sqrt(2 * 0.001^2 / 3) = 2.776 * 0.000816 = 0.002267."""
    (pair,) = judged({"lstm": values(1.511), "lstm-attention": values(1.5)}, seconds={"lstm-attention": 130.0})
    assert (pair.a, pair.b, pair.verdict) == ("lstm-attention", "lstm", "better")
    assert pair.difference == pytest.approx(0.011)
    assert (pair.low, pair.high) == pytest.approx((0.011 - 0.002267, 0.011 + 0.002267), abs=1e-6)
    said = "lstm-attention is better than lstm by 0.011 nats/char (95% interval 0.009 to 0.013), at 1.3 times the time"
    assert pair.sentence == said


def test_where_more_is_better_the_higher_is_ahead():
    metric = Metric("accuracy", "accuracy", "", digits=4, negligible=0.001)
    pair, other = one(values(0.5), values(0.6), metric), one(values(0.5), values(0.6))
    assert (pair.a, pair.b, other.a, other.b) == ("b", "a", "a", "b")
    assert pair.difference == other.difference == pytest.approx(0.1)
    assert (pair.low, pair.high) == (other.low, other.high) == pytest.approx((0.097733, 0.102267), abs=1e-6)
    assert "0.100 accuracy" in pair.sentence


def test_all_pairs_best_first_whatever_the_order_of_entrants():
    result = judged({"rnn": values(1.9), "lstm": values(1.5), "gru": values(1.6)})
    assert [(pair.a, pair.b) for pair in result] == [("lstm", "gru"), ("lstm", "rnn"), ("gru", "rnn")]
    assert [pair.difference for pair in result] == pytest.approx([0.1, 0.4, 0.3])
    more = replace(NATS, lower_is_better=False)
    result = judged({"gru": values(1.6), "lstm": values(1.5), "rnn": values(1.9)}, more)
    assert [(pair.a, pair.b) for pair in result] == [("rnn", "gru"), ("rnn", "lstm"), ("gru", "lstm")]
    same = one(values(1.5), values(1.5), more)
    assert (same.a, same.difference) == ("a", 0.0)


def test_an_entrant_without_a_run_is_left_out():
    runs = [*runs_of("a", values(1.0)), *runs_of("b", values(2.0))]
    entrants = [entrant(name) for name in "abc"]
    pairs = judge_pairs(entrants, runs, NATS)
    assert [(pair.a, pair.b) for pair in pairs] == [("a", "b")]


def test_holm_decides_between_better_and_suggestive():
    """The same two are better alone, and only suggestive beside a third."""
    alone = one(noisy(1.5), noisy(1.53))
    assert alone.verdict == "better" and alone.p == alone.adjusted_p and 0.05 / 3 < (alone.p or 0) < 0.05
    result = judged({"a": noisy(1.5), "b": noisy(1.53), "c": noisy(1.515)})
    pair = next(pair for pair in result if (pair.a, pair.b) == ("a", "b"))
    assert (pair.p, pair.adjusted_p) == pytest.approx((alone.p, 3 * (alone.p or 0)))
    assert pair.verdict == "suggestive" and (pair.low or 0) > 0
    assert pair.sentence == (
        "a is ahead of b by 0.030 nats/char (95% interval 0.007 to 0.053), in the same time; "
        f"suggestive only, because 3 pairs were judged (adjusted p = {pair.adjusted_p:.2g})"
    )


def test_equal_only_if_the_whole_interval_is_negligible():
    near = one(values(1.5), values(1.502))
    assert near.verdict == "equal for practical purposes"
    assert near.sentence == (
        "a and b are equal for practical purposes: "
        "a is ahead by 0.0020 nats/char (95% interval -0.0003 to 0.0043), in the same time"
    )
    assert one(noisy(1.5), noisy(1.502)).verdict == "not distinguishable"
    # from -0.0207 to 0.0247
    assert one(noisy(1.5), noisy(1.502), replace(NATS, negligible=0.0246)).verdict == "not distinguishable"
    assert one(noisy(1.5), noisy(1.502), replace(NATS, negligible=0.0248)).verdict == near.verdict


def test_equal_scores_on_75_examples_are_no_proof_of_equality():
    """Equal within 0.2 points of accuracy is what thousands of examples may show."""
    few, many = (np.ones((3, examples)) for examples in (75, 3000))
    few_right, many_right = one(few, few, ACCURACY), one(many, many, ACCURACY)
    assert few_right.verdict == "not distinguishable" and (few_right.high or 0) >= 3
    assert many_right.verdict == "equal for practical purposes"


def test_no_interval_has_impossible_differences():
    a, b = (np.array([[right, 1 - right, right] for right in seeds]) for seeds in ((1.0, 0.0, 1.0), (0.0, 1.0, 0.0)))
    pair = one(a, b, ACCURACY)
    assert (pair.low, pair.high) == (-100, 100) and "interval -100.00 to 100.00)" in pair.sentence


def test_promised_seeds_follow_from_the_pairs_that_were_judged():
    """Beside a third entrant, the same difference has to pass a stricter level."""
    alone = one(noisy(1.5), noisy(1.51)).seeds_needed
    result = judged({"a": noisy(1.5), "b": noisy(1.51), "c": noisy(1.505)})
    pair = next(pair for pair in result if (pair.a, pair.b) == ("a", "b"))
    assert alone is not None and pair.seeds_needed is not None
    assert pair.seeds_needed > 1.3 * alone


def test_a_sure_difference_may_be_too_small_to_matter():
    pair = one(values(1.5), values(1.505))
    assert pair.verdict == "better"
    assert pair.sentence.endswith("; too little to matter in practice (below 0.01)")
    assert "too little" not in one(values(1.5), values(1.509)).sentence


def test_not_distinguishable_says_how_many_seeds_would_tell():
    pair = one(noisy(1.5), noisy(1.51))
    # Cohen: an effect of one standard deviation is shown by 17 of each
    assert pair.seeds_needed in (17, 18)
    assert pair.sentence == (
        "a and b are not distinguishable: a is ahead by 0.010 nats/char (95% interval -0.013 to 0.033), "
        "in the same time; "
        f"with {pair.seeds_needed} seeds such a difference would be shown at 80% power"
    )


def test_an_absurd_number_of_seeds_is_not_suggested():
    pair = one(noisy(1.5), noisy(1.501))
    assert pair.seeds_needed is not None and pair.seeds_needed > 100
    assert pair.sentence.endswith("no realistic number of seeds would show it")


def test_where_text_forbids_it_no_number_of_seeds_is_named():
    pair = one(values(1.5), values(1.505, text=0.1))
    assert (pair.verdict, pair.seeds_needed) == ("not distinguishable", None)
    tail = "; more seeds will not settle this; more test data could"
    assert pair.sentence.endswith(tail)


def test_the_same_runs():
    pair = one(values(1.5), values(1.5))
    assert (pair.difference, pair.p, pair.verdict) == (0.0, 1.0, "equal for practical purposes")
    assert one(noisy(1.5), noisy(1.5)).sentence.endswith("; there is no difference to show")


def test_one_seed_is_never_better():
    pair = one(values(1.0, seeds=(0,)), values(2.0))
    assert (pair.verdict, pair.low, pair.high, pair.p, pair.adjusted_p) == (
        "ahead on this data",
        None,
        None,
        None,
        None,
    )
    assert pair.sentence == (
        "Against b, a is ahead on this data by 1.000 nats/char, in the same time; "
        "with one seed the noise of seeds is unknown"
    )
    same = one(values(1.0, seeds=(0,)), values(1.0, seeds=(0,)))
    assert same.verdict == "not distinguishable" and "scores the same on this data" in same.sentence


def test_holm_counts_only_what_was_tested():
    result = judged({"x": values(1.0, seeds=(0,)), "a": noisy(1.5), "b": noisy(1.53), "c": noisy(1.515)})
    tested = [pair for pair in result if pair.p is not None]
    assert (len(result), len(tested)) == (6, 3) and all("x" not in (pair.a, pair.b) for pair in tested)
    pair = next(pair for pair in tested if pair.verdict == "suggestive")
    assert pair.adjusted_p == pytest.approx(3 * (pair.p or 0))
    assert "because 3 pairs were judged" in pair.sentence


def test_one_unit_of_text_is_said_to_be_one():
    pair = one(values(1.0)[:, :1], values(2.0)[:, :1])
    assert (pair.verdict, pair.units, pair.low, pair.v_text) == ("ahead on this data", 1, None, 0.0)
    assert pair.sentence.endswith("with one unit of data the noise of data is unknown")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (130.0, ", at 1.3 times the time"),
        (70.0, ", at 0.7 times the time"),
        (104.0, ", in the same time"),
        (96.0, ", in the same time"),
        (106.0, ", at 1.1 times the time"),
        (94.0, ", at 0.94 times the time"),
        (1234.0, ", at 12 times the time"),
        (123_400.0, ", at 1,234 times the time"),
        (4.0, ", at 0.04 times the time"),
        (0.0, ""),
    ],
)
def test_cost(seconds, said):
    assert one(values(1.0), values(2.0), a_seconds=seconds).sentence.endswith(")" + said)


def test_digits_suffice_to_tell_from_zero():
    pair = one(values(1.5, noise=0.00001), values(1.5003, noise=0.00001))
    assert "by 0.00030 nats/char (95% interval 0.00028 to 0.00032)" in pair.sentence
    pair = one(values(1.5, noise=1e-9), values(1.5, noise=1e-9))
    assert "by 0.000000 nats/char (95% interval 0.000000 to 0.000000)" in pair.sentence


def test_any_name_is_only_text():
    names = ["{0}", "%s <b>", "a\nb"]
    pairs = judged({name: values(1 + place) for place, name in enumerate(names)})
    assert {pair.a for pair in pairs} | {pair.b for pair in pairs} == set(names)
    assert pairs[0].sentence.startswith("{0} is better than %s <b> by 1.000")


def test_warnings_of_few_seeds():
    runs = [*runs_of("a", values(1.0, (0,))), *runs_of("b", values(1.0, (0, 1))), *runs_of("c", values(1.0))]
    one_seed, two_seeds = seed_warnings(runs)
    assert one_seed.startswith("One seed of a: the noise of seeds is unknown")
    assert two_seeds.startswith("Two seeds of b: ")
    assert seed_warnings(runs_of("c", values(1.0))) == []


def test_counting_has_no_seeds():
    pairs = counted(HARD + 1.5, {"lstm": noisy(1.2), "rnn": noisy(1.8), "gru": noisy(1.501)})
    assert [(pair.a, pair.b, pair.verdict) for pair in pairs] == [
        ("lstm", KNESER_NEY, "better"),
        (KNESER_NEY, "rnn", "better"),
        (KNESER_NEY, "gru", "not distinguishable"),
    ]
    assert [pair.difference for pair in pairs] == pytest.approx([0.3, 0.3, 0.001])
    assert pairs[0].v_seeds == pytest.approx(0.01**2 / 3)
    assert pairs[0].df == pytest.approx(2)
    smallest = sorted(pair.p or 0 for pair in pairs)
    assert sorted(pair.adjusted_p or 0 for pair in pairs)[0] == pytest.approx(3 * smallest[0])
    assert "the time" not in pairs[0].sentence


def test_counting_needs_sums():
    runs = runs_of("a", values(1.0))
    assert (
        judge_baseline(
            [entrant("a")], runs, [baseline_of("unigram", HARD), baseline_of(KNESER_NEY, None, "main")], NATS
        )
        == []
    )
    assert baseline_sentence([], [], NATS) == ""


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        (1.0, "C is still better than every model: lstm comes nearest, behind by 0.200 nats/char (I)."),
        (1.3, "C is better than gru and rnn: lstm is better than it."),
        (
            1.5,
            "C is better than rnn: it is not distinguishable from gru; lstm is better than it.",
        ),
        (
            1.795,
            "C is not shown to be better than any model: it is not distinguishable from rnn; "
            "lstm and gru are better than it.",
        ),
        (
            1.805,
            "C is not shown to be better than any model: lstm and gru are better than it; "
            "rnn is not distinguishable from it.",
        ),
        (3.0, "Every model is better than c: rnn the least, by 1.200 nats/char (I)."),
    ],
)
def test_what_is_said_of_counting(baseline, said):
    pairs = counted(HARD + baseline, {"lstm": noisy(1.2), "gru": noisy(1.501), "rnn": noisy(1.8)})
    sentence = baseline_sentence(pairs, MAIN, NATS)
    # t(2) 0.01 / sqrt(3) = 0.025
    for interval in ("95% interval 0.175 to 0.225", "95% interval 1.175 to 1.225"):
        sentence = sentence.replace(interval, "I")
    sentence = sentence.replace(f"The baseline {KNESER_NEY}", "C").replace(f"the baseline {KNESER_NEY}", "c")
    assert sentence == said


def test_with_one_seed_counting_is_not_called_better_either():
    pairs = counted(HARD + 1.0, {"lstm": values(1.2, seeds=(0,)), "rnn": values(1.8, seeds=(0,))})
    sentence = baseline_sentence(pairs, MAIN, NATS)
    assert "is not shown to be better than any model: it is ahead of lstm and rnn on this data, where" in sentence
