"""Unknown words pay for their spelling, so that losses per character compare across vocabularies."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from seqlab.config import build_settings
from seqlab.contracts import TextScores
from seqlab.data.text.given_splits import read_text
from seqlab.errors import SeqlabWarning
from seqlab.runs.reopen import make_task
from seqlab.tasks.dataset import text_dataset
from seqlab.tasks.text import one_unit
from seqlab.tokenization.char import CharTokenizer
from seqlab.tokenization.spelling import Speller
from seqlab.tokenization.word import WordTokenizer

WORDS = [" the", " cat", " hat", " that", " at", "\n"]


def test_the_probabilities_of_what_follows_add_up_to_one():
    speller = Speller(WORDS)
    for before in ("", " ", "t", "z"):
        known = {character for word in WORDS for character in word} | {""}
        total = sum(math.exp(-speller.symbol_nats(before, symbol)) for symbol in known)
        new = math.exp(-speller.symbol_nats(before, "é") + 2 * math.log(256))
        assert total + new == pytest.approx(1)


def test_likely_spellings_are_cheap_and_new_characters_cost_their_bytes():
    speller = Speller(WORDS)
    assert speller.nats(" chat") < speller.nats("tach ")
    assert speller.nats(" ca語") - speller.nats(" caé") == pytest.approx(math.log(256))


@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
def test_every_unknown_token_has_a_cost():
    word, text = WordTokenizer(WORDS), " the dog that sat on the mat\n"
    ids = word.encode_array(text)
    nats_U = word.spelling_nats(text, ids)
    assert len(nats_U) == (ids == word.unknown).sum() == 4 and (nats_U > 0).all()
    char = CharTokenizer("abc")
    assert char.spelling_nats("aéb語", char.encode_array("aéb語")).sum() == pytest.approx(5 * math.log(256))
    assert len(char.spelling_nats("abc", char.encode_array("abc"))) == 0


def kneser_ney(file: Path, vocab_size: int) -> dict[str, float]:
    tokenizer = [("tokenizer.name", "word"), ("tokenizer.vocab_size", vocab_size)]
    settings = build_settings({"corpus": {"source": [str(file)]}}, tokenizer)
    dataset = text_dataset(read_text(settings.corpus), settings)
    task = make_task(settings, dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)
        scores = task.score_baselines(dataset, "validation", one_unit(dataset.splits["validation"]))
    return next(score for score in scores if score.name.startswith("kneser-ney")).metrics


@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
def test_a_smaller_vocabulary_is_no_better(shared_data: Path, tmp_path: Path):
    text = (shared_data / "tiny-shakespeare" / "input.txt").read_text()
    file = tmp_path / "play.txt"
    file.write_text(text[:300_000])
    everything = 20_000
    metrics = [kneser_ney(file, size) for size in (200, 1000, 5000, everything)]
    # counting is exact, so are these; a vocabulary of every training word has never seen an unknown one, and pays for
    # each by the little that smoothing leaves
    bits = [values["bits_per_char"] for values in metrics]
    assert bits == pytest.approx([3.62983, 2.51205, 2.14941, 2.28587], abs=1e-5)
    plain = [values["bits_per_char"] * (1 - values["spelling"] / 100) for values in metrics]
    assert plain == sorted(plain)  # what it was without spelling
    shares = [values["spelling"] for values in metrics]
    assert shares == sorted(shares, reverse=True) and 0 < shares[-1] < shares[0] < 100


@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_spelling_is_part_of_bits_and_not_of_perplexity(tmp_path: Path, documents: str):
    import seqlab

    file = tmp_path / "my.txt"
    file.write_text("".join(f"the cat number{n} sat on the mat\n" for n in range(100)))
    small = {"arch": "rnn", "hidden": 4, "embedding": 4, "window": 8, "steps": 1, "sample_tokens": 0, "threads": 1}
    run = seqlab.train(file, tokenizer="word", vocab_size=20, documents=documents, out=tmp_path / "run", **small)
    result = run.evaluate()
    scores, tokenizer = result.scores, run.tokenizer
    assert isinstance(scores, TextScores) and isinstance(tokenizer, WordTokenizer)
    spelling = float(np.sum(scores.spelling_U))
    speller = Speller(tokenizer.words)
    lines = run.text("validation").splitlines(keepends=True)
    spelled = [word for line in lines for word in line.removesuffix("\n").split() if word not in "the cat sat on mat"]
    assert len(spelled) == scores.unknown_tokens
    assert spelling == pytest.approx(sum(speller.nats(f" {word}") for word in spelled))
    assert result.metrics["perplexity"] == pytest.approx(math.exp(scores.nats / scores.tokens))
    total = scores.nats + spelling
    assert result.metrics["bits_per_char"] == pytest.approx(total / math.log(2) / scores.characters)
    assert result.metrics["spelling"] == pytest.approx(100 * spelling / total)
    assert np.sum(run.task().unit_sums(scores).sums_UK[:, 0]) == pytest.approx(total)
