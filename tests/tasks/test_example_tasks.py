"""Every task on labelled examples with every architecture: what all of them promise."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from example_cases import ARCHS, EXAMPLE_TASKS, Case, case, gradients
from hypothesis import given
from hypothesis import strategies as st

from seqlab.data.examples.encoded import ExampleBatches, ExampleSplit, cut_by_tokens
from seqlab.errors import DataError
from seqlab.models.parameter_count import parameters
from seqlab.runs import tensors
from seqlab.runs.checkpoint import load_weights, weights_of
from seqlab.runs.load import build_model
from seqlab.tasks import examples as example_tasks
from seqlab.tasks.examples import mask_or_none, pad_rows

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "classify": [{"task__pooling": how} for how in ("last", "mean", "max", "attention")],
    "tag": [
        {},
        {"task__output_layer": "crf"},
        {"task__char_encoder": "lstm"},
        {"task__char_encoder": "none"},
        {"tokenizer__name": "bpe"},
        {"tokenizer__name": "char", "task__output_layer": "crf"},
    ],
    "translate": [
        {},
        {"task__shared_vocabulary": False},
        {"model__tie_embeddings": False},
        {"task__attends": "before"},
        {"task__attention": "scaled"},
        {"tokenizer__name": "char"},
        {"task__shared_vocabulary": False, "model__tie_embeddings": False, "task__attention": "dot"},
    ],
}
BY_ARCH = [pytest.param(task, arch, {}, id=f"{task}-{arch}") for task in EXAMPLE_TASKS for arch in ARCHS]
BY_OPTION = [
    pytest.param(task, "lstm", options, id=f"{task}-" + "-".join(f"{k}={v}" for k, v in options.items()))
    for task in EXAMPLE_TASKS
    for options in OPTIONS[task]
]
everyone = pytest.mark.parametrize(("task", "arch", "options"), [*BY_ARCH, *BY_OPTION])


@everyone
def test_the_closed_count_is_that_of_the_built_model(task: str, arch: str, options: dict[str, Any]) -> None:
    setup = case(task, arch, **options)
    count = parameters(setup.settings, setup.dataset.vocabulary.sizes)
    assert count.total == sum(p.numel() for p in setup.model.parameters())


@everyone
def test_padding_changes_no_result(task: str, arch: str, options: dict[str, Any]) -> None:
    setup = case(task, arch, **options)
    split = setup.task.splits["validation"]
    with torch.inference_mode():
        together = setup.task.nats(setup.model, split, np.arange(len(split)))
        alone = np.concatenate([setup.task.nats(setup.model, split, np.array([row])) for row in range(len(split))])
    np.testing.assert_allclose(together, alone, atol=2e-5, rtol=1e-5)


@everyone
def test_every_parameter_gets_a_gradient(task: str, arch: str, options: dict[str, Any]) -> None:
    _, gradient_of = gradients(case(task, arch, **options))
    assert all(gradient is not None for gradient in gradient_of.values())
    still = [name for name, gradient in gradient_of.items() if not bool(gradient.abs().sum() > 0)]
    assert not [name for name in still if "segments" not in name and "attention.into.bias" not in name]


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_words_begin_quietly(task: str) -> None:
    setup = case(task, embedding=256)
    assert float(setup.model.embedding.weight.detach().norm(dim=1).mean()) == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("noise", ["model__embedding_dropout", "model__output_dropout", "task__word_dropout"])
@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_noise_is_made_where_it_is_asked_for_and_only_in_training(task: str, noise: str) -> None:
    still: dict[str, Any] = {"task__word_dropout": 0.0}
    assert _passes(case(task, **still).model.train(), case(task, **still)) == 1
    still[noise] = 0.5
    noisy = case(task, **still)
    assert _passes(noisy.model.train(), noisy) == 3
    assert _passes(noisy.model.eval(), noisy) == 1


def _passes(model: Any, setup: Case) -> int:
    """How many different losses three passes over one batch have."""
    batch = setup.task.batch("train", 0, 0)
    return len({round(float(setup.task.loss(model, batch, None, 0).total.detach()), 4) for _ in range(3)})


@pytest.mark.parametrize(("task", "arch", "options"), BY_ARCH)
def test_eight_examples_can_be_learnt_by_heart(task: str, arch: str, options: dict[str, Any]) -> None:
    setup = case(task, arch, train=8, batch_size=8, hidden=32, embedding=32, task__word_dropout=0.0, **_plain(task))
    optimizer = torch.optim.Adam(setup.model.parameters(), lr=0.01)
    for step in range(150):
        loss = setup.task.loss(setup.model.train(), setup.task.batch("train", 0, step), None, step)
        mean = loss.total / loss.count
        if float(mean.detach()) < 0.1:
            return
        optimizer.zero_grad()
        mean.backward()
        optimizer.step()
    raise AssertionError("the training loss stays above 0.1")


@pytest.mark.parametrize(("task", "arch", "options"), BY_ARCH)
def test_saved_and_loaded_it_is_the_same(task: str, arch: str, options: dict[str, Any]) -> None:
    setup = case(task, arch, **options)
    other = build_model(setup.settings.with_values(**{"train.seed": 7}), setup.dataset.vocabulary.sizes).eval()
    stored = tensors.to_bytes(weights_of(setup.model))
    load_weights(other, tensors.from_bytes(stored, Path("weights"), weights_of(other)))
    split, rows = setup.task.splits["test"], np.arange(4)
    with torch.inference_mode():
        assert np.array_equal(setup.task.nats(setup.model, split, rows), setup.task.nats(other, split, rows))


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_a_batch_depends_on_seed_and_index_alone(task: str) -> None:
    one, other = case(task), case(task)
    for index in (5, 0, 31):
        a, b = (setup.task.batch("train", 3, index) for setup in (one, other))
        assert all(torch.equal(x, y) for x, y in zip(a.tensors(), b.tensors(), strict=True))
    a, b = one.task.batch("train", 3, 0), one.task.batch("train", 4, 0)
    assert a.tensors()[0].shape != b.tensors()[0].shape or not torch.equal(a.tensors()[0], b.tensors()[0])


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_every_example_is_scored_once_and_in_order(task: str) -> None:
    setup = case(task)
    scores = setup.task.score(setup.model, "validation")
    split = setup.task.splits["validation"]
    assert len(scores.nats_U) == len(scores.sums_UK) == len(split)
    with torch.inference_mode():
        for row in range(len(split)):
            alone = setup.task.nats(setup.model, split, np.array([row]))[0]
            assert scores.nats_U[row] == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_the_figures_follow_from_the_sums(task: str) -> None:
    setup = case(task)
    scores = setup.task.score(setup.model, "test")
    value = float(setup.task.metric.value(scores.sums_UK.sum(0)))
    assert setup.task.metrics(scores)[setup.task.headline_metric.key] == pytest.approx(value)


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_floors_are_on_the_same_examples(task: str) -> None:
    setup = case(task)
    units = setup.task.unit_sums(setup.task.score(setup.model, "test"))
    baselines = setup.task.score_baselines(setup.dataset, "test", units)
    assert baselines
    for baseline in baselines:
        assert baseline.sums_UK is not None and baseline.sums_UK.shape == units.sums_UK.shape
        assert baseline.value == pytest.approx(float(setup.task.metric.value(baseline.sums_UK.sum(0))))
        assert baseline.metrics[setup.task.headline_metric.key] == baseline.value


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_words_are_hidden_while_training_only(task: str) -> None:
    apart: dict[str, Any] = (
        {"task__shared_vocabulary": False} if task == "translate" else {}
    )  # so that the source has an embedding of its own
    setup: Case = case(task, task__word_dropout=0.9, **apart)
    seen: list[torch.Tensor] = []
    embedding = getattr(setup.model, "source_embedding", setup.model.embedding)
    embedding.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    split = setup.task.splits["train"]
    with torch.inference_mode():
        setup.task.nats(setup.model, split, np.arange(6))
    unknown = setup.dataset.vocabulary.tokenizer.unknown
    assert not bool((seen[0] == unknown).any())
    seen.clear()
    gradients(setup)
    assert float((seen[0] == unknown).float().mean()) > 0.5


lengths = st.lists(st.integers(1, 30), min_size=1, max_size=60)


@given(lengths, st.integers(1, 9), st.one_of(st.none(), st.integers(1, 120)), st.integers(0, 3))
def test_a_pass_has_every_example_once(sizes: list[int], batch: int, tokens: int | None, seed: int) -> None:
    rows = [np.zeros(size, dtype=np.int64) for size in sizes]
    buckets = ExampleBatches(ExampleSplit((), rows, rows), batch, tokens, 25)
    index = 0
    for _ in range(2):
        met: list[int] = []
        while len(met) < len(buckets.included_N):
            chosen = buckets.rows(seed, index)
            index += 1
            longest = max(sizes[row] for row in chosen)
            assert len(chosen) <= batch if tokens is None else len(chosen) == 1 or longest * len(chosen) <= tokens
            met += chosen.tolist()
        assert sorted(met) == [at for at, size in enumerate(sizes) if size <= 25]
        if not len(buckets.included_N):
            break


def test_similar_lengths_stand_together_and_never_the_same_ones() -> None:
    """No two lengths are equal: were all examples sorted by length, an example would always have the same company."""
    rows = [np.zeros(size, dtype=np.int64) for size in range(1, 801)]
    buckets = ExampleBatches(ExampleSplit((), rows, rows), 4, None, 1000)
    first, second = ([frozenset(buckets.rows(0, at).tolist()) for at in range(e * 200, e * 200 + 200)] for e in (0, 1))
    assert len(set(first) & set(second)) < 10
    assert np.mean([max(batch) - min(batch) for batch in first]) < 40
    assert 0.3 < np.mean(np.diff([min(batch) for batch in first]) > 0) < 0.7  # short and long ones in turn


@given(lengths, st.integers(1, 200), st.integers(1, 20))
def test_scoring_takes_all_examples_within_bounds(sizes: list[int], tokens: int, most: int) -> None:
    batches = cut_by_tokens(np.argsort(sizes), np.array(sizes), tokens, most)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
    for rows in batches:
        longest = max(sizes[row] for row in rows)
        assert len(rows) <= most and (len(rows) == 1 or longest * len(rows) <= tokens)


def test_a_limit_takes_the_examples_that_reach_it() -> None:
    rows = [np.zeros(size, dtype=np.int64) for size in (3, 1, 2)]  # 6, 8 and 12 ids up to the end of each
    split = ExampleSplit((), rows, rows)
    assert [split.count_within(limit) for limit in (None, 1, 6, 7, 8, 9, 1000)] == [3, 1, 1, 2, 2, 3, 3]


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=8), min_size=1, max_size=6))
def test_padding_is_on_the_right_and_as_little_as_can_be(rows: list[list[int]]) -> None:
    ids_BT, mask_BT = pad_rows([np.array(row) for row in rows], fill=-1)
    assert ids_BT.shape == (len(rows), max(map(len, rows)))
    assert (mask_or_none(mask_BT) is None) == (len({len(row) for row in rows}) == 1)
    for row, ids, mask in zip(rows, ids_BT, mask_BT, strict=True):
        assert ids[mask].tolist() == row and mask.tolist() == [True] * len(row) + [False] * (len(ids) - len(row))


def _plain(task: str) -> dict[str, Any]:
    """Nothing that keeps a loss from zero."""
    return {"task__label_smoothing": 0.0} if task == "translate" else {}


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_an_example_too_long_to_be_read_at_once_is_refused_with_the_bound(
    task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = case(task, task__max_length=5)
    monkeypatch.setattr(example_tasks, "MAX_READ_TOKENS", 6)
    with pytest.raises(DataError, match=r"validation example \d+ has \d+ tokens: at most 6 are read at once"):
        setup.task.fit_settings(setup.settings, setup.dataset, lambda note: None)
    with pytest.raises(DataError, match=r"test example \d+ has \d+ tokens: at most 6 are read at once"):
        setup.task.score(setup.model, "test")
    texts, vocabulary = ["the cat", " ".join(["red"] * 7)], setup.dataset.vocabulary
    with pytest.raises(DataError, match="text 2 has 7 tokens: at most 6"):
        setup.task.predict(setup.model, texts, vocabulary, setup.settings)
    allowing = setup.settings.with_values(**{"task.max_length": 50})
    assert len(setup.task.predict(setup.model, texts, vocabulary, allowing)) == 2
