import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from seqlab.comparison.judgment.statistics import (
    Estimate,
    TextNoise,
    estimate,
    holm,
    level,
    level_interval,
    seeds_needed,
)
from seqlab.errors import DataError
from seqlab.metrics.metric import ratio

quick = settings(max_examples=40)
numbers = st.integers(0, 2**32 - 1)


def sums(values, characters: float | np.ndarray = 1024.0):
    """Sums of runs whose every unit has this value per character."""
    values = np.asarray(values, float)
    return np.stack([values * characters, np.broadcast_to(np.asarray(characters, float), values.shape)], -1)


def drawn(seed, seeds=3, units=20, offset=0.0, spread=1.0):
    draw = np.random.default_rng(seed)
    return offset + draw.normal(size=(seeds, 1)) * spread + draw.normal(size=(seeds, units))


def perplexity(found):
    return np.exp(found[..., 0] / found[..., 1])


def jackknife(a, b, value):
    """Written out: leave out one unit after another."""
    a, b = (array[None] if array.ndim == 2 else array for array in (a, b))
    without = []
    for unit in range(a.shape[1]):
        left = [np.delete(array, unit, axis=1).sum(1) for array in (a, b)]
        without.append(np.mean([value(run) for run in left[1]]) - np.mean([value(run) for run in left[0]]))
    return (len(without) - 1) / len(without) * sum((value - np.mean(without)) ** 2 for value in without)


def text_of(found: Estimate) -> TextNoise:
    assert found.text is not None
    return found.text


def test_noise_of_seeds_alone_is_welchs_test():
    draw = np.random.default_rng(0)
    a_S, b_S = draw.normal(0, 1, 3), draw.normal(1, 3, 7)
    units = np.ones(25)
    result = estimate(sums(a_S[:, None] * units), sums(b_S[:, None] * units))
    known: Any = stats.ttest_ind(b_S, a_S, equal_var=False)  # its attributes are not declared
    interval = known.confidence_interval(0.95)
    assert result.difference == pytest.approx(b_S.mean() - a_S.mean())
    assert (result.p, result.df) == pytest.approx((known.pvalue, known.df))
    assert (result.low, result.high) == pytest.approx((interval.low, interval.high))
    assert result.v_seeds == pytest.approx(a_S.var(ddof=1) / 3 + b_S.var(ddof=1) / 7)
    assert text_of(result).variance == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("seeds", [0, 1, 4])
def test_noise_of_text_alone_is_the_paired_test(seeds):
    """Of two things without seeds, and of seeds that make no difference. What is hard for both is no noise."""
    draw = np.random.default_rng(1)
    hard_U = draw.normal(0, 50, 20)
    a_U, b_U = hard_U + draw.normal(0, 1, 20), hard_U + draw.normal(0.5, 1, 20)
    a, b = (np.tile(array, (seeds, 1)) if seeds > 1 else array for array in (a_U, b_U))
    result = estimate(sums(a), sums(b))
    known = stats.ttest_rel(b_U, a_U)
    interval = known.confidence_interval(0.95)
    assert (result.p, result.df) == pytest.approx((known.pvalue, 19))
    assert (result.low, result.high) == pytest.approx((interval.low, interval.high))
    assert (text_of(result).units, text_of(result).variance) == pytest.approx((20, np.var(b_U - a_U, ddof=1) / 20))


def interaction(values_SU):
    """What of the variance of the mean is in the variance of seeds and in that of text: two-way residuals."""
    seeds, units = values_SU.shape
    residuals = values_SU - values_SU.mean(0) - values_SU.mean(1, keepdims=True) + values_SU.mean()
    return (residuals**2).sum() / ((seeds - 1) * (units - 1)) / (seeds * units)


