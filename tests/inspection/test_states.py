"""Similar places and embeddings against direct computations, and what counts as one place."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inspected_runs import LEARNED, TEXT, UntrainedRun, untrained

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.embeddings import plane
from seqlab.inspection.inspection import inspect
from seqlab.inspection.reading import read_text
from seqlab.inspection.search import ReadDocument, _choose  # pyright: ignore[reportPrivateUsage]
from seqlab.inspection.sheet import Sheet
from seqlab.inspection.states import RETURNED, find_layer, token_vectors

pytestmark = pytest.mark.filterwarnings("ignore:.*encoded as the unknown token")  # taggers know few words


def view(name: str, run: UntrainedRun, text: str = TEXT, **options: Any) -> Sheet:
    return inspect([run], text, name, options).sheets[0]


def cosine(a_H: torch.Tensor, b_H: torch.Tensor) -> float:
    return float(torch.cosine_similarity(a_H.double(), b_H.double(), dim=0))


# --- similar ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arch", "task"), [
    ("lstm", "language"), ("lstm-attention", "language"), ("transformer", "language"), ("feedforward", "language"),
    ("transformer-encoder", "masked"), ("gru", "classify"), ("lstm", "tag"), ("lstm", "translate"),
])  # fmt: skip
def test_the_nearest_place_has_the_largest_cosine(arch: str, task: str, tmp_path: Path) -> None:
    run, text = untrained(arch, task), "The dog ran on the mat"
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(LEARNED.splitlines()[0])
    found = view("similar", run, text, corpus=str(corpus), position=3)
    both = (text, corpus.read_text())
    reading, other = (read_text(run, some, some if task == "translate" else None) for some in both)
    name = find_layer(reading, None)
    wanted_H, there_TH = token_vectors(reading, name)[2], token_vectors(other, name)
    cosines = [cosine(wanted_H, there_H) for there_H in there_TH]
    best = found.data["places"][0]
    assert best["cosine"] == pytest.approx(max(cosines), abs=1e-5)
    assert best["token"] == int(np.argmax(cosines)) + 1 and best["match"] == other.sides[0].tokens[best["token"] - 1]
    assert found.data["mean_cosine"] == pytest.approx(np.mean(cosines), abs=1e-5)
    assert found.data["tokens"] == len(cosines)
    assert found.data["layer"] == name == "encoder." * (task == "translate") + "layer2"


def test_a_span_is_compared_token_by_token(tmp_path: Path) -> None:
    run, corpus = untrained("gru"), tmp_path / "corpus.txt"
    corpus.write_text(LEARNED[:60])
    found = view("similar", run, "and the cat", corpus=str(corpus), span="5:7", layer=1)
    trace, there = read_text(run, "and the cat").trace["layer1"][0], read_text(run, LEARNED[:60]).trace["layer1"][0]
    means = [np.mean([cosine(trace[4 + m], there[t + m]) for m in range(3)]) for t in range(58)]
    best = found.data["places"][0]
    assert (best["token"], best["cosine"]) == (int(np.argmax(means)) + 1, pytest.approx(max(means), abs=1e-5))
    assert found.data["span"] == "the" and len(best["match"]) == 3
    lines = [column for column in found.columns if column.shade]
    assert len(lines) == 3 * (1 + len(found.data["places"]))  # the span, and every match


def test_windows_read_every_token_once(tmp_path: Path) -> None:
    """Where a text is cut, the state has had time to become what it would be: far from the cut it is the same."""
    run, corpus = untrained("gru", layers=1), tmp_path / "corpus.txt"
    text = "".join(LEARNED[(7 * at) % 150 : (7 * at) % 150 + 5] for at in range(160))
    corpus.write_text(text)
    found = view("similar", run, text[380:420], corpus=str(corpus), position=40)
    assert found.data["tokens"] == len(text) > 256 + 2 * 192
    assert found.data["same"] >= 1  # the place itself


def test_what_is_left_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(LEARNED)
    monkeypatch.setattr("seqlab.inspection.search.SEARCHED", 40)
    shown = view("similar", untrained("gru"), corpus=str(corpus))
    assert f"the other {len(LEARNED) - 40} tokens were left out" in shown.sentence and shown.data["tokens"] == 40
    monkeypatch.setattr("seqlab.inspection.search.READ_SINGLY", 20)
    examples = view("similar", untrained("gru", "classify"), corpus=str(corpus))
    assert "5 of 6 examples were left out" in examples.sentence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"span": "3:x"}, "'3:x' is no span: give the first and the last token"),
        ({"span": "5:2"}, "there is no tokens 5 to 2: give numbers from 1 to 32"),
        ({"position": 99}, "there is no token 99"),
        ({"span": "1:2", "position": 1}, "not both"),
        ({"layer": 9}, "there is no layer 9: it has layer1, layer2"),
        ({}, "cannot be read: this model was trained on nothing. Give a text to search with --corpus FILE"),
    ],
)
def test_what_cannot_be_searched_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        view("similar", untrained("lstm"), **options)


@given(
    cosines=st.lists(st.floats(-1, 1), min_size=12, max_size=60),
    letters=st.integers(1, 4),
    length=st.integers(1, 5),
    most=st.integers(1, 5),
)
def test_places_are_apart_best_first_and_different(cosines: list[float], letters: int, length: int, most: int) -> None:
    ids_N = np.arange(len(cosines)) % letters
    ends = np.arange(length - 1, len(cosines))
    chosen, same = _choose(
        np.array(cosines)[ends], np.stack([np.zeros_like(ends), ends]), {0: ReadDocument(ids_N, [])}, (), length, most
    )
    assert chosen and len(chosen) <= most and same == 0
    assert chosen[0].cosine == np.array(cosines)[ends].max()
    assert [place.cosine for place in chosen] == sorted((place.cosine for place in chosen), reverse=True)
    lasts = [place.last for place in chosen]
    assert all(abs(a - b) >= max(length, 8) for a in lasts for b in lasts if a != b)
    texts = [tuple(ids_N[max(0, last + 1 - length - 16) : last + 1]) for last in lasts]
    assert len(set(texts)) == len(texts) and sum(place.times for place in chosen) <= len(ends)


# --- embeddings -------------------------------------------------------------------------------------------------------


def test_the_map_shows_the_principal_axes() -> None:
    run = untrained("lstm")
    found = view("embeddings", run).data
    vectors_TH = read_text(run, TEXT).trace["layer2"][0].double()
    centered_TH = vectors_TH - vectors_TH.mean(0)
    variances = torch.linalg.eigvalsh(centered_TH.T @ centered_TH).flip(0)
    assert found["variance"] == pytest.approx((variances[:2] / variances.sum()).tolist(), abs=1e-6)
    places_T2 = np.array([each["at"] for each in found["vectors"]])
    assert (places_T2**2).sum(0) == pytest.approx(variances[:2].numpy(), rel=1e-6)
    cosines = [cosine(vectors_TH[3], other_H) if t != 3 else -2 for t, other_H in enumerate(vectors_TH)]
    assert found["vectors"][3]["nearest"][0] == [int(np.argmax(cosines)) + 1, pytest.approx(max(cosines), abs=1e-6)]


@given(seed=st.integers(0, 1000), rows=st.integers(3, 12), width=st.integers(1, 6))
def test_a_plane_keeps_what_lies_in_it(seed: int, rows: int, width: int) -> None:
    draw = np.random.default_rng(seed)
    flat_M2 = draw.normal(size=(rows, min(2, width)))
    turned_MH = flat_M2 @ np.linalg.qr(draw.normal(size=(width, width)))[0][: min(2, width)] + 5
    places_M2, shares = plane(turned_MH)
    assert places_M2.shape == (rows, 2) and sum(shares) == pytest.approx(1)
    distances = [np.linalg.norm(some[:, None] - some, axis=2) for some in (flat_M2, places_M2)]
    assert distances[0] == pytest.approx(distances[1], abs=1e-8)


def test_a_word_has_neighbors_in_each_of_its_contexts() -> None:
    run, text = untrained("gru"), "The cat sat, and the dog ran on the mat."
    words = ["The", "cat", "sat", "and", "the", "dog", "ran", "on", "the", "mat"]
    sheet = view("embeddings", run, text, word="the")
    found = [each["token"] - 1 for each in sheet.data["vectors"]]
    assert [text[at] for at in found] == [word[-1] for word in words] and found == sorted(set(found))
    rows = sheet.blocks[0].rows[1:]
    assert [row[0] for row in rows] == [
        "[The]·cat·sat,·and·the·dog·ra",
        "The·cat·sat,·and·[the]·dog·ran·on·the·mat.",
        "sat,·and·the·dog·ran·on·[the]·mat.",
    ]
    vectors_TH = read_text(run, text).trace["layer2"][0]
    cosines = [cosine(vectors_TH[found[4]], vectors_TH[t]) if t != found[4] else -2.0 for t in found]
    best = int(np.argmax(cosines))
    assert rows[1][1].startswith(f"{words[best]} {cosines[best]:.2f}")
    with pytest.raises(UsageError, match=r"the word 'whale' is not in the text\. Some that are: the, The"):
        view("embeddings", run, text, word="whale")


def test_options_of_the_map() -> None:
    run = untrained("transformer")
    assert view("embeddings", run, layer=1).data["layer"] == "layer1"
    view("embeddings", run, color="position")
    for options, message in (
        ({"color": "mood"}, "no coloring by 'mood'"),
        ({"word": "cat", "color": "token"}, "beside word"),
    ):
        with pytest.raises(UsageError, match=message):
            view("embeddings", run, **options)


def test_a_model_that_records_no_layer_is_shown_by_what_its_backbone_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    run = untrained("gru")
    expected = Trace()
    run.model(torch.tensor([run.tokenizer.encode(TEXT)]), trace=expected)
    monkeypatch.setattr(type(run.model.backbone), "records", {})
    reading = read_text(run, TEXT)
    assert find_layer(reading, None) == RETURNED
    torch.testing.assert_close(
        token_vectors(reading, RETURNED), expected["layer2"][0, : len(token_vectors(reading, RETURNED))]
    )
    assert RETURNED in view("embeddings", run).sentence
