"""What else an audit catches: parts that share text, vocabularies from elsewhere, what a seed does not decide."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from audit_cases import TINY, learnt_from_everything, new_text, red, untrained
from torch import Tensor

from seqlab import api
from seqlab.audit.audit import audit
from seqlab.audit.data import near_copied, split_overlap, vocabulary
from seqlab.audit.model import steps
from seqlab.audit.origins import origins
from seqlab.audit.scoring import metric
from seqlab.audit.tolerance import largest
from seqlab.audit.training import same_seed
from seqlab.config import RunSettings
from seqlab.contracts import TextBatch
from seqlab.data.text.split import SplitText
from seqlab.registry import TOKENIZERS
from seqlab.tasks.language import LanguageTask
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.training.progress import Reporter

OVERLAP, SEED, VOCABULARY, ORIGINS = (check.name for check in (split_overlap, same_seed, vocabulary, origins))
COPIED = near_copied.name


def written(folder: Path, content: str, name: str = "text.txt") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


# --- parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "expected"), [(0.05, set()), (0.2, {OVERLAP, COPIED})])
def test_held_out_text_that_stands_in_the_training_part(tmp_path: Path, share: float, expected: set[str]) -> None:
    new = new_text(20_000)[:20_000]
    repeated = round(2000 * share)
    assert red(untrained(written(tmp_path, new[: 20_000 - repeated] + new[:repeated]))) == expected


def test_held_out_text_that_is_copied_with_small_changes(tmp_path: Path) -> None:
    """One character in 30 is another: word for word, hardly anything is repeated."""
    new = new_text(18_000)[:18_000]
    copied = "".join("." if at % 30 == 15 else letter for at, letter in enumerate(new[:2000]))
    assert red(untrained(written(tmp_path, new + copied))) == {COPIED}


def test_a_test_part_that_stands_in_the_training_part(tmp_path: Path) -> None:
    new = new_text(9000)[:9000]
    result = {
        check.name: check for check in audit(untrained(written(tmp_path, new + new[:1000]), split_ratios="80/10/10"))
    }
    assert not result[OVERLAP].passed
    assert "validation: 0 of" in result[OVERLAP].detail and "test: 31 of 31" in result[OVERLAP].detail


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_a_validation_file_that_is_part_of_the_test_file(tmp_path: Path, documents: str) -> None:
    """What is chosen on validation is then chosen on the test, too."""
    new = new_text(20_000).replace(" ", "\n") if documents == "lines" else new_text(20_000)
    train, test = (written(tmp_path, part, f"{at}.txt") for at, part in enumerate((new[:16_000], new[16_000:20_000])))
    validation = tmp_path / "validation.txt"
    validation.write_bytes(new[16_000:19_000].encode().replace(b"\n", b"\r\n"))
    said: list[str] = []
    reporter = Reporter()
    reporter.log = said.append  # pyright: ignore[reportAttributeAccessIssue]
    files = {"validation": str(validation), "test": str(test), "documents": documents}
    run = api.train(train, out=tmp_path / "run", reporter=reporter, **{**TINY, **files})
    result = {check.name: check for check in audit(run)}
    assert not result[OVERLAP].passed and "also in the validation split" in result[OVERLAP].detail
    (note,) = (note for note in said if "the validation split: what is chosen on validation" in note)
    if documents == "lines":  # the command that is printed mends it
        command = note.partition("repeated lines: ")[2]
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)
        kept, known = (Path(tmp_path, name).read_text().split() for name in ("new.txt", "validation.txt"))
        assert kept and not set(kept) & set(known)


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_parts_that_share_positions(text: Path, monkeypatch: pytest.MonkeyPatch, documents: str) -> None:
    run = untrained(text, documents=documents)

    def overlapping(self: SplitText, part: str, total: int) -> tuple[int, int]:
        return {"train": (0, total * 91 // 100), "validation": (total * 9 // 10, total), "whole": (0, total)}[part]

    monkeypatch.setattr(SplitText, "_bounds", overlapping)
    result = {check.name: check for check in audit(run)}
    assert not result[OVERLAP].passed and "in two splits" in result[OVERLAP].detail


def test_scattered_parts_that_share_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = untrained(written(tmp_path, new_text(30_000)[:30_000]), split="scattered", split_ratios="80/10/10")
    assert not red(run)
    proper = SplitText.ranges

    def overlapping(self: SplitText, part: str) -> list[tuple[int, int]]:
        return [(first - 200 * (part == "train"), last) if first else (0, last) for first, last in proper(self, part)]

    monkeypatch.setattr(SplitText, "ranges", overlapping)
    result = {check.name: check for check in audit(run)}
    assert not result[OVERLAP].passed and "without its gaps" in result[OVERLAP].detail


# --- a vocabulary from elsewhere ------------------------------------------------------------------------------------


def learnt_from(other: Path) -> Any:
    """What --init does: the tokenizer of a run on another text."""

    def learn(split: SplitText, settings: RunSettings) -> Tokenizer:
        return untrained(other).tokenizer

    return learn


def origin_of(run: api.Run, path: str) -> dict[str, Any]:
    """What config.json says about the run that this one started from."""
    other = {
        "fingerprint": "other",
        "training_fingerprint": "other",
        "tokenizer_fingerprint": run.vocabulary.fingerprint,
    }
    return {"role": "init", "path": path, "source": ["other.txt"], "rule": "90/10", **other}


def test_a_vocabulary_of_another_run_is_no_leak(tmp_path: Path) -> None:
    """Though it has a symbol that only the held-out text uses, and another that nothing here does."""
    other = written(tmp_path, "é € " + new_text(3000), "other.txt")
    run = untrained(written(tmp_path, new_text(3000) + "é"), learn=learnt_from(other))
    assert red(run) == {VOCABULARY}  # nobody says where it comes from
    run.config["origins"] = [origin_of(run, str(tmp_path / "gone"))]
    result = {check.name: check for check in audit(run)}
    assert not any(check.failed for check in result.values())
    assert result[VOCABULARY].detail.endswith("gone'")
    assert result[ORIGINS].passed is None and "cannot be compared: there is no run" in result[ORIGINS].detail


def test_a_vocabulary_of_a_run_that_was_trained_on_what_is_held_out_here(tmp_path: Path) -> None:
    """Neither what this training part gives nor what all of the text gives."""
    new = new_text(3000)
    text = written(tmp_path, new + "é" + new_text(3000, seed=1)[:250] + "ü")
    other = written(tmp_path, new + "é" + new, "other.txt")
    with pytest.warns(UserWarning, match="ü"):
        assert red(untrained(text, learn=learnt_from(other))) == {VOCABULARY}


@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize("splits", [("validation", "test"), ("test",), ("train", "test")])
@pytest.mark.parametrize("tokenizer", ["bpe", "word"])
def test_a_vocabulary_of_any_held_out_split(text: Path, tokenizer: str, splits: tuple[str, ...]) -> None:
    def learn(split: SplitText, settings: RunSettings) -> Tokenizer:
        kind = TOKENIZERS.load(settings.tokenizer.name)
        return kind.train([split.text(name) for name in splits], settings.tokenizer.settings, split.by_lines)

    run = untrained(
        text,
        {"tokenizer.vocab_size": 400},
        learn=learn,
        tokenizer=tokenizer,
        split_ratios="80/10/10",
        window=4,
        batch_size=2,
    )
    assert red(run) == {VOCABULARY}


def test_a_vocabulary_that_all_text_gives_though_training_text_would_do(text: Path) -> None:
    assert red(untrained(text, learn=learnt_from_everything)) == set()


# --- seeds ----------------------------------------------------------------------------------------------------------


class Unseeded(LanguageTask):
    """Its batches are others each time."""

    def batch(self, split: str, seed: int, index: int) -> TextBatch:
        return super().batch(split, int(np.random.default_rng().integers(2**31)), index)


def test_batches_that_a_seed_does_not_decide(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.tasks.language.LanguageTask", Unseeded)
    assert red(untrained(text)) == {SEED}


@pytest.mark.parametrize("place", ["seqlab.training.step.seed_generators", "torch.manual_seed"])
def test_random_numbers_that_a_seed_does_not_decide(text: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Dropout that is not seeded before each step, and weights that are not seeded before they are drawn."""
    run = untrained(text, {"model.output_dropout": 0.3})
    monkeypatch.setattr(place, lambda number: None)
    assert red(run) == {SEED}