def test_both_noises_together_count_their_interaction_once():
    a, b = drawn(0, seeds=3), drawn(1, seeds=5, spread=3)
    assert lag_1(b.mean(0) - a.mean(0)) < 0.1
    result = estimate(sums(a), sums(b))
    terms = [a.mean(1).var(ddof=1) / 3, b.mean(1).var(ddof=1) / 5, (b.mean(0) - a.mean(0)).var(ddof=1) / 20]
    both = interaction(a) + interaction(b)
    net = sum(terms) - both
    df = net**2 / (terms[0] ** 2 / 2 + terms[1] ** 2 / 4 + terms[2] ** 2 / 19)
    known = stats.t(df, loc=b.mean() - a.mean(), scale=math.sqrt(net))
    assert (result.v_seeds, text_of(result).variance) == pytest.approx((terms[0] + terms[1], terms[2]))
    assert (result.v_both, result.seed_variances) == (pytest.approx(both), pytest.approx((terms[0] * 3, terms[1] * 5)))
    assert result.df == pytest.approx(df)
    assert (result.low, result.high) == pytest.approx(known.interval(0.95))
    assert result.p == pytest.approx(2 * min(known.cdf(0), known.sf(0)))


def test_the_interval_is_never_narrower_than_one_noise_alone():
    """Runs whose units scatter at random, and whose means happen to agree."""
    a, b = drawn(0, spread=0), drawn(1, spread=0)
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    result = estimate(sums(a), sums(b))
    assert result.v_seeds == pytest.approx(0, abs=1e-20) and result.v_both > 0
    assert result.low is not None and result.high is not None
    assert result.high - result.low > 2 * 1.96 * math.sqrt(text_of(result).variance)


@pytest.mark.parametrize("value", [ratio, perplexity])
def test_any_metric_is_jackknifed(value):
    """Units of unequal size, and a metric that is no mean."""
    characters = np.random.default_rng(0).integers(200, 1500, 20)
    a, b = sums(drawn(0) / 10, characters), sums(drawn(1, seeds=2) / 10, characters)
    result = estimate(a, b, value)
    values = [[value(run.sum(0)) for run in side] for side in (a, b)]
    assert result.difference == pytest.approx(np.mean(values[1]) - np.mean(values[0]))
    assert text_of(result).variance == pytest.approx(jackknife(a, b, value))
    assert result.v_seeds == pytest.approx(np.var(values[0], ddof=1) / 3 + np.var(values[1], ddof=1) / 2)
    assert level(a, value) == pytest.approx(np.mean(values[0]))
    assert level(a[0], value) == pytest.approx(values[0][0])


def lag_1(series):
    centered = series - series.mean()
    return (centered[:-1] * centered[1:]).sum() / (centered**2).sum()


@pytest.mark.parametrize("times", [2, 4, 8])
def test_correlated_neighbors_count_as_fewer_units(times):
    """Each of 60 independent texts stands there several times: the blocks know no more than the 60 do."""
    texts = np.random.default_rng(3).normal(size=60)
    assert lag_1(texts) < 0.1
    alone = text_of(estimate(sums(np.zeros(60)), sums(texts)))
    result = text_of(estimate(sums(np.zeros(60 * times)), sums(np.repeat(texts, times))))
    assert alone.units == 60
    assert 20 <= result.units <= 65 and result.df < result.units
    assert result.variance > 0.8 * alone.variance


def test_correlation_is_that_of_the_difference_of_the_averaged_seeds():
    """What both have in common on neighboring units, and what cancels between seeds, is not noise."""
    draw = np.random.default_rng(0)
    slope, own = np.arange(60.0), np.tile([1.0, -1.0, 2.0], 20)
    assert lag_1(own) < 0.1 < lag_1(slope)
    a, b = np.stack([slope, slope]), np.stack([own + 3 * slope, own - slope])
    assert text_of(estimate(sums(a), sums(b))).units == 60
    assert text_of(estimate(sums(a), sums(a + slope + draw.normal(size=60)))).units < 3


