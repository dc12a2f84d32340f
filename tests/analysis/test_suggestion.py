import shlex
from contextlib import nullcontext
from dataclasses import replace

import pytest

from seqlab.analysis import suggestion as module
from seqlab.analysis.scan import scan_text
from seqlab.analysis.suggestion import (
    SuggestedSettings,
    TrainingEstimate,
    estimate_training,
    format_duration,
    format_range,
    suggest_settings,
)
from seqlab.config import build_settings, expand_short_names
from seqlab.data.text.corpus import corpus_from_text, open_corpus
from seqlab.data.text.split import split_text
from seqlab.runs.load import build_model
from seqlab.runs.reopen import make_task
from seqlab.tasks.dataset import text_dataset
from seqlab.training import budget as prepare
from seqlab.training import timing
from seqlab.training.budget import budget_in_steps
from seqlab.training.dropout import with_default_dropout
from seqlab.training.progress import Reporter
from seqlab.training.timing import OtherPrograms

SOURCE = {"corpus": {"source": ["x"]}}


@pytest.fixture(autouse=True)
def quick_timing(monkeypatch):
    monkeypatch.setattr(timing, "TIMED_STEPS", 2)
    for user in (prepare, module):
        monkeypatch.setattr(user, "default_threads", lambda: 1)


def found_in(text="some text\n", **changes):
    """What a scan would tell of a text with these numbers."""
    result = scan_text(corpus_from_text(text, "x"))
    distinct = changes.pop("distinct", 60)
    return replace(result, character_stats=replace(result.character_stats, distinct=distinct), **changes)


@pytest.mark.parametrize(
    ("characters", "distinct", "expected"),
    [
        (10_000, 60, {"tokenizer": "char", "hidden": 256, "window": 128}),
        (1_000_000, 60, {"tokenizer": "char", "hidden": 256, "window": 128}),
        (1_000_000, 3000, {"tokenizer": "bpe", "hidden": 256}),
        (19_000_000, 60, {"tokenizer": "char", "hidden": 512, "steps": 5000}),
        (21_000_000, 60, {"tokenizer": "bpe", "hidden": 512}),
    ],
)
def test_settings_follow_from_length_and_symbols(characters, distinct, expected):
    actual = suggest_settings(found_in(characters=characters, distinct=distinct), "stream")
    assert expected.items() <= actual.settings.items()
    assert "documents" not in actual.settings
    assert actual.reasons


def test_what_is_suggested_can_be_set():
    for characters in (100, 10**6, 10**7, 10**9):
        for documents in ("stream", "lines"):
            result = suggest_settings(found_in(characters=characters), documents)
            settings = build_settings(SOURCE, expand_short_names(result.settings))
            assert settings.corpus.documents == documents


def test_a_list_is_read_line_by_line():
    names = "".join(f"name {number}\n" for number in range(100))
    result = suggest_settings(found_in(names), "stream")
    assert result.settings["documents"] == "lines"
    assert any("--documents lines" in reason for reason in result.reasons)
    asked_for = suggest_settings(found_in(names), "lines")
    assert asked_for.settings == result.settings
    assert not any("--documents" in reason for reason in asked_for.reasons)


def test_the_command_is_one_line_for_the_shell():
    command = SuggestedSettings({"arch": "lstm", "hidden": 256}, []).command(["my text.txt", "$HOME.txt"])
    assert shlex.split(command) == ["seqlab", "train", "my text.txt", "$HOME.txt", "--arch", "lstm", "--hidden", "256"]


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_the_time_is_that_of_timed_steps(documents):
    corpus = open_corpus(["toy-words"])
    actual = scan_text(corpus)
    wanted = SuggestedSettings(
        {"hidden": 16, "embedding": 8, "steps": 100, "documents": documents, "batch_size": 8}, []
    )
    same, expected = estimate_training(wanted, actual, corpus)
    assert same.settings == {**wanted.settings, "patience": prepare.PATIENCE, "dropout": 0.0}
    assert (expected.steps, expected.threads) == (100, 1)
    assert expected.seconds_per_step > 0
    assert expected.seconds > 100 * expected.seconds_per_step
    assert f"100 steps of {expected.parameters:,} parameters take about" in str(expected)


