"""Words of scripts that put no space between them are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.baselines.bm25 import Bm25
from seqlab.baselines.terms import Terms, word_spans, words_of
from seqlab.data.documents.document import Document
from seqlab.retrieval.snippets import snippet


@pytest.mark.parametrize(
    ("texts", "query"),
    [
        (["我喜欢在图书馆看书", "今天天气很好", "他在学校吃饭"], "图书馆"),
        (["昨日カワウソを見ました", "今日は天気がいい", "電車で行きます"], "カワウソ"),
        (["ฉันชอบกินข้าวผัด", "วันนี้อากาศดีมาก", "รถไฟมาแล้ว"], "ข้าว"),
        (["猫在这里", "今天天气很好", "他在学校吃饭"], "猫"),
    ],
)
def test_a_word_inside_a_sentence_is_found(texts: list[str], query: str) -> None:
    scores_N = Bm25.fit([Document(str(place), text) for place, text in enumerate(texts)]).scores([query])[0]
    assert scores_N.argmax() == 0 and scores_N[0] > 2 * scores_N[1:].max()


def test_words_with_spaces_stay_whole() -> None:
    assert words_of("The Otter's naïve 2nd हिन्दी 한국어") == ["the", "otter", "s", "naïve", "2nd", "हिन्दी", "한국어"]
    assert words_of("GPU显卡v2") == ["gpu", "显", "显卡", "卡", "v2"]


@given(st.text(alphabet="ab 1.图书館カทดู-"))
def test_spans_are_those_of_the_words(text: str) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == words_of(text)


def test_a_snippet_marks_the_pairs() -> None:
    terms = Terms()
    terms.learn("我喜欢在图书馆看书")
    shown = snippet("我喜欢在图书馆看书", {"图书": 1.0, "书馆": 1.0}, terms)
    assert [shown.text[start:end] for start, end in shown.marked] == ["图书", "书馆"]