@pytest.mark.parametrize("units", [5, 20, 109, 1000])
def test_a_text_that_drifts_tells_next_to_nothing(units):
    """No floor: the interval of a slope is wide however many units there are."""
    slope = np.arange(units) / units
    result = estimate(sums(np.zeros((3, units))), sums(np.tile(slope, (3, 1))))
    text = text_of(result)
    assert text.units < max(3, units / 20) and text.df <= max(2, units / 20)
    assert result.difference == pytest.approx(slope.mean())
    assert result.low is not None and result.high is not None and result.high - result.low > 0.5


@pytest.mark.parametrize("units", [401, 799, 1000, 2399])
def test_groups_of_units_are_of_nearly_the_same_size(units):
    """Groups of unequal size would hide the correlation of their neighbors."""
    sizes = set()

    def seen(found):
        if found.ndim == 3:
            sizes.update(np.unique(units - found[..., 1]))
        return ratio(found)

    found = estimate(sums(np.zeros(units), 1.0), sums(np.arange(units, dtype=float), 1.0), seen)
    assert max(sizes) - min(sizes) <= 1 and 200 <= units / min(sizes) <= 402
    assert text_of(found).units < 8


@pytest.mark.parametrize("examples", [50, 75, 500])
def test_equal_scores_on_few_examples_do_not_prove_equality(examples):
    """The rule of three: what none of n examples shows may be true of 3 in n."""
    right = sums(np.ones((3, examples)), 1.0)
    result, interval = estimate(right, right, span=1.0), level_interval(right, span=1.0)
    assert result.low is not None and result.high is not None and interval is not None
    assert (result.difference, result.p) == (0.0, 1.0)
    assert result.high == -result.low >= 2.9 / examples
    assert interval[1] - interval[0] >= 2 * 2.9 / examples
    assert estimate(right, right).high == 0.0  # a metric without bounds has no such prior


def test_the_noise_of_one_seed_is_unknown():
    one, three = sums(drawn(0, seeds=1)), sums(drawn(1, seeds=3))
    for a, b in ((one, three), (three, one), (one, one + 1)):
        result = estimate(a, b)
        assert (result.low, result.high, result.p, result.df, result.v_seeds, result.seed_variances) == (None,) * 6
        assert text_of(result).variance >= 0
        assert result.difference == pytest.approx(level(b) - level(a))


def test_what_has_no_seeds_has_no_noise_of_seeds():
    counting, model = sums(drawn(0, seeds=1)[0]), sums(drawn(1, seeds=4))
    result = estimate(counting, model)
    own = drawn(1, seeds=4).mean(1).var(ddof=1)
    assert result.seed_variances == pytest.approx((0.0, own))
    assert result.v_seeds == pytest.approx(own / 4)
    assert result.p is not None and result.low is not None
    assert estimate(counting, counting + np.array([1, 0])).v_seeds == 0


def test_the_noise_of_one_unit_is_unknown():
    result = estimate(sums(drawn(0, units=1)), sums(drawn(1, units=1)))
    assert (result.low, result.high, result.p, result.df, result.text) == (None,) * 5
    assert result.v_seeds is not None and result.v_seeds > 0


def test_two_units_are_enough():
    result = estimate(sums([[1.0, 2.0]] * 2), sums([[2.0, 5.0]] * 2))
    assert (text_of(result).units, result.difference, text_of(result).variance) == pytest.approx((2, 2.0, 1.0))
    assert result.p == pytest.approx(stats.ttest_rel([2, 5], [1, 2]).pvalue)


def test_the_same_runs_do_not_differ():
    for runs in (sums(drawn(0)), sums(drawn(0, seeds=1)[0])):
        result = estimate(runs, runs)
        assert (result.difference, result.p, text_of(result).variance) == (0.0, 1.0, 0.0)
        assert result.low is not None and result.high is not None and -result.low == result.high


