"""What is right is found to be right, for every architecture, tokenizer and way of reading the text."""

from pathlib import Path
from typing import Any

import pytest
import torch
from audit_cases import VARIANTS, named, new_text, red, untrained

from seqlab.audit.audit import audit
from seqlab.audit.tolerance import TOLERANCE
from seqlab.registry import TOKENIZERS

ASKED_OF_WRITERS = 4


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("short") / "text.txt"
    path.write_text(new_text(4000), encoding="utf-8")
    return path


@pytest.mark.parametrize("variant", VARIANTS, ids=named)
def test_every_architecture(short: Path, variant: dict[str, Any]) -> None:
    result = audit(untrained(short, **variant))
    assert not [check for check in result if check.failed]
    left_out = [check for check in result if "not applicable: the model is bidirectional" in check.detail]
    assert len(left_out) == (ASKED_OF_WRITERS if variant["task"] == "masked" else 0)


# words that only held-out text has
@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize("tokenizer", list(TOKENIZERS))
@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_every_tokenizer_and_kind_of_text(text: Path, tokenizer: str, documents: str) -> None:
    size = {"tokenizer.vocab_size": 400} if "vocab_size" in TOKENIZERS.settings(tokenizer).model_fields else {}
    assert not red(untrained(text, size, tokenizer=tokenizer, documents=documents, split_ratios="80/10/10"))


@pytest.mark.parametrize("arch", sorted({variant["arch"] for variant in VARIANTS if variant["task"] == "language"}))
def test_a_stream_whose_state_is_carried(text: Path, arch: str) -> None:
    result = {check.name: check for check in audit(untrained(text, arch=arch, batching="stream"))}
    assert not any(check.failed for check in result.values())
    assert "at most" in result["training carries its state"].detail


def test_a_text_that_is_shorter_than_everything(tmp_path: Path, text: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text(text.read_text(encoding="utf-8")[:400], encoding="utf-8")
    assert not red(untrained(short, window=4, batch_size=2))


def test_a_long_text_is_counted_at_its_beginning(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.audit.scoring.MAX_LOGITS", 5000)
    for documents in ("stream", "lines"):
        assert not red(untrained(text, documents=documents))


def test_rounding_that_a_model_amplifies_is_no_mistake(text: Path) -> None:
    """Large weights make a recurrence chaotic: two ways of computing it part within a few dozen tokens."""
    run = untrained(text, {"model.initialization": "normal:0.25"}, arch="rnn", hidden=64)
    result = {check.name: check for check in audit(run)}
    assert "amplifies" in result["a padded row equals the row alone"].detail
    assert not any(check.failed for check in result.values())


def test_an_audit_leaves_everything_as_it_was(text: Path) -> None:
    run = untrained(text)
    weights = [parameter.clone() for parameter in run.model.parameters()]
    state = torch.get_rng_state()
    audit(run)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(one, other) for one, other in zip(run.model.parameters(), weights, strict=True))
    assert not run.model.training and not run.path.exists()


def test_every_line_has_a_number_or_says_why_not(text: Path) -> None:
    for check in audit(untrained(text)):
        assert "not applicable" in check.detail or any(letter.isdigit() for letter in check.detail), check
    assert TOLERANCE == 1e-4