# --- what breaks ----------------------------------------------------------------------------------------------------


def test_a_check_that_breaks_off_fails_and_the_others_are_made(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = untrained(text)
    whole = len(audit(run))

    def breaks(*_: Any) -> None:
        raise IndexError("out of range")

    monkeypatch.setattr(run.model, "step", breaks)
    result = {check.name: check for check in audit(run)}
    assert len(result) == whole
    assert result[steps.name].detail == "raised IndexError: out of range"
    assert not result[steps.name].passed


def test_numbers_that_are_not_finite_never_pass(text: Path) -> None:
    run = untrained(text)
    with torch.no_grad():
        weight: Tensor = run.model.output.weight
        weight[:] = torch.nan
    right = {check.name for check in audit(run) if check.passed}
    assert right <= {VOCABULARY, OVERLAP, COPIED, SEED, "evaluation counts every token once"}


def test_one_number_that_is_not_finite_is_the_largest() -> None:
    assert np.isnan(largest([0.0, float("nan"), 1.0])), "Python's max would depend on the order"


class Flatters(LanguageTask):
    """Its tables say half of what was measured."""

    def metrics(self, scores: Any) -> dict[str, float]:
        measured = super().metrics(scores)
        return {**measured, "bits_per_char": measured["bits_per_char"] / 2}


def test_a_metric_that_the_nats_do_not_give(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.tasks.language.LanguageTask", Flatters)
    assert red(untrained(text)) == {"the metric equals an independent count"}


def test_numbers_that_differ_and_count_as_equal_are_explained(tmp_path: Path) -> None:
    """The first byte of a short text is context alone."""
    text = written(tmp_path, "".join(f"ab {number} \U0001f600\n" for number in range(300)))
    run = untrained(text, tokenizer="byte")
    (counted,) = (check for check in audit(run) if check.name == metric.name)
    assert counted.passed and "the first token is read and not scored, so up to" in counted.detail


def test_a_recount_of_a_part_says_so(tmp_path: Path) -> None:
    """Its number is another than that of the whole split."""
    details = {check.name: check.detail for check in audit(untrained(written(tmp_path, new_text(20_000))))}
    assert details[metric.name].startswith("validation, the first ")