def test_a_difference_without_any_noise_is_certain():
    result = estimate(sums(np.full((3, 8), 2.0)), sums(np.full((3, 8), 2.5)))
    assert (result.difference, result.low, result.high, result.p) == (0.5, 0.5, 0.5, 0.0)
    assert result.df is not None and math.isfinite(result.df)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(bad):
    broken = drawn(0)
    broken[1, 4] = bad
    for a, b in ((drawn(1), broken), (broken, drawn(1))):
        with pytest.raises(DataError, match="not a finite number"):
            estimate(sums(a), sums(b))


def test_text_that_stands_in_one_unit_is_refused():
    """Without that unit nothing is left to be scored."""
    characters = np.array([0.0, 1024.0, 0.0])
    with pytest.raises(DataError, match="hold out more data"):
        estimate(sums(drawn(0, units=3), characters), sums(drawn(1, units=3), characters))


def test_sides_are_scored_on_the_same_text():
    with pytest.raises(AssertionError, match="same units"):
        estimate(sums(drawn(0, units=20)), sums(drawn(0, units=21)))


@quick
@given(seed=numbers, a_seeds=st.integers(2, 5), b_seeds=st.integers(2, 5), units=st.integers(2, 90))
def test_the_other_way_round(seed, a_seeds, b_seeds, units):
    a, b = sums(drawn(seed, a_seeds, units)), sums(drawn(seed + 1, b_seeds, units, offset=0.3))
    one, other = estimate(a, b), estimate(b, a)
    assert one.low is not None and one.high is not None
    assert (other.difference, other.low, other.high) == pytest.approx((-one.difference, -one.high, -one.low))
    assert (other.p, other.df) == pytest.approx((one.p, one.df))
    assert text_of(other) == pytest.approx(text_of(one))


@quick
@given(seed=numbers, units=st.integers(2, 20))
def test_the_order_of_seeds_and_the_direction_of_the_text_do_not_matter(seed, units):
    a, b = drawn(seed, 3, units), drawn(seed + 1, 4, units)
    draw = np.random.default_rng(seed)
    one = estimate(sums(a), sums(b))
    other = estimate(sums(draw.permutation(a)[:, ::-1]), sums(draw.permutation(b)[:, ::-1]))
    assert (other.low, other.high, other.p) == pytest.approx((one.low, one.high, one.p))


@quick
@given(seed=numbers, scale=st.floats(1e-6, 1e6), units=st.integers(2, 60))
def test_units_of_measurement_do_not_matter(seed, scale, units):
    """Nor what both have in common on each unit of text."""
    a, b = drawn(seed, 3, units), drawn(seed + 1, 3, units, offset=1.0)
    common = np.random.default_rng(seed).normal(size=units)
    one, other = estimate(sums(a), sums(b)), estimate(sums(scale * (a + common)), sums(scale * (b + common)))
    assert one.low is not None and one.high is not None
    assert (other.low, other.high) == pytest.approx((scale * one.low, scale * one.high), rel=1e-6, abs=1e-7 * scale)
    assert (other.p, other.df) == pytest.approx((one.p, one.df), rel=1e-6)


def test_holm_on_worked_examples():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@quick
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_bonferroni_for_the_smallest_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert min(adjusted) == min(1.0, len(p_values) * min(p_values))
    assert all(p <= corrected <= 1 for p, corrected in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()


def noise(variance, units):
    return TextNoise(variance, units, units - 1)


@pytest.mark.parametrize(("effect", "seeds"), [(0.5, 64), (0.8, 26), (1.0, 17), (1.2, 12), (1.4, 9)])
def test_seeds_needed_are_those_of_cohens_table(effect, seeds):
    """Statistical Power Analysis (1988), table 2.4.1: two-sided 5%, power 80%, no noise of text."""
    assert abs((seeds_needed(effect, (1.0, 1.0), noise(0.0, 100)) or 0) - seeds) <= 1


def test_a_stricter_level_needs_more_seeds():
    """Holm leaves a tenth of the level to the first of ten pairs: (2.81 + 0.84)² / (1.96 + 0.84)² times the seeds."""
    alone, strictest = (seeds_needed(0.2, (1.0, 1.0), noise(0.0, 100), level) or 0 for level in (0.05, 0.005))
    assert strictest / alone == pytest.approx(1.7, abs=0.02)


def test_seeds_average_out_their_interaction_with_text():
    """The noise of 3 runs that scatter at random on each unit is no noise of text, which would forbid the proof."""
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(3, 200)), 0.1 + draw.normal(size=(3, 200))
    result = estimate(sums(a), sums(b))
    assert result.seeds_needed(0.05) is not None
    assert seeds_needed(result.difference, result.seed_variances or (), text_of(result)) is None


