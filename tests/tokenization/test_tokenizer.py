"""The contract of every registered tokenizer. A new registry line is tested at once."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from text_samples import SAMPLE, anything, awkward, encode, project_root, quick, shared, trained

from seqlab.errors import DataError, SeqlabWarning, StorageError, UsageError
from seqlab.registry import TOKENIZERS
from seqlab.testing.tokenizer import TokenizerCase, tokenizer_case, tokenizers
from seqlab.tokenization.tokenizer import MAX_WARNINGS, chunk_text

every = pytest.mark.parametrize("name", list(TOKENIZERS))
closed = [name for name in TOKENIZERS if not TOKENIZERS.load(name).has_unknown]
open_ended = [name for name in TOKENIZERS if TOKENIZERS.load(name).has_unknown]


# --- the contract ---------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("check", tokenizers.checks.values(), ids=lambda check: check.__name__)
def test_contract(name: str, check: Callable[[TokenizerCase], None]) -> None:
    check(tokenizer_case(name))


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
@pytest.mark.parametrize("text", ["<unk>", "<s>", "<begin>", "<unknown>", "</s>", "[UNK]", "<|endoftext|>", "\ufffd"])
def test_text_never_becomes_a_special_token(name: str, text: str) -> None:
    tokenizer = trained(name, f"{SAMPLE}\n{text}\n{text}", documents=True)
    assert max(encode(tokenizer, text)) < tokenizer.ordinary_size
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
        assert text.encode().startswith(stranger.first_token_bytes(text))
        stranger.decode(encode(stranger, text))
        assert sum(len(encode(friend, chunk)) for chunk in chunk_text([text], 8)) == len(encode(friend, text))


# --- in chunks ------------------------------------------------------------------------------------------------------


@given(blocks=st.lists(anything), size=st.integers(1, 30))
@quick
def test_chunks_join_to_the_text_and_grow_to_their_size(blocks: list[str], size: int) -> None:
    chunks = list(chunk_text(blocks, size))
    assert "".join(chunks) == "".join(blocks)
    assert all(len(chunk) >= size for chunk in chunks[:-1])
    assert all(chunks)
    assert chunks == list(chunk_text(["".join(blocks)], size))


def test_chunks_of_ordinary_text_are_near_their_size() -> None:
    chunks = list(chunk_text(["one two three\n" * 1000], 100))
    assert max(map(len, chunks)) <= 107


def test_a_long_line_without_a_space_stays_one_chunk() -> None:
    line = "x" * 10_000_000
    blocks = [line[start : start + 4096] for start in range(0, len(line), 4096)]
    assert list(chunk_text([*blocks, " y"], 1 << 16)) == [line, " y"]


@every
@given(blocks=st.lists(awkward, max_size=6), size=st.integers(1, 20))
@quick
def test_encoding_by_chunk_equals_encoding_the_whole(name: str, blocks: list[str], size: int) -> None:
    tokenizer = shared(name)
    by_chunk = [number for chunk in chunk_text(blocks, size) for number in encode(tokenizer, chunk)]
    assert by_chunk == encode(tokenizer, "".join(blocks))


@every
@given(blocks=st.lists(awkward, min_size=1, max_size=6), size=st.integers(1, 20))
@quick
def test_training_by_chunk_equals_training_on_the_whole(name: str, blocks: list[str], size: int) -> None:
    text = "".join(blocks)
    assume(text)
    settings = TOKENIZERS.settings(name)()
    by_chunk = TOKENIZERS.load(name).train(chunk_text(blocks, size), settings)
    assert by_chunk.fingerprint == trained(name, text).fingerprint


# --- saving ---------------------------------------------------------------------------------------------------------


def test_a_place_that_cannot_be_written_to_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StorageError, match="run"):
        shared("byte").save(tmp_path / "run")


def test_what_could_not_be_loaded_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.tokenization.tokenizer.MAX_FILE_BYTES", 100)
    with pytest.raises(UsageError, match=r"lower tokenizer\.vocab_size"):
        shared("char").save(tmp_path)
    assert not list(tmp_path.iterdir())


# --- the unknown token ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", open_ended)
def test_each_unknown_token_is_named_once(name: str) -> None:
    tokenizer = trained(name, "a b c")
    with pytest.warns(SeqlabWarning, match=r"^'ß' \(U\+00DF\) .*: encoded as the unknown token$"):
        assert tokenizer.encode("ß") == [tokenizer.unknown]
    tokenizer.encode("ß")
    with pytest.warns(SeqlabWarning, match="'ö'") as caught:
        tokenizer.encode("ß\nö")
    assert not any("ß" in str(warning.message) for warning in caught)


@pytest.mark.parametrize("name", open_ended)
def test_many_unknown_tokens_give_one_warning(name: str) -> None:
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
    assert len(caught) == MAX_WARNINGS
    assert "no further warnings" in str(caught[-1].message)


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