def test_a_short_text_is_not_passed_over_too_often():
    text = "the cat sat on the mat. " * 40
    corpus = corpus_from_text(text, "x")
    suggestion, expected = estimate_training(suggest_settings(scan_text(corpus), "stream"), scan_text(corpus), corpus)
    assert expected.steps == suggestion.settings["steps"] == prepare.LEAST_STEPS
    assert suggestion.settings["dropout"] == 0.5


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_the_suggested_training_is_the_one_without_options(documents):
    """Of a text that gives no reason for anything else; train then takes the same steps, patience and dropout."""
    corpus = corpus_from_text("the cat sat on the mat.\n" * 200, "x")
    scan = scan_text(corpus)
    suggestion, _ = estimate_training(suggest_settings(scan, documents), scan, corpus)
    plain = build_settings(SOURCE, [("corpus.documents", documents)])
    dataset = text_dataset(split_text(corpus, plain.corpus), plain)
    sizes = dataset.vocabulary.sizes
    budget = budget_in_steps(plain, build_model(plain, sizes), make_task(plain, dataset), Reporter())
    plain = with_default_dropout(plain.with_values(**budget), sizes, len(dataset.splits["train"]))
    chosen = build_settings(SOURCE, expand_short_names(suggestion.settings)).model_dump()
    expected = plain.model_dump()
    for section in ("tokenizer", "task", "model"):
        assert chosen[section] == expected[section], section
    assert chosen["backbone"]["settings"] | {"dropout": 0.0} == expected["backbone"]["settings"]
    assert {key for key, value in chosen["train"].items() if value != expected["train"][key]} == {"threads"}


def test_a_sample_stands_for_the_whole():
    """Ten times the text allows ten times the steps."""
    sample = corpus_from_text("the cat sat on the mat. " * 200, "x")
    result = replace(scan_text(sample), characters=10 * 4800)
    wanted = SuggestedSettings({"hidden": 8, "embedding": 4, "window": 16, "batch_size": 4, "steps": 10**9}, [])
    suggestion, _ = estimate_training(wanted, result, sample)
    assert suggestion.settings["steps"] == 10 * prepare.MAX_EPOCHS * 4320 / 64


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.01, "1 s"), (75, "75 s"), (250, "4 min"), (5000, "83 min"), (10_000, "2.8 h")]
)
def test_durations(seconds, words):
    assert format_duration(seconds) == words


def test_the_time_in_words():
    said = str(TrainingEstimate(steps=2500, seconds=240, seconds_per_step=0.09, parameters=435_304, threads=2))
    assert said == "2,500 steps of 435,304 parameters take about 4 min on 2 threads of this machine."


def test_the_time_on_a_busy_machine_is_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = OtherPrograms(cores=99.0, own_cores=0.25)
    monkeypatch.setattr("seqlab.analysis.suggestion.watch_other_programs", lambda: nullcontext(busy))
    monkeypatch.setattr(timing, "take_step", lambda *_: None)
    scan = scan_text(corpus := corpus_from_text("some text to read\n" * 200, "x"))
    estimate = estimate_training(suggest_settings(scan, "stream"), scan, corpus)[1]
    low, high = estimate.seconds_range or (0.0, 0.0)
    assert low <= 0.25 * estimate.seconds and high >= estimate.seconds
    assert f"take about {format_range(low, high)} on 1 thread of this machine. The machine is busy" in str(estimate)


@pytest.mark.parametrize(
    ("low", "high", "words"), [(120, 420, "2 to 7 min"), (40, 120, "40 s to 2 min"), (5, 5, "5 s")]
)
def test_ranges_of_time(low: float, high: float, words: str) -> None:
    assert format_range(low, high) == words


def test_an_estimate_times_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A doctor that takes minutes on a busy machine is of no use."""
    taken: list[int] = []
    monkeypatch.setattr(timing, "TIMED_STEPS", 20)
    monkeypatch.setattr(timing, "ENOUGH_SECONDS", 0.0)
    monkeypatch.setattr(timing, "take_step", lambda _, number: taken.append(number))
    scan = scan_text(corpus := corpus_from_text("some text to read\n" * 200, "x"))
    estimate_training(suggest_settings(scan, "stream"), scan, corpus)
    assert len(taken) == 1 + timing.ROUGH_STEPS
