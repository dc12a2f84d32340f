"""The text of a web page: what stands apart on the page is no single word."""

import pytest

from seqlab.data.documents.markup import page_document


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<details><summary>Shipping</summary>Parcels leave daily.</details>", "Shipping\nParcels leave daily."),
        ("<select><option>Germany</option><option>France</option></select>", "Germany\nFrance"),
        ("<fieldset><legend>Refunds</legend>Money is sent.</fieldset>", "Refunds\nMoney is sent."),
        ("<table><caption>Prices</caption><tr><td>one<td>two</table>", "Prices\none\ntwo"),
        ("<!doctype html><head><title>T</title><style>p {}</style><p>no end of the head", "no end of the head"),
        ("<svg><text>a label</text><p>after a drawing", "after a drawing"),
        ("<p>un<b>believ</b>able <a href=x>link</a>s", "unbelievable links"),
    ],
)
def test_blocks_are_divided_and_words_are_not(page: str, text: str) -> None:
    assert page_document("a.html", page).text == text
