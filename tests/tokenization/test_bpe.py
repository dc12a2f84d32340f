"""Byte-pair encoding against the bare library and against the plain loop of pairs.py."""

import os
import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from merges import merge_pairs
from pydantic import ValidationError
from text_samples import SAMPLE, anything, awkward, project_root, quick, shared, trained
from tokenizers import Tokenizer as Library
from tokenizers import models, pre_tokenizers, trainers

from seqlab.errors import SeqlabWarning
from seqlab.tokenization import bpe
from seqlab.tokenization.bpe import BpeSettings, BpeTokenizer


def tokenizer() -> BpeTokenizer:
    trained_bpe = shared("bpe")
    assert isinstance(trained_bpe, BpeTokenizer)
    return trained_bpe


def spelt(text: str) -> list[bytes]:
    return [tokenizer().decode_bytes([number]) for number in tokenizer().encode(text)]


def split(text: str) -> list[bytes]:
    """The library's own split into words, as bytes of the text."""
    trained_bpe = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    return [text[start:end].encode() for _, (start, end) in trained_bpe]


@given(text=anything)
@quick
def test_the_library_and_the_plain_loop_agree(text: str) -> None:
    ranks = {pair: rank for rank, pair in enumerate(tokenizer().merges)}
    expected = [part for piece in split(text) for part in merge_pairs(piece, ranks)]
    assert spelt(text) == expected


@given(text=awkward)
@quick
def test_chunks_give_what_the_whole_text_gives(text: str) -> None:
    whole = spelt(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe, "CHUNK", 1)
        patch.setattr(bpe, "BATCH", 2)
        assert spelt(text) == whole


def test_every_kind_of_space_is_a_safe_neighbour() -> None:
    """Ours and the library's ideas of a space differ; a cut must be safe whatever stands before it."""
    odd = [chr(code) for code in range(0x30000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zs", "Zl", "Zp")]
    for character in odd:
        for text in (f"a{character} b", f"{character}{character}\nb", f"a {character}\t b", f"'{character} 's"):
            whole = split(text)
            assert [piece for part in bpe.chunk_text([text], 1) for piece in split(part)] == whole


def test_the_vocabulary_is_the_bytes_and_then_the_merges() -> None:
    trained_bpe = tokenizer()
    assert trained_bpe.decode_bytes(range(256)) == bytes(range(256))
    joined = list(dict.fromkeys(left + right for left, right in trained_bpe.merges))
    assert [trained_bpe.decode_bytes([number]) for number in range(256, trained_bpe.ordinary_size)] == joined


def test_two_pairs_may_join_to_one_symbol() -> None:
    trained_bpe = BpeTokenizer([(97, 97), (97, 256), (256, 97)])
    assert trained_bpe.ordinary_size == 258
    assert trained_bpe.decode(trained_bpe.encode("aaaa aaa")) == "aaaa aaa"
    assert BpeTokenizer.from_json(trained_bpe.to_json()).fingerprint == trained_bpe.fingerprint


def test_training_does_not_depend_on_the_process() -> None:
    code = (
        "import sys; from seqlab.tokenization.bpe import BpeSettings, BpeTokenizer;"
        "text = sys.stdin.buffer.read().decode(); print(BpeTokenizer.train([text], BpeSettings(), False).fingerprint)"
    )
    prints = set()
    for hash_seed, threads in (("1", "1"), ("2", "4")):
        given = {**os.environ, "PYTHONHASHSEED": hash_seed, "RAYON_NUM_THREADS": threads}
        command, text = [sys.executable, "-c", code], (SAMPLE * 3).encode()
        done = subprocess.run(command, input=text, env=given, cwd=project_root(), capture_output=True, check=True)
        prints.add(done.stdout.decode().strip())
    assert prints == {trained("bpe", SAMPLE * 3).fingerprint}


def test_size_bounds_the_vocabulary() -> None:
    assert trained("bpe", SAMPLE * 2, vocab_size=256).ordinary_size == 256
    assert trained("bpe", SAMPLE * 2, vocab_size=300).ordinary_size == 300
    for size in (255, 2**20 + 1):
        with pytest.raises(ValidationError):
            BpeSettings(vocab_size=size)


def test_runs_do_not_double_without_end() -> None:
    trained_bpe = trained("bpe", "a" * 100_000 + "\n" + "ab" * 10_000)
    lengths = [len(trained_bpe.decode_bytes([number])) for number in range(trained_bpe.ordinary_size)]
    assert max(lengths) <= bpe.MAX_TOKEN_BYTES


def test_long_words_are_learnt_from_in_parts() -> None:
    line = "👩\u200d" * (1 << 15)
    start = time.process_time()
    trained_bpe = trained("bpe", f"{line}\n{line}")
    assert time.process_time() - start < 10  # as one word it takes minutes
    assert trained_bpe.ordinary_size > 256


def test_pieces_are_learnt_from_one_by_one() -> None:
    trained_bpe = BpeTokenizer.train(["ab", "ab", "ab"], BpeSettings())
    assert trained_bpe.merges == [(b"a", b"b")]


def test_only_the_start_of_a_long_text_is_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe, "MAX_TRAINING_BYTES", len("xy xy cd") + 1)
    pieces = iter(["xy xy ", "cdé cdé cdé", "never reached"])
    with pytest.warns(SeqlabWarning, match="learned from the first 9 bytes"):
        trained_bpe = BpeTokenizer.train(pieces, BpeSettings())
    assert trained_bpe.merges == [(b"x", b"y")]
    assert next(pieces) == "never reached"


def test_the_bare_library_learns_and_cuts_the_same() -> None:
    text = SAMPLE * 20
    library = Library(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    library.train_from_iterator(
        [text], trainers.BpeTrainer(vocab_size=400, min_frequency=2, initial_alphabet=alphabet, show_progress=False)
    )
    ours = trained("bpe", text, vocab_size=400)
    lengths = [len(ours.decode_bytes([number])) for number in ours.encode(text)]
    assert lengths == [len(token) for token in library.encode(text).tokens]  # it writes one letter per byte