@quick
@given(effect=st.floats(0.05, 3), ratio_of=st.floats(0, 3), text=st.floats(0, 0.5), units=st.integers(20, 200))
def test_seeds_needed_have_the_power_of_the_noncentral_t(effect, ratio_of, text, units):
    """`text` is the share of what may be there at most."""
    v_text = text * (effect / 3.0) ** 2
    variances = (1.0, ratio_of**2)
    needed = seeds_needed(effect, variances, noise(v_text, units))
    assert needed is not None

    def power(seeds):
        terms = [(variances[0] / seeds, seeds - 1), (variances[1] / seeds, seeds - 1), (v_text, units - 1)]
        total = sum(variance for variance, _ in terms)
        df = total**2 / sum(variance**2 / freedom for variance, freedom in terms)
        return stats.nct.sf(stats.t.ppf(0.975, df), df, effect / math.sqrt(total))

    assert power(needed) > 0.78
    assert needed == 2 or power(needed - 1) < 0.82


def test_no_number_of_seeds_helps_against_the_noise_of_text():
    limit = float(0.01 / (stats.t.ppf(0.975, 49) + stats.t.ppf(0.8, 49))) ** 2
    assert seeds_needed(0.01, (1e-4, 1e-4), noise(1.001 * limit, 50)) is None
    assert seeds_needed(0.01, (1e-4, 1e-4), noise(0.9 * limit, 50)) is not None
    assert seeds_needed(-0.01, (1e-4, 1e-4), noise(0.9 * limit, 50)) == seeds_needed(
        0.01, (1e-4, 1e-4), noise(0.9 * limit, 50)
    )
    assert seeds_needed(0.01, (0.0, 0.0), noise(0.0, 50)) == 2
    assert seeds_needed(0.0, (1e-4, 1e-4), noise(0.0, 50)) is None
    assert seeds_needed(0.0, (0.0, 0.0), noise(0.0, 50)) is None


def test_without_noise_of_text_the_interval_of_a_level_is_students() -> None:
    values_S = np.array([1.0, 1.3, 0.9, 1.2])
    sums_SUK = np.stack([np.repeat(values_S[:, None], 50, 1), np.ones((4, 50))], 2)
    low, high = level_interval(sums_SUK) or (0, 0)
    expected = stats.t.interval(0.95, 3, values_S.mean(), stats.sem(values_S))
    assert (low, high) == pytest.approx(expected)


def test_the_interval_of_a_level_covers_the_truth_for_fresh_seeds_and_text() -> None:
    draw, covered, trials = np.random.default_rng(0), 0, 400
    for _ in range(trials):
        seeds_S, text_U = draw.normal(0, 0.05, 4), draw.normal(0, 0.5, 200)
        nats_SU = 1.0 + seeds_S[:, None] + text_U + draw.normal(0, 0.1, (4, 200))
        low, high = level_interval(np.stack([nats_SU, np.ones_like(nats_SU)], 2)) or (0, 0)
        covered += low <= 1.0 <= high
    assert 0.925 <= covered / trials <= 0.985


def test_a_level_from_one_seed_has_no_interval() -> None:
    assert level_interval(np.ones((1, 30, 2))) is None
