from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.data.batching import batch_generator
from seqlab.data.text.batches import (
    NOT_SCORED,
    LineBatches,
    StreamBatches,
    WindowBatches,
    cut_windows,
    pad_windows,
)
from seqlab.data.text.tokens import SplitStats, TokenSplit

quick = settings(max_examples=100)
lengths = st.lists(st.integers(2, 12), min_size=2, max_size=30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


def split_of(folder: Path, *lengths: int) -> TokenSplit:
    """A part with documents of these lengths, or a stream if there is but one; each id is its own position."""
    starts = np.cumsum([0, *lengths]).astype(np.int64)
    ids = np.arange(starts[-1], dtype=np.uint16)
    ids.tofile(folder / "x.ids")
    starts.tofile(folder / "x.starts")
    return TokenSplit(folder, "x", ids.dtype, SplitStats(len(ids), len(lengths), 0, 0, 0, 0, 0, max(lengths)))


def assert_next(rows):
    """Every target stands one position after its input."""
    kept_BT = np.ones(rows.inputs_BT.shape, bool) if rows.mask_BT is None else rows.mask_BT
    np.testing.assert_array_equal(rows.targets_BT[kept_BT], rows.inputs_BT[kept_BT] + 1)
    assert (rows.targets_BT[~kept_BT] == NOT_SCORED).all()


def assert_equal(one, other):
    np.testing.assert_array_equal(one.inputs_BT, other.inputs_BT)
    np.testing.assert_array_equal(one.targets_BT, other.targets_BT)
    assert (one.mask_BT is None) == (other.mask_BT is None)
    if one.mask_BT is not None:
        np.testing.assert_array_equal(one.mask_BT, other.mask_BT)
    assert one.fresh == other.fresh


@pytest.mark.parametrize("kind", [WindowBatches, StreamBatches, LineBatches])
def test_a_batch_depends_on_seed_and_index_alone(folder, kind):
    split = split_of(folder, *[5, 9, 3, 12, 7, 2] * 4) if kind is LineBatches else split_of(folder, 200)
    used, fresh = kind(split, 4, 6), kind(split, 4, 6)
    order = [7, 0, 3, 3, 11, 1]
    for seed in (0, 5, 2**63 - 1):
        for index in order:
            used.rows(seed + 1 if seed < 9 else 0, index)
            assert_equal(used.rows(seed, index), fresh.rows(seed, index))


@pytest.mark.parametrize("kind", [WindowBatches, LineBatches])
def test_seeds_and_indices_differ(folder, kind):
    split = split_of(folder, *[5, 9, 3, 12, 7, 2] * 20) if kind is LineBatches else split_of(folder, 2000)
    batches = kind(split, 4, 6)
    drawn = [batches.rows(seed, index).inputs_BT.tobytes() for seed in range(4) for index in range(4)]
    assert len(set(drawn)) == 16


def test_random_numbers_of_neighbours_have_nothing_in_common():
    draws = np.array([[batch_generator(s, i).random(50) for i in range(20)] for s in range(20)]).reshape(400, 50)
    correlations = np.asarray(np.corrcoef(draws))[~np.eye(400, dtype=bool)]
    assert abs(correlations.mean()) < 0.005
    assert correlations.std() == pytest.approx(1 / np.sqrt(50), rel=0.1)


# --- windows --------------------------------------------------------------------------------------------------------


@quick
@given(data=st.data(), window=st.integers(1, 20), more=st.integers(1, 40), batch=st.integers(1, 9))
def test_windows_lie_within_the_text(folder, data, window, more, batch):
    split = split_of(folder, window + more)
    rows = WindowBatches(split, batch, window).rows(data.draw(st.integers(0, 99)), data.draw(st.integers(0, 99)))
    assert rows.inputs_BT.shape == rows.targets_BT.shape == (batch, window)
    assert (np.diff(rows.inputs_BT, axis=1) == 1).all()
    assert rows.targets_BT.max() < len(split)
    assert rows.fresh and rows.mask_BT is None
    assert_next(rows)


def test_windows_begin_everywhere_alike(folder):
    split = split_of(folder, 20)
    starts = np.concatenate([WindowBatches(split, 50, 4).rows(0, index).inputs_BT[:, 0] for index in range(200)])
    counts = np.bincount(starts)
    assert len(counts) == 16  # the last window ends with the last token
    assert counts.min() > 0.8 * counts.mean()
    assert counts.max() < 1.2 * counts.mean()


def test_a_text_barely_longer_than_a_window(folder):
    rows = WindowBatches(split_of(folder, 9), 3, 8).rows(0, 0)
    np.testing.assert_array_equal(rows.inputs_BT, [np.arange(8)] * 3)


# --- streams --------------------------------------------------------------------------------------------------------


@quick
@given(batch=st.integers(1, 6), window=st.integers(1, 9), tokens=st.integers(10, 120), epoch=st.integers(0, 2))
def test_a_stream_covers_each_row_once_and_in_order(folder, batch, window, tokens, epoch):
    stream = StreamBatches(split_of(folder, tokens), batch, window)
    result = [stream.rows(epoch, epoch * stream.batches_per_epoch + index) for index in range(stream.batches_per_epoch)]
    for rows in result:
        assert_next(rows)
    assert [rows.fresh for rows in result] == [True] + [False] * (len(result) - 1)
    inputs_BT = np.concatenate([rows.inputs_BT for rows in result], axis=1)
    length = (tokens - 1) // batch
    np.testing.assert_array_equal(inputs_BT, np.arange(batch * length).reshape(batch, length))
    assert all(rows.inputs_BT.shape[1] == window for rows in result[:-1])


# --- documents ------------------------------------------------------------------------------------------------------


@quick
@given(lengths=lengths, window=st.integers(1, 14))
def test_every_token_but_each_documents_first_is_a_target_once(folder, lengths, window):
    split = split_of(folder, *lengths)
    firsts_P, lengths_P, document_P = cut_windows(split, window)
    targets = [first + 1 + i for first, length in zip(firsts_P, lengths_P, strict=True) for i in range(length)]
    starts = np.cumsum([0, *lengths])
    assert targets == sorted(set(range(len(split))) - set(starts.tolist()))
    assert 1 <= lengths_P.min() <= lengths_P.max() <= window
    np.testing.assert_array_equal(document_P, np.searchsorted(starts, firsts_P, side="right") - 1)
    # only a document's last piece is shorter
    assert all(lengths_P[p] == window for p in range(len(firsts_P) - 1) if document_P[p] == document_P[p + 1])


@quick
@given(tokens=st.integers(2, 100), window=st.integers(1, 20))
def test_a_stream_is_one_document(folder, tokens, window):
    firsts_P, lengths_P, document_P = cut_windows(split_of(folder, tokens), window)
    assert firsts_P.tolist() == list(range(0, tokens - 1, window))
    assert lengths_P.sum() == tokens - 1
    assert not document_P.any()


@quick
@given(lengths=lengths, window=st.integers(1, 14), batch=st.integers(1, 9), seed=st.integers(0, 9))
def test_every_piece_comes_once_in_an_epoch(folder, lengths, window, batch, seed):
    split = split_of(folder, *lengths)
    lines = LineBatches(split, batch, window)
    firsts_P, lengths_P, _ = cut_windows(split, window)
    expected = sorted(zip(firsts_P.tolist(), lengths_P.tolist(), strict=True))
    for epoch in range(2):
        actual = []
        for index in range(lines.batches_per_epoch):
            rows = lines.rows(seed, epoch * lines.batches_per_epoch + index)
            assert_next(rows)
            assert rows.fresh
            kept_BT = np.ones(rows.inputs_BT.shape, bool) if rows.mask_BT is None else rows.mask_BT
            assert len(kept_BT) <= batch
            actual += [(int(row[0]), int(kept.sum())) for row, kept in zip(rows.inputs_BT, kept_BT, strict=True)]
        assert sorted(actual) == expected


def test_epochs_differ(folder):
    lines = LineBatches(split_of(folder, *[5] * 40), 4, 10)
    first, second = (
        [lines.rows(0, e * lines.batches_per_epoch + i).inputs_BT.tobytes() for i in range(10)] for e in range(2)
    )
    assert first != second


def test_lines_of_similar_length_go_together(folder):
    draw = np.random.default_rng(0)
    split = split_of(folder, *draw.integers(2, 60, 800).tolist())
    lines = LineBatches(split, 8, 100)
    rows = [lines.rows(0, index) for index in range(lines.batches_per_epoch)]
    positions = sum(result.inputs_BT.size for result in rows)
    assert len(split) - 800 > 0.9 * positions  # in random order it would be about half


@quick
@given(lengths=lengths, data=st.data())
def test_padding_is_on_the_right_and_masked(folder, lengths, data):
    split = split_of(folder, *lengths)
    firsts_P, lengths_P, _ = cut_windows(split, 20)
    chosen = data.draw(st.lists(st.integers(0, len(firsts_P) - 1), min_size=1, max_size=6))
    rows = pad_windows(split, firsts_P[chosen], lengths_P[chosen])
    assert_next(rows)
    longest = lengths_P[chosen].max()
    expected_BT = np.arange(longest) < lengths_P[chosen][:, None]
    if rows.mask_BT is None:
        assert expected_BT.all()
    else:
        assert not expected_BT.all()
        np.testing.assert_array_equal(rows.mask_BT, expected_BT)
    assert rows.inputs_BT.min() >= 0
    assert rows.inputs_BT.max() < len(split)
    np.testing.assert_array_equal(rows.inputs_BT[:, 0], firsts_P[chosen])
