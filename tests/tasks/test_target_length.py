"""How long a translation may get: it follows from the training pairs, and what is cut off is counted and said."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from example_cases import Case, case
from example_files import write_examples

from seqlab import api
from seqlab.audit.audit import audit
from seqlab.decode.translation import translate
from seqlab.errors import UsageError
from seqlab.tasks.example_settings import ROOM, ROOM_FACTOR, TranslateSettings
from seqlab.tasks.too_long import too_long_notes
from seqlab.tasks.translate import TranslateTask
from seqlab.training.progress import Reporter

LAST = 60


@pytest.fixture(scope="module")
def long_answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commands of three words, answers of 30 to 60: all words from the named one to the last."""
    rows = [
        f"say from w{first}\t{' '.join(f'w{number}' for number in range(first, LAST))}" for first in range(LAST // 2)
    ]
    path = tmp_path_factory.mktemp("answers") / "answers.tsv"
    path.write_text("\n".join(["source\ttarget", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def answering(long_answers: Path) -> api.Run:
    return api.train(
        long_answers,
        out=long_answers.parent / "run",
        task="translate",
        arch="gru",
        tokenizer="word",
        hidden=32,
        embedding=32,
        dropout=0.0,
        lr=0.02,
        steps=60,
        batch_size=8,
        threads=1,
        settings={"task.metric": "exact", "task.label_smoothing": 0.0, "train.warmup": 10},
        reporter=Reporter(),
    )


def endless(setup: Case) -> Case:
    """A model that never ends its output."""
    with torch.no_grad():
        setup.model.output.bias[setup.dataset.vocabulary.target_tokenizer.end] = -100.0
    return setup


@pytest.mark.filterwarnings("ignore:100.0% of the target tokens:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize("beam", [1, 4])
def test_long_answers_to_short_commands_are_written_to_their_end(answering: api.Run, beam: int) -> None:
    answers = answering.predict([f"say from w{first}" for first in range(0, LAST // 2, 5)], beam=beam)
    right = [answer for answer in answers if answer.translation.endswith(f"w{LAST - 2} w{LAST - 1}")]  # pyright: ignore
    assert len(right) >= 5, [answer.translation for answer in answers]  # pyright: ignore
    assert not any(answer.truncated for answer in right)  # pyright: ignore


def test_limits_follow_from_the_training_pairs_and_are_kept_with_the_run(answering: api.Run) -> None:
    train = answering.task().splits["train"]
    task = answering.settings.task.settings_as(TranslateSettings)
    tokens_N = train.target_lengths_N - 1
    assert task.max_target_length == math.ceil(ROOM_FACTOR * tokens_N.max()) + ROOM
    assert task.max_target_ratio == pytest.approx(ROOM_FACTOR * (tokens_N / train.input_lengths_N).max(), abs=0.01)
    assert api.load(answering.path).settings == answering.settings
    assert all(
        task.target_limit(source) > target for source, target in zip(train.input_lengths_N, tokens_N, strict=True)
    )


def test_the_limit_of_examples_says_what_it_counts() -> None:
    train = case("translate").dataset.splits["train"]
    (note,) = too_long_notes(train, int(train.longest_N.max()) - 1)
    assert "tokens in the source or in the target (task.max_length)" in note


def test_limits_that_are_set_are_kept(tmp_path: Path) -> None:
    setup = case("translate", task__max_target_length=7, task__max_target_ratio=0.5)
    log: list[str] = []
    assert TranslateTask.fit_settings(setup.settings, setup.dataset, log.append) == setup.settings
    longest = int((setup.dataset.splits["train"].target_lengths_N - 1).max())
    assert len(log) == 1 and f"training examples (up to {longest} tokens)" in log.pop(), (
        "longer than what may be written"
    )
    task = setup.settings.task.settings_as(TranslateSettings)
    assert [task.target_limit(length) for length in (0, 1, 100)] == [7, 7, 7]
    free = task.model_copy(update={"max_target_length": 100})
    assert [free.target_limit(length) for length in (0, 1, 4, 1000)] == [ROOM, ROOM + 1, ROOM + 2, 100]
    unset = setup.settings.with_values(**{"task.max_target_ratio": None})
    half = TranslateTask.fit_settings(unset, setup.dataset, log.append).task.settings_as(TranslateSettings)
    assert half.max_target_length == 7 and half.max_target_ratio is not None
    assert "task.max_target_ratio, which was not set, is 1.5 times the most in training" in log[0]


@pytest.mark.parametrize("beam", [1, 3])
def test_what_is_cut_off_is_counted_and_said(beam: int) -> None:
    setup = endless(case("translate", task__beam=beam, task__max_target_length=6))
    metrics = setup.task.metrics(setup.task.score(setup.model, "test"))
    assert metrics["truncated"] == metrics["sentences"] == 12
    assert "12 of 12 translations were cut off" in setup.task.result_sentence(metrics)
    (prediction,) = setup.task.predict(setup.model, ["the cat"], setup.dataset.vocabulary, setup.settings)
    assert prediction.truncated and "cut off" in str(prediction.lines(80)[1])
    (longer,) = setup.task.predict(setup.model, ["the cat"], setup.dataset.vocabulary, setup.settings, max_length=9)
    assert len(longer.translation.split()) > len(prediction.translation.split())


def test_what_comes_to_its_end_is_not_counted() -> None:
    setup = case("translate", task__beam=1)
    with torch.no_grad():
        setup.model.output.bias[setup.dataset.vocabulary.target_tokenizer.end] = 100.0
    metrics = setup.task.metrics(setup.task.score(setup.model, "test"))
    assert metrics["truncated"] == 0 and "cut off" not in setup.task.result_sentence(metrics)


def test_the_limit_of_a_text_does_not_depend_on_the_others_of_its_batch() -> None:
    setup = endless(case("translate"))
    sources = setup.task.splits["test"].inputs
    together = translate(setup.model, sources, setup.dataset.vocabulary, 1, 0.7, lambda length: 2 * length)
    assert [len(result.tokens) for result in together] == [2 * len(source) for source in sources]
    assert not any(result.finished for result in together)
    at = min(range(len(sources)), key=lambda row: len(sources[row]))  # the others write on after it
    alone = translate(setup.model, [sources[at]], setup.dataset.vocabulary, 1, 0.7, lambda length: 2 * length)[0]
    assert alone.tokens == together[at].tokens
    assert alone.logprob == pytest.approx(together[at].logprob, rel=1e-4)
    assert alone.score == pytest.approx(together[at].score, rel=1e-4)


def test_the_audit_names_references_that_no_output_can_reach(tmp_path: Path) -> None:
    source = write_examples("translate", tmp_path)
    tiny: dict[str, Any] = {"steps": 2, "hidden": 8, "embedding": 8, "batch_size": 4, "threads": 1}
    checks = {}
    for name, settings in (("short", {"task.max_target_length": 2}), ("fitted", {})):
        run = api.train(source, out=tmp_path / name, settings={"task.beam": 1, **settings}, reporter=Reporter(), **tiny)
        (checks[name],) = [check for check in audit(run) if check.name == "outputs may be as long as their references"]
    assert not checks["short"].passed and "outputs were cut off on validation" in checks["short"].detail
    assert checks["fitted"].passed and "0 of 6 references are longer" in checks["fitted"].detail


@pytest.mark.parametrize("options", [{"beam": 0}, {"beam": 10**20}, {"n_best": 10**9}, {"max_length": 0}])
def test_options_beyond_their_limits_are_refused(options: dict[str, int]) -> None:
    setup = case("translate")
    with pytest.raises(UsageError, match="give a number from 1 to"):
        setup.task.predict(setup.model, ["the cat"], setup.dataset.vocabulary, setup.settings, **options)


def test_unknown_options_are_refused(answering: api.Run) -> None:
    with pytest.raises(UsageError, match="no option longest"):
        answering.predict("say from w1", longest=3)


def test_limits_leave_out_what_training_leaves_out() -> None:
    """A pair that is too long for training sets no limit."""
    setup = case("translate", task__max_length=4)
    fitted = TranslateTask.fit_settings(setup.settings, setup.dataset, lambda note: None)
    task = fitted.task.settings_as(TranslateSettings)
    assert int(np.max(setup.dataset.splits["train"].target_lengths_N)) > 4
    assert task.max_target_length is not None and task.max_target_length <= math.ceil(ROOM_FACTOR * 4) + ROOM
