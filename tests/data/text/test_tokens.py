import os
import re
import warnings
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.config import CorpusSettings
from seqlab.data.text import tokens
from seqlab.data.text.corpus import TextChanged, corpus_from_text, open_corpus
from seqlab.data.text.split import split_text
from seqlab.data.text.tokens import SplitStats, TokenSplit, encode_split
from seqlab.errors import DataError, SeqlabWarning, StorageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import chunk_text

quick = settings(max_examples=40)
# full stops, so that even a short part has more words than one
texts = st.lists(st.text(st.sampled_from("ab é日😀\n"), min_size=1, max_size=2), min_size=40, max_size=80).map(".".join)
TEXT = "naïve 日本 😀 cafés. " * 20 + "the end"
END = "encoded as the unknown token"


def split(text, **values):
    return split_text(corpus_from_text(text, "x"), CorpusSettings(source=("x",), **values))


def learnt(name, *pieces, documents=False, **values):
    """A tokenizer that knows every symbol of these pieces of text."""
    return TOKENIZERS.load(name).train(pieces, TOKENIZERS.settings(name)(**values), documents)


def entries():
    folder = Path(os.environ["SEQLAB_CACHE"]) / "tokens"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


# --- what a part holds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*TOKENIZERS])
@quick
@given(text=texts, first=st.sampled_from("a é日😀\n"))
def test_a_stream_is_its_encoding(name, text, first):
    text = first + text  # the first token may be a part of a character, a character or a word
    text_splits = split(text, split_ratios="80/10/10")
    tokenizer = learnt(name, *map(text_splits.text, text_splits.splits))
    splits = encode_split(text_splits, tokenizer)
    for split_name in text_splits.splits:
        text_of_split, ids = text_splits.text(split_name), tokenizer.encode(text_splits.text(split_name))
        facts = splits[split_name].stats
        context = tokenizer.decode_bytes(ids[:1])
        np.testing.assert_array_equal(splits[split_name].read(0, len(ids)), ids)
        assert (facts.tokens, facts.documents, facts.unknown) == (len(ids), 1, 0)
        assert (facts.characters, facts.bytes) == (len(text_of_split), len(text_of_split.encode()))
        assert facts.scored_bytes == facts.bytes - len(context)
        # a character is scored with its first byte
        assert facts.scored_characters == len(
            text_of_split.encode()[len(context) :].translate(None, bytes(range(0x80, 0xC0)))
        )
    assert sum(split_name.stats.characters for split_name in splits.values()) == len(text)
    assert sum(split_name.stats.bytes for split_name in splits.values()) == len(text.encode())


@pytest.mark.parametrize("name", [*TOKENIZERS])
@quick
@given(lines=st.lists(st.text(st.sampled_from("ab é日😀"), min_size=1, max_size=9), min_size=40, max_size=60))
def test_documents_are_lines_between_symbols(name, lines):
    text = "\n".join(lines) + "\n"
    tokenizer, text_splits = learnt(name, text, documents=True), split(text, documents="lines")
    splits = encode_split(text_splits, tokenizer)
    for split_name in text_splits.splits:
        documents = [
            [tokenizer.begin, *tokenizer.encode(line), tokenizer.end] for line in text_splits.lines(split_name)
        ]
        facts, starts = splits[split_name].stats, splits[split_name].document_starts()
        np.testing.assert_array_equal(starts, np.cumsum([0, *map(len, documents)]))
        np.testing.assert_array_equal(splits[split_name].read(0, facts.tokens), [*chain(*documents)])
        assert (facts.documents, facts.longest) == (len(documents), max(map(len, documents)))
        # the newline is the end symbol's, and all of a line is scored
        text_of_split = text_splits.text(split_name)
        assert (facts.characters, facts.scored_characters) == (len(text_of_split), len(text_of_split))
        assert (facts.bytes, facts.scored_bytes) == (len(text_of_split.encode()), len(text_of_split.encode()))


@pytest.mark.parametrize("name", [*TOKENIZERS])
def test_encoding_in_pieces_changes_nothing(name, monkeypatch):
    text_splits = split(TEXT)
    tokenizer = learnt(name, *map(text_splits.text, text_splits.splits))
    monkeypatch.setattr(tokens, "chunk_text", partial(chunk_text, size=5))
    splits = encode_split(text_splits, tokenizer)
    for split_name in text_splits.splits:
        np.testing.assert_array_equal(
            splits[split_name].read(0, len(splits[split_name])), tokenizer.encode(text_splits.text(split_name))
        )
        facts, context = splits[split_name].stats, tokenizer.first_token_bytes(text_splits.text(split_name))
        assert facts.scored_bytes == facts.bytes - len(context)


