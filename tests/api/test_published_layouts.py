"""Texts as benchmarks publish them: words and characters between spaces, bytes split 90/5/5, and their recipes."""

import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch

import seqlab
from seqlab.audit.audit import audit
from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.comparison.execution.scores import score
from seqlab.comparison.plan.request import build_request
from seqlab.config import resolve
from seqlab.errors import DataError, UsageError
from seqlab.recipes import find_recipe

TINY: dict[str, Any] = {"hidden": 8, "embedding": 8, "window": 5, "batch_size": 4, "steps": 4, "dropout": 0}
TINY |= {"evaluate_every": 4, "sample_tokens": 0, "threads": 1}
SIZES = {"train": 200, "valid": 40, "test": 30}
# what follows "the" depends on the word before it
CYCLE = ["the", "<unk>", "the", "N", "the", "fox", "n't", "mr.", "the", "$"]
WORDS = set(CYCLE)


def write_parts(folder: Path, names: str, line: Any) -> Path:
    folder.mkdir()
    draw = random.Random(0)
    for split, lines in SIZES.items():
        (folder / names.format(split)).write_text("".join(line(draw) for _ in range(lines)))
    return folder


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """Lines as in the Penn Treebank; some are empty, as in WikiText. A word often follows the same one."""

    def line(draw: random.Random) -> str:
        first = draw.randrange(len(CYCLE))
        return f" {' '.join((CYCLE * 2)[first : first + draw.choice([0, 3, 9])])} \n"

    return write_parts(tmp_path / "ptb", "ptb.{}.txt", line)


@pytest.fixture
def symbols(tmp_path: Path) -> Path:
    return write_parts(
        tmp_path / "ptb-char",
        "ptb.char.{}.txt",
        lambda draw: f"{' '.join(draw.choices('abcde_', k=draw.randrange(2, 30)))} \n",
    )


def test_words_are_scored_as_published(words: Path, tmp_path: Path) -> None:
    """Perplexity over all words and ends of lines but the first, with the state carried through the whole part."""
    run = seqlab.train(words, recipe="zaremba-200/untied", **TINY, out=tmp_path / "run")
    tokenizer, text = run.tokenizer, (words / "ptb.test.txt").read_text()
    published = text.replace("\n", " <eos> ").split()
    assert [token.strip(" ").replace("\\n", "<eos>") for token in tokenizer.tokens()[:-1]] == sorted(
        [*WORDS, "<eos>"], key=lambda word: tokenizer.encode("\n" if word == "<eos>" else word)
    ), "every word of the file is in the vocabulary, and <unk> is one of them"
    ids = [tokenizer.encode("\n" if word == "<eos>" else word)[0] for word in published]
    assert tokenizer.encode(text) == ids and tokenizer.unknown not in ids
    with torch.inference_mode():
        logits_1TV, _ = run.model(torch.tensor([ids[:-1]]))
    nats_T = -logits_1TV[0].double().log_softmax(1).gather(1, torch.tensor(ids[1:])[:, None])
    result = run.evaluate(split="test")
    assert result.mode == "carry" and result.metrics["tokens"] == len(published) - 1
    assert result.metrics["perplexity"] == pytest.approx(math.exp(nats_T.mean()), rel=1e-5)
    assert run.evaluate(split="test", mode="window").metrics["perplexity"] != result.metrics["perplexity"]
    assert run.results is not None and run.results.mode == "carry"
    assert "state carried through the whole text" in (run.path / "README.md").read_text()


def test_such_a_run_resumes_and_passes_its_audit(words: Path, tmp_path: Path) -> None:
    run = seqlab.train(words, recipe="zaremba-200/tied", **TINY, out=tmp_path / "run")
    repeats = {"the splits do not overlap", "held-out data is not copied with small changes"}  # so do these files
    assert {check.name for check in audit(run) if check.failed} == repeats
    assert (more := seqlab.resume(run, more=2).results) is not None and more.steps == 6
    assert str(run.generate("the fox", 5))[:1] in " \n", "a space before every word"


def test_baselines_read_on_where_the_state_is_carried(words: Path, tmp_path: Path) -> None:
    carry, window = (
        seqlab.train(words, recipe="zaremba-200/untied", **TINY, out=tmp_path / mode, settings={"task.mode": mode})
        for mode in ("carry", "window")
    )
    ngrams: list[Any] = [run.results and run.results.main_baseline for run in (carry, window)]
    assert ngrams[0].metrics == ngrams[1].carried != ngrams[1].metrics
    assert "begins anew" in ngrams[1].about and "begins anew" not in ngrams[0].about
    assert carry.evaluate(mode="window").baseline is None, "it was not measured in windows"
    assert (baseline := window.evaluate(mode="carry").baseline) and baseline.metrics == ngrams[0].metrics


def test_symbols_are_the_text_that_they_spell(symbols: Path, tmp_path: Path) -> None:
    run = seqlab.train(symbols, recipe="ptb-char", **TINY, out=tmp_path / "run")
    assert run.tokenizer.tokens() == ["\\n", " ", "a", "b", "c", "d", "e", "<unknown>"]
    spelled = (symbols / "ptb.char.test.txt").read_text().replace(" ", "").replace("_", " ")
    assert run.text("test") == spelled
    metrics = run.evaluate(split="test").metrics
    assert metrics["tokens"] == len(spelled) - 1
    assert metrics["bits_per_char"] == pytest.approx(metrics["nats_per_token"] / math.log(2)), "bits per symbol"
    assert run.evaluate(symbols / "ptb.char.test.txt").metrics == pytest.approx(metrics)
    assert not [check.name for check in audit(run) if check.failed]


