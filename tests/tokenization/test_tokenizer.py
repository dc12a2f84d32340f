"""What every registered tokenizer promises. Nothing here names one: a new registry line is tested at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from text_samples import SAMPLE, anything, awkward, encode, project_root, quick, shared, trained

from seqlab.errors import DataError, SeqlabWarning, StorageError, UsageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import MOST_WARNINGS, cut_pieces, load_tokenizer

every = pytest.mark.parametrize("name", list(TOKENIZERS))
closed = [name for name in TOKENIZERS if not TOKENIZERS.load(name).can_meet_unknown]
open_ended = [name for name in TOKENIZERS if TOKENIZERS.load(name).can_meet_unknown]


# --- the symbols ----------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("documents", [False, True])
def test_special_symbols_follow_the_ordinary_ones(name: str, documents: bool) -> None:
    tokenizer = shared(name, documents)
    special = [tokenizer.unknown, tokenizer.begin, tokenizer.end]
    present = [number for number in special if number is not None]
    assert present == list(range(tokenizer.ordinary, tokenizer.vocab_size))
    assert (tokenizer.unknown is not None) == tokenizer.can_meet_unknown
    assert (tokenizer.begin is not None) == (tokenizer.end is not None) == documents
    assert tokenizer.never_sampled == tuple(number for number in special[:2] if number is not None)


@every
def test_ids_are_writable_and_as_small_as_can_be(name: str) -> None:
    tokenizer = shared(name, documents=True)
    expected = np.uint8 if tokenizer.vocab_size <= 256 else np.uint16
    for text in ("", "the", SAMPLE):
        ids = encode(tokenizer, text)
        assert tokenizer.dtype == ids.dtype == expected
        assert ids.flags.writeable
        assert ids.ndim == 1


@every
def test_special_symbols_decode_to_nothing_but_unknown_shows(name: str) -> None:
    tokenizer = shared(name, documents=True)
    assert tokenizer.begin is not None and tokenizer.end is not None
    assert tokenizer.decode([tokenizer.begin, *tokenizer.encode(SAMPLE).tolist(), tokenizer.end]) == SAMPLE
    if tokenizer.unknown is not None:
        assert tokenizer.decode([tokenizer.unknown]) == "\ufffd"


@every
@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_ids_outside_the_vocabulary_are_refused(name: str, wrong: int) -> None:
    with pytest.raises(UsageError, match=f"{wrong} is not an id"):
        shared(name).decode([0, wrong])


# --- there and back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", closed)
@given(text=anything)
@quick
def test_round_trip_of_every_string_where_nothing_is_unknown(name: str, text: str) -> None:
    tokenizer = shared(name)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("name", open_ended)
@given(text=anything)
@quick
def test_round_trip_over_the_vocabulary(name: str, text: str) -> None:
    assume(text)
    tokenizer = trained(name, text)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@every
@given(text=anything)
@quick
def test_the_first_token_stands_for_the_first_bytes(name: str, text: str) -> None:
    tokenizer = shared(name)
    first, ids = tokenizer.first(text), encode(tokenizer, text)
    assert text.encode().startswith(first)
    assert (first == b"") == (text == "")
    if text and ids[0] != tokenizer.unknown:
        assert first == tokenizer.decode_bytes(ids[:1])


@every
@pytest.mark.parametrize("text", ["<unk>", "<s>", "<begin>", "<unknown>", "</s>", "[UNK]", "<|endoftext|>", "\ufffd"])
def test_text_never_becomes_a_special_symbol(name: str, text: str) -> None:
    tokenizer = trained(name, f"{SAMPLE}\n{text}\n{text}", documents=True)
    assert encode(tokenizer, text).max() < tokenizer.ordinary
    assert tokenizer.decode(encode(tokenizer, text)) == text


@every
def test_naughty_strings(name: str) -> None:
    folder = Path(os.environ.get("SEQLAB_DATA", project_root().parent / "shared" / "data"))
    path = folder / "robustness" / "naughty-strings.json"
    if not path.exists():
        pytest.skip(f"there is no {path}: set SEQLAB_DATA to the folder of test data")
    strings = json.loads(path.read_text(encoding="utf-8"))
    stranger, friend = trained(name), trained(name, "\n".join(strings))
    for text in strings:
        assert text.encode().startswith(stranger.first(text))
        stranger.decode(encode(stranger, text))
        assert sum(len(encode(friend, piece)) for piece in cut_pieces([text], 8)) == len(encode(friend, text))


@every
def test_half_a_surrogate_pair_is_refused(name: str) -> None:
    with pytest.raises(DataError, match=r"U\+D800"):
        shared(name).encode("ab\ud800")
    with pytest.raises(DataError, match=r"U\+D800"):
        shared(name).first("\ud800")


# --- in pieces ------------------------------------------------------------------------------------------------------


@given(blocks=st.lists(anything), size=st.integers(1, 30))
@quick
def test_pieces_join_to_the_text_and_grow_to_their_size(blocks: list[str], size: int) -> None:
    pieces = list(cut_pieces(blocks, size))
    assert "".join(pieces) == "".join(blocks)
    assert all(len(piece) >= size for piece in pieces[:-1])
    assert all(pieces)
    assert pieces == list(cut_pieces(["".join(blocks)], size))


def test_pieces_of_ordinary_text_are_near_their_size() -> None:
    pieces = list(cut_pieces(["one two three\n" * 1000], 100))
    assert max(map(len, pieces)) <= 107


def test_a_long_line_without_a_space_stays_one_piece() -> None:
    line = "x" * 10_000_000
    blocks = [line[start : start + 4096] for start in range(0, len(line), 4096)]
    assert list(cut_pieces([*blocks, " y"], 1 << 16)) == [line, " y"]


@every
@given(blocks=st.lists(awkward, max_size=6), size=st.integers(1, 20))
@quick
def test_encoding_by_pieces_equals_encoding_the_whole(name: str, blocks: list[str], size: int) -> None:
    tokenizer = shared(name)
    by_pieces = [number for piece in cut_pieces(blocks, size) for number in encode(tokenizer, piece)]
    assert by_pieces == encode(tokenizer, "".join(blocks)).tolist()


@every
@given(blocks=st.lists(awkward, min_size=1, max_size=6), size=st.integers(1, 20))
@quick
def test_training_by_pieces_equals_training_on_the_whole(name: str, blocks: list[str], size: int) -> None:
    text = "".join(blocks)
    assume(text)
    settings = TOKENIZERS.settings(name)()
    in_pieces = TOKENIZERS.load(name).train(cut_pieces(blocks, size), settings)
    assert in_pieces.fingerprint == trained(name, text).fingerprint


# --- kept and loaded ------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("documents", [False, True])
def test_saved_and_loaded_it_is_the_same(name: str, documents: bool, tmp_path: Path) -> None:
    tokenizer = shared(name, documents)
    tokenizer.save(tmp_path / "run")
    loaded = load_tokenizer(tmp_path / "run" / "tokenizer.json")
    assert type(loaded) is type(tokenizer)
    assert loaded.fingerprint == tokenizer.fingerprint
    assert loaded.symbols() == tokenizer.symbols()
    assert encode(loaded, SAMPLE + "Ω new").tolist() == encode(tokenizer, SAMPLE + "Ω new").tolist()


@every
def test_fingerprints_tell_tokenizers_apart(name: str) -> None:
    prints = {shared(name).fingerprint, shared(name, documents=True).fingerprint}
    assert len(prints) == 2
    assert all(len(print_) == 64 and set(print_) <= set("0123456789abcdef") for print_ in prints)


@every
def test_the_vocabulary_is_readable(name: str, tmp_path: Path) -> None:
    tokenizer = trained(name, SAMPLE + "\x00\x7f\u202e\u2028\\ \x85 \U000e0001", documents=True)
    tokenizer.save(tmp_path)
    lines = (tmp_path / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    pairs = [line.split("\t") for line in lines]
    assert [int(number) for number, _ in pairs] == list(range(tokenizer.vocab_size))
    symbols = [symbol for _, symbol in pairs]
    assert symbols == tokenizer.symbols()
    assert len(set(symbols)) == len(symbols)
    assert all(symbol.isprintable() and symbol for symbol in symbols)
    assert {"\\x00", "\\n", "\\\\"} <= {symbol.strip() for symbol in symbols}


def test_a_place_that_cannot_be_written_to_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StorageError, match="run"):
        shared("byte").save(tmp_path / "run")


def test_what_could_not_be_loaded_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.tokenization.tokenizer.LARGEST_FILE", 100)
    with pytest.raises(UsageError, match=r"lower tokenizer\.vocab_size"):
        shared("char").save(tmp_path)
    assert not list(tmp_path.iterdir())


# --- what is unknown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", open_ended)
def test_each_unknown_symbol_is_named_once(name: str) -> None:
    tokenizer = trained(name, "a b c")
    with pytest.warns(SeqlabWarning, match=r"^'ß' \(U\+00DF\) .* the training text: read as the unknown symbol$"):
        assert tokenizer.encode("ß").tolist() == [tokenizer.unknown]
    tokenizer.encode("ß")
    with pytest.warns(SeqlabWarning, match="'ö'") as caught:
        tokenizer.encode("ß\nö")
    assert not any("ß" in str(warning.message) for warning in caught)


@pytest.mark.parametrize("name", open_ended)
def test_many_unknown_symbols_give_one_warning(name: str) -> None:
    tokenizer = trained(name, "\n")
    with pytest.warns(SeqlabWarning) as caught:
        tokenizer.encode("\n".join(map(chr, range(0x3B1, 0x3B1 + 17))))
    assert len(caught) == 1
    assert "'ε' (U+03B5) and 12 more" in str(caught[0].message)
    assert "'ζ'" not in str(caught[0].message)


@pytest.mark.parametrize("name", open_ended)
def test_many_lines_do_not_flood(name: str) -> None:
    tokenizer = trained(name, "\n")
    with pytest.warns(SeqlabWarning) as caught:
        for code in range(0x4E00, 0x4E00 + 1000):
            tokenizer.encode(chr(code))
    assert len(caught) == MOST_WARNINGS
    assert "others" in str(caught[-1].message)


@pytest.mark.parametrize("name", open_ended)
def test_nothing_to_learn_from_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="the training text is empty"):
        trained(name, "")


# --- what is imported -----------------------------------------------------------------------------------------------


@every
def test_no_tokenizer_imports_torch(name: str) -> None:
    code = f"import sys; from seqlab.registry import TOKENIZERS; TOKENIZERS.load({name!r}); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=project_root())
    modules = shown.stdout.split()
    assert "torch" not in modules
    assert ("tokenizers" in modules) == (name == "bpe")