def test_unknown_symbols_are_counted():
    text = "a" * 90 + "axaybzaaaa"
    tokenizer = learnt("char", text[:90])
    with pytest.warns(UserWarning, match="never occur"):
        splits = encode_split(split(text), tokenizer)
    assert (splits["train"].stats.unknown, splits["validation"].stats.unknown) == (0, 4)


def test_unknown_symbols_are_named_again_by_the_next_program(monkeypatch):
    """It finds the text in the cache."""
    text = "a" * 90 + "axaybzaaaa"
    for _ in range(2):
        monkeypatch.setattr(tokens, "_warned_of", set())
        with pytest.warns(SeqlabWarning) as caught:
            encode_split(split(text), learnt("char", text[:90]))
        (said,) = caught
        assert str(said.message).startswith("'b' (U+0062), 'x' (U+0078), 'y' (U+0079), 'z' (U+007A) never occur")


def test_all_unknown_symbols_of_many_lines_are_in_one_warning():
    lines = "\n".join([*["ab"] * 60, *map(chr, range(0x400, 0x43C))])
    with pytest.warns(SeqlabWarning) as caught:
        encode_split(split(lines, documents="lines"), learnt("char", "ab", documents=True))
    (said,) = caught
    message, _, shares = str(said.message).partition(END)
    assert message.endswith(" and 55 more never occur in the text that the tokenizer was trained on: ")
    assert [int(number) for number in re.findall(r"(\d+) of the \d+ tokens of the", shares)] == [54, 6]


# --- the cache ------------------------------------------------------------------------------------------------------


def test_a_text_is_encoded_once(monkeypatch):
    tokenizer = learnt("char", TEXT)
    first = encode_split(split(TEXT), tokenizer)

    def encode(text):
        raise AssertionError("encoded again")

    monkeypatch.setattr(tokenizer, "encode", encode)
    second = encode_split(split(TEXT), tokenizer)
    for split_name in first:
        assert first[split_name].stats == second[split_name].stats
        np.testing.assert_array_equal(first[split_name].read(0, 50), second[split_name].read(0, 50))
    assert len(entries()) == 1


def test_an_equal_tokenizer_shares_the_encoding():
    for _ in range(2):
        encode_split(split(TEXT), learnt("bpe", TEXT, vocab_size=280))
    assert len(entries()) == 1


def test_whatever_changes_the_ids_changes_the_key():
    lines = "one line of text\nanother line of it\n" * 20
    encode_split(split(lines), learnt("char", lines))
    encode_split(split(lines), learnt("byte", lines))
    encode_split(split(lines), learnt("bpe", lines, vocab_size=260))
    encode_split(split(lines), learnt("bpe", lines, vocab_size=270))
    encode_split(split(lines, split_ratios="80/10/10"), learnt("char", lines))
    encode_split(split(lines, documents="lines"), learnt("char", lines, documents=True))
    encode_split(split(lines + lines), learnt("char", lines))
    assert len(entries()) == 7


def test_an_interrupted_encoding_leaves_no_entry(monkeypatch):
    tokenizer, text_splits = learnt("char", TEXT), split(TEXT)
    with monkeypatch.context() as patch:

        def stop(*_):
            raise KeyboardInterrupt

        patch.setattr(tokenizer, "first_token_bytes", stop)
        with pytest.raises(KeyboardInterrupt):
            encode_split(text_splits, tokenizer)
    assert entries() == []
    assert len(encode_split(text_splits, tokenizer)["train"]) == len(text_splits.text("train"))


def test_somebody_else_may_be_encoding_it(monkeypatch):
    tokenizer, text_splits = learnt("char", TEXT), split(TEXT)
    true_first, result = tokenizer.first_token_bytes, []
    second = Thread(target=lambda: result.append(encode_split(text_splits, tokenizer)))

    def first(text):
        if second.ident is None:
            second.start()
            second.join(0.2)
            assert second.is_alive(), "it waits"
        return true_first(text)

    monkeypatch.setattr(tokenizer, "first_token_bytes", first)
    encoded = encode_split(text_splits, tokenizer)
    second.join()
    assert result[0]["train"].stats == encoded["train"].stats
    assert len(entries()) == 1


@pytest.mark.filterwarnings("ignore:.*the unknown token")
@pytest.mark.parametrize("name", ["train.ids", "validation.starts", "train.spelling", "stats.json"])
@pytest.mark.parametrize("how", ["reordered", "truncated", "longer", "removed", "a folder"])
def test_a_damaged_entry_is_said_and_made_anew(name, how):
    tokenizer, text_splits = learnt("word", TEXT, vocab_size=6), split(TEXT)
    encode_split(text_splits, tokenizer)
    path = Path(os.environ["SEQLAB_CACHE"], "tokens", *entries(), name)
    content = path.read_bytes()
    path.unlink()
    if how == "a folder":
        path.mkdir()
    elif how != "removed":
        path.write_bytes({"reordered": content[::-1], "truncated": content[:-1], "longer": content + b"x"}[how])
    with pytest.warns(SeqlabWarning, match=f"the cache is damaged and made anew.*{name}"):
        splits = encode_split(text_splits, tokenizer)
    np.testing.assert_array_equal(
        splits["train"].read(0, len(splits["train"])), tokenizer.encode(text_splits.text("train"))
    )
    assert path.read_bytes() == content
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_split(text_splits, tokenizer)