def test_a_text_without_that_layout_is_refused(words: Path) -> None:
    with pytest.raises(DataError, match=r"between spaces, and corpus\.layout=symbols expects one"):
        seqlab.train(words, recipe="ptb-char", **TINY)


def test_enwik8_is_split_by_bytes(tmp_path: Path) -> None:
    text = "é" * 300 + "abcdefghij" * 100 + "語 \n" * 100
    (tmp_path / "enwik8").write_text(text)
    raw = text.encode()
    run = seqlab.train(tmp_path / "enwik8", recipe="enwik8", **TINY, out=tmp_path / "run")
    parts = [run.text(split).encode() for split in ("train", "validation", "test")]
    assert b"".join(parts) == raw
    ends = len(parts[0]), len(parts[0]) + len(parts[1])
    for end, percent in zip(ends, (90, 95), strict=True):
        cut = len(raw) * percent // 100
        assert 0 <= cut - end < 3, "at the last character that ends there"
    assert run.config["corpus"]["rule"] == "90/5/5, contiguous, by bytes"
    assert run.evaluate(split="test").metrics["tokens"] == len(parts[2]) - 1


def test_a_comparison_takes_the_files_of_a_folder(words: Path, tmp_path: Path) -> None:
    request = build_request(words, "zaremba-650", {}, {})
    assert list(request.models) == ["untied", "tied"]
    for model in request.models.values():
        assert model.corpus.test == (str(words / "ptb.test.txt"),) and model.corpus.split == "contiguous"
    (tmp_path / "t.txt").write_text("some words " * 50)
    (model,) = build_request(tmp_path / "t.txt", None, {}, {"archs": "gru", "split_ratios": "90/5/5"}).models.values()
    assert model.corpus.split == "contiguous"


def test_a_comparison_judges_the_carried_state(symbols: Path, tmp_path: Path) -> None:
    run = seqlab.train(symbols, recipe="ptb-char", **TINY, out=tmp_path / "run")
    scores = score(run, "test", None)
    assert scores.carried == scores.metrics["nats_per_token"] == run.evaluate(split="test").metrics["nats_per_token"]
    assert not scores.loss_by_position, "there are no windows"


@pytest.mark.slow
def test_a_comparison_says_its_mode(symbols: Path, tmp_path: Path) -> None:
    comparison = seqlab.compare(
        symbols, archs="gru", seeds=1, budget="steps=4", match="none", tune=0, out=tmp_path / "c", jobs=1, window=16,
        settings={"corpus.layout": "symbols", "task.mode": "carry"}, hidden=8, embedding=8, batch_size=4,
    )  # fmt: skip
    assert comparison.results.protocol["mode"] == "carry"


def test_the_recipes_say_what_the_paper_says() -> None:
    """Rates and clipping are those of a loss that is summed over a window, divided by its length."""
    published = {"zaremba-200": (200, 20, 0.0, 0.1, 4, 13, 0.5), "zaremba-650": (650, 35, 0.5, 0.05, 6, 39, 1 / 1.2)}
    for name, (width, window, dropout, scale, after, epochs, decay) in published.items():
        for model, tables in find_recipe(name).models.items():
            result = resolve(tables)
            lstm, train = result.backbone.settings_as(LstmSettings), result.train
            assert (lstm.hidden, lstm.layers, result.model.embedding, lstm.forget_bias) == (width, 2, width, 0)
            rates = (lstm.dropout, result.model.embedding_dropout, result.model.output_dropout)
            assert {rate or 0.0 for rate in rates} == {dropout} and any(rate is not None for rate in rates)
            assert result.model.init_scheme() == ("uniform", scale)
            assert result.model.tie_embeddings == (model == "tied")
            assert (train.lr / window, (train.clip_norm or 0) * window) == pytest.approx((1, 5))
            assert (train.decay_after, train.epochs, train.optimizer, train.momentum) == (after, epochs, "sgd", 0)
            assert train.decay == pytest.approx(decay)


def test_what_does_not_apply_is_refused(words: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"train\.decay does nothing: train\.schedule is cosine"):
        seqlab.train(words, **TINY, settings={"train.decay": 0.9})
    with pytest.raises(UsageError, match="90/5/5 is contiguous"):
        seqlab.train(words / "ptb.train.txt", **TINY, split_ratios="90/5/5", split="scattered")
    (tmp_path / "t.conll").write_text("a X\nb Y\n\n" * 20)
    with pytest.raises(UsageError, match=r"tokenizer\.split=spaces does nothing for --task tag"):
        seqlab.train(tmp_path / "t.conll", steps=1, settings={"tokenizer.split": "spaces"})
    with pytest.raises(UsageError, match=r"corpus\.layout does nothing for --task tag"):
        seqlab.train(tmp_path / "t.conll", steps=1, settings={"corpus.layout": "symbols"})
