"""Text that comes token by token equals text decoded at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_samples import anything, encode, quick, shared

from seqlab.registry import TOKENIZERS
from seqlab.tokenization.streaming import TextStream


@pytest.mark.parametrize("name", list(TOKENIZERS))
@given(data=st.data())
@quick
def test_pushed_and_flushed_equals_decoded(name: str, data: st.DataObject) -> None:
    tokenizer = shared(name, documents=True)
    any_id = st.integers(0, tokenizer.vocab_size - 1)
    # Bytes that begin or continue a character are what can go wrong; few ids drawn from all would be such.
    broken = st.sampled_from([0x41, 0x80, 0xBF, 0xC3, 0xE0, 0xE2, 0x82, 0xAC, 0xED, 0xA0, 0xF0, 0x9F, 0xF4, 0xFF])
    token_id = (
        st.one_of(any_id, broken.filter(lambda number: number < tokenizer.vocab_size)) if name != "char" else any_id
    )
    ids = data.draw(st.one_of(st.lists(token_id), anything.map(lambda text: encode(tokenizer, text))))
    cuts = data.draw(st.lists(st.integers(0, len(ids)), max_size=len(ids)).map(sorted))
    stream = TextStream(tokenizer)
    for _ in range(2):
        parts = [stream.push(ids[start:end]) for start, end in zip([0, *cuts], [*cuts, len(ids)], strict=True)]
        assert "".join(parts) + stream.flush() == tokenizer.decode(ids)


def test_a_character_is_given_when_it_is_whole() -> None:
    stream = TextStream(shared("byte"))
    assert [stream.push([value]) for value in "é€".encode()] == ["", "é", "", "", "€"]
    assert stream.flush() == ""
    assert stream.push([0xE2, 0x82]) == ""
    assert stream.flush() == "\ufffd"