@pytest.mark.parametrize("documents", ["stream", "lines"])
@pytest.mark.parametrize("new", [TEXT.upper(), TEXT[:-100], TEXT + TEXT, TEXT.replace(" ", "\n")])
def test_a_text_that_is_replaced_while_it_is_encoded_is_not_cached(new, documents, tmp_path):
    old = TEXT.replace(". ", ".\n")
    path = tmp_path / "my.txt"
    path.write_text(old, encoding="utf-8")
    text_splits = split_text(open_corpus([str(path)]), CorpusSettings(source=(str(path),), documents=documents))
    path.write_text(new, encoding="utf-8")
    tokenizer = learnt("byte", documents=documents == "lines")
    with pytest.raises(TextChanged, match=r"my\.txt' was changed while"):
        encode_split(text_splits, tokenizer)
    assert entries() == []
    path.write_text(old, encoding="utf-8")
    assert encode_split(text_splits, tokenizer)["train"].stats.characters == len(text_splits.text("train"))


def test_an_entry_that_disappears_while_it_is_used_is_said():
    splits = encode_split(split(TEXT), learnt("byte"))
    path = Path(os.environ["SEQLAB_CACHE"], "tokens", *entries(), "train.ids")
    path.write_bytes(path.read_bytes()[:7])
    with pytest.raises(StorageError, match="the text is encoded again"):
        splits["train"].read(0, 20)


def test_a_part_of_one_token_is_refused():
    text = "word" * 100
    with pytest.raises(DataError, match="the train split has 1 token"):
        encode_split(split(text), learnt("word", text[:360], text[360:]))


# --- access ---------------------------------------------------------------------------------------------------------


def test_ids_are_read_where_they_are_wanted(tmp_path):
    ids = np.arange(1000, dtype=np.uint16)
    ids.tofile(tmp_path / "train.ids")
    split_name = TokenSplit(tmp_path, "train", ids.dtype, SplitStats(1000, 1, 0, 0, 0, 0, 0, 0))
    assert len(split_name) == 1000
    np.testing.assert_array_equal(split_name.read(10, 13), [10, 11, 12])
    np.testing.assert_array_equal(split_name.read_rows(np.array([5, 997]), 3), [[5, 6, 7], [997, 998, 999]])
    np.testing.assert_array_equal(split_name.read_positions(np.array([[3, 3], [999, 0]])), [[3, 3], [999, 0]])
    assert {split_name.read(0, 2).dtype, split_name.read_positions(np.array([1])).dtype} == {np.dtype(np.int64)}


def test_a_part_need_not_fit_into_memory(tmp_path):
    """A file with nothing in it but its length, which is beyond any machine that runs this."""
    size = 2**42
    with (tmp_path / "train.ids").open("wb") as stream:
        stream.truncate(size)
    split_name = TokenSplit(tmp_path, "train", np.dtype(np.uint8), SplitStats(size, 1, 0, 0, 0, 0, 0, 0))
    np.testing.assert_array_equal(split_name.read_rows(np.array([0, size - 3]), 3), np.zeros((2, 3)))


@quick
@given(texts, st.lists(st.integers(0, 30), min_size=2, max_size=8, unique=True).map(sorted), st.booleans())
def test_parts_of_a_split_read_as_their_ranges_do(text, bounds, by_lines):
    values = {"documents": "lines"} if by_lines else {}
    text = ".\n".join(text.split(".")) if by_lines else text
    whole = encode_split(split(text, **values), learnt("char", text, documents=by_lines))["train"]
    ranges = [(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False) if b <= len(whole)]
    if not ranges:
        return
    parts, ids_N = whole.parts(ranges), np.concatenate([whole.read(a, b) for a, b in ranges])
    assert len(parts) == len(ids_N) == parts.stats.tokens
    middle = len(ids_N) // 2
    assert np.array_equal(np.append(parts.read(0, middle), parts.read(middle, len(parts))), ids_N)
    assert np.array_equal(parts.read_positions(np.arange(len(parts))[::-1]), ids_N[::-1])
    inner = set(whole.document_starts().tolist())
    starts, place = [], 0
    for a, b in ranges:
        starts += [place + at - a for at in range(a, b) if at == a or at in inner]
        place += b - a
    assert parts.document_starts().tolist() == [*starts, place]
