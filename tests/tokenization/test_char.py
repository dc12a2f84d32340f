"""The character tokenizer against a plain dictionary lookup."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from text_samples import encode, quick, trained

from seqlab.tokenization.char import BLOCK, CharTokenizer


@given(training=st.text(min_size=1), text=st.text())
@quick
def test_ids_are_places_among_the_sorted_characters(training: str, text: str) -> None:
    places = {character: place for place, character in enumerate(sorted(set(training)))}
    tokenizer = trained("char", training)
    assert encode(tokenizer, text) == [places.get(character, len(places)) for character in text]


@given(data=st.data(), training=st.text(min_size=1))
@quick
def test_round_trip_of_every_string_over_the_vocabulary(data: st.DataObject, training: str) -> None:
    tokenizer = trained("char", training)
    text = data.draw(st.text(st.sampled_from(sorted(set(training)))))
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_blocks_of_either_width_join() -> None:
    text = ("a" * (BLOCK - 1) + "é") + "日" * 3 + "b" * BLOCK + "😀"
    tokenizer = trained("char", text)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_large_alphabets_get_a_wider_type() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))
    tokenizer = trained("char", text)
    assert tokenizer.dtype == np.uint16
    assert tokenizer.encode(text) == list(range(300))
    assert CharTokenizer([chr(0x61 + i) for i in range(255)]).dtype == np.uint8
    assert CharTokenizer([chr(0x61 + i) for i in range(256)]).dtype == np.uint16
