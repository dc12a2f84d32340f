"""Vectors of texts: the same however they are batched, by every pooling and layer that the run has."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from search_cases import write_documents

from seqlab import api
from seqlab.config import VocabSizes, build_settings
from seqlab.data.documents.document import Document
from seqlab.errors import UsageError
from seqlab.models.pooling import SIF
from seqlab.retrieval.corpus_vectors import fitting_length
from seqlab.retrieval.embedding import BATCH_TOKENS, Pooled, TextEmbedder, length_batches
from seqlab.retrieval.reduction import Reduction, fit_reduction
from seqlab.runs.load import build_model
from seqlab.training.progress import Reporter

TEXTS = ["the cat", "the dog ran to the sea " * 9, "on", "the mat and the dog", ""]


@pytest.fixture(scope="module")
def runs(language_run: api.Run) -> dict[str, api.Run]:
    """One tokenizer, and models of every kind; how well they are trained does not matter here."""

    def with_model(arch: str, task: str, **changes: Any) -> api.Run:
        given = {
            "backbone.hidden": 8,
            "model.embedding": 8,
            **{name.replace("_", ".", 1): changes[name] for name in changes},
        }
        settings = build_settings(
            {"corpus": {"source": ["none"]}}, [("backbone.name", arch), ("task.name", task), *given.items()]
        )
        size = language_run.tokenizer.vocab_size
        model = build_model(settings, VocabSizes(size, size, 256, 2)).eval()
        return replace(language_run, model=model, settings=settings)

    return {
        "language": language_run,
        "masked": with_model("gru", "masked", backbone_bidirectional=True),
        "encoder": with_model("transformer-encoder", "masked", backbone_positions="learned"),
        "transformer": with_model("transformer", "language", backbone_positions="learned"),
        "classify": with_model("lstm", "classify", task_pooling="attention"),
        "translate": with_model("lstm", "translate"),
        "embed": with_model("lstm", "embed", task_max_length=20),
    }


@pytest.mark.parametrize("name", ["language", "masked", "classify", "transformer", "encoder"])
@pytest.mark.parametrize("pooled", [Pooled(), Pooled("max"), Pooled("mean", 1), Pooled("mean", 0), Pooled("sif")])
def test_a_text_has_one_vector_whatever_it_is_embedded_with(
    runs: dict[str, api.Run], name: str, pooled: Pooled
) -> None:
    shares_V = np.linspace(0, 0.01, runs[name].tokenizer.vocab_size)
    texts = [text[:16] for text in TEXTS]  # a learned position for each token
    embedder = TextEmbedder(runs[name], pooled, shares_V)
    together_ND = embedder.embed(texts)
    alone_ND = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together_ND, alone_ND, atol=1e-6)
    assert together_ND.dtype == np.float32 and together_ND.shape == (5, embedder.width)
    assert together_ND[:4].any(1).all() and not together_ND[4].any()  # the empty text is zeros
    assert embedder.seen.texts == 10


def test_pooling_is_what_it_says(runs: dict[str, api.Run]) -> None:
    run, text = runs["language"], "the cat sat"
    with torch.no_grad():
        ids_1T = torch.tensor([run.tokenizer.encode(text)])
        y_TH = run.model.backbone(run.model.embed(ids_1T))[0][0].numpy()
    found = {name: TextEmbedder(run, Pooled(name)).embed([text])[0] for name in ("mean", "max", "last")}  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(found["mean"], y_TH.mean(0), atol=1e-6)
    np.testing.assert_allclose(found["max"], y_TH.max(0), atol=1e-6)
    np.testing.assert_allclose(found["last"], y_TH[-1], atol=1e-6)
    shares_V = TextEmbedder(run).token_shares(["the cat sat on the mat"])
    assert shares_V.sum() == pytest.approx(1) and shares_V[run.tokenizer.encode("t")[0]] == pytest.approx(5 / 22)
    weights_T = SIF / (SIF + shares_V[ids_1T[0].numpy()])
    sif_H = TextEmbedder(run, Pooled("sif"), shares_V).embed([text])[0]
    np.testing.assert_allclose(sif_H, weights_T @ y_TH / weights_T.sum(), atol=1e-6)


def test_a_text_encoder_reads_as_it_was_trained(runs: dict[str, api.Run]) -> None:
    run = runs["embed"]
    embedder = TextEmbedder(run)
    long = "the cat sat on the mat and ran"
    found_ND = embedder.embed(["the cat", long, ""])
    assert embedder.usual_length == 20 and embedder.limit is None and not found_ND[2].any()
    assert fitting_length(embedder, [Document("1", long)], overlap=5) == 19  # characters are tokens, and a space before
    with torch.no_grad():
        for text, found_D in zip(("the cat", long), found_ND, strict=False):
            np.testing.assert_allclose(
                found_D, run.model(torch.tensor([run.tokenizer.encode(f" {text}")]))[0], atol=1e-6
            )
    for pooled in (Pooled("max"), Pooled(layer=1)):
        with pytest.raises(UsageError, match="was trained to embed texts, with mean pooling"):
            TextEmbedder(run, pooled)


def test_what_a_run_has_not_is_refused_in_words(runs: dict[str, api.Run]) -> None:
    cases: list[tuple[str, Pooled, str]] = [
        ("language", Pooled("attention"), "learned no attention weights"),
        ("language", Pooled("mean", 7), "no layer 7: it has 0"),
        ("masked", Pooled("median"), "no pooling 'median'"),  # pyright: ignore[reportArgumentType]
        ("encoder", Pooled("last"), "from both ends at once"),
        ("classify", Pooled("attention", 1), "leave the layer out"),
        ("translate", Pooled(), "was trained to translate"),
    ]
    for name, pooled, message in cases:
        with pytest.raises(UsageError, match=message):
            TextEmbedder(runs[name], pooled)
    learned_ND = TextEmbedder(runs["classify"], Pooled("attention")).embed(["the cat sat", "the dog"])
    assert not np.allclose(learned_ND, TextEmbedder(runs["classify"], Pooled("mean")).embed(["the cat sat", "the dog"]))


def test_more_than_the_model_reads_is_counted(runs: dict[str, api.Run]) -> None:
    embedder = TextEmbedder(runs["transformer"])
    assert embedder.limit is not None
    long = "the cat sat on the mat " * embedder.limit
    vectors_ND = embedder.embed([long, long[: embedder.limit], "the Ω"])
    np.testing.assert_allclose(vectors_ND[0], vectors_ND[1], atol=1e-6)
    notes = embedder.seen.notes(embedder.limit)
    assert notes[0].startswith("1 of 3 texts have more than the") and "unknown to the model" in notes[1]


def test_batches_hold_similar_lengths_and_every_text_once() -> None:
    lengths_N = np.array([5, 0, 700, 3, 9000, 5, 20000] + [40] * 1000)
    batches = length_batches(lengths_N)
    assert sorted(np.concatenate(batches).tolist()) == [row for row in range(len(lengths_N)) if lengths_N[row]]
    assert lengths_N[batches[0]].tolist() == [20000]
    assert all(len(batch) == 1 or len(batch) * lengths_N[batch].max() <= BATCH_TOKENS for batch in batches)


# --- reduction --------------------------------------------------------------------------------------------------------


def test_reductions() -> None:
    draw = np.random.default_rng(0)
    vectors_ND = (draw.normal(size=(50, 2)) @ draw.normal(size=(2, 6)) + 3.0).astype(np.float32)
    vectors_ND[7] = 0.0
    cut = fit_reduction(vectors_ND, 3, "truncate", normalize=False)
    np.testing.assert_array_equal(cut.apply(vectors_ND), vectors_ND[:, :3])
    plane = fit_reduction(vectors_ND, 2, "pca", normalize=False)
    kept = np.delete(np.arange(50), 7)
    distances = np.linalg.norm(vectors_ND[kept][:, None] - vectors_ND[kept], axis=2)
    reduced_NK = plane.apply(vectors_ND)
    np.testing.assert_allclose(
        np.linalg.norm(reduced_NK[kept][:, None] - reduced_NK[kept], axis=2), distances, atol=1e-4
    )
    assert not reduced_NK[7].any()
    common = fit_reduction(vectors_ND, remove_common=True).apply(vectors_ND)
    assert np.linalg.norm(common[kept], axis=1) == pytest.approx(1)
    assert abs(common[kept].mean(0)).max() < 0.5 * abs(fit_reduction(vectors_ND).apply(vectors_ND)[kept].mean(0)).max()
    again = Reduction.from_arrays(plane.arrays())
    np.testing.assert_array_equal(again.apply(vectors_ND), reduced_NK)


@pytest.mark.parametrize(
    ("dimensions", "method", "message"), [(7, "truncate", "give 1 to 6"), (5, "pca", "as many texts")]
)
def test_impossible_reductions(dimensions: int, method: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        fit_reduction(np.ones((3, 6), np.float32), dimensions, method)  # pyright: ignore[reportArgumentType]


def test_two_texts_in_memory_and_in_a_file_have_the_same_vectors(language_run: api.Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "the cat"}\n{"text": "the dog ran"}\n')
    written = api.embed(language_run, tmp_path / "a.jsonl", tmp_path / "v", normalize=False)
    vectors_ND = np.load(written.vectors, allow_pickle=False)
    np.testing.assert_allclose(vectors_ND, TextEmbedder(language_run).embed(["the cat", "the dog ran"]), atol=1e-6)


@pytest.mark.filterwarnings("ignore:100.00% of the tokens are unknown:seqlab.errors.SeqlabWarning")
@pytest.mark.filterwarnings("ignore:3 of 3 texts have no token that the model knows:seqlab.errors.SeqlabWarning")
def test_the_first_word_is_a_word_like_the_others(tmp_path: Path) -> None:
    """Encoders are trained on texts that begin with a space: a query of one word has to be read like that, too."""
    documents = write_documents(tmp_path / "documents.jsonl")
    settings = {"backbone.hidden": 8, "model.embedding": 8, "train.steps": 1, "train.threads": 1}
    run = api.train(documents, out=tmp_path / "run", task="embed", settings=settings, reporter=Reporter())
    texts = [Document("a", "red stone").with_title, "stone", "fish red"]
    embedder = TextEmbedder(run)
    vectors_ND = embedder.embed(texts)
    lengths = np.linalg.norm(vectors_ND, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors_ND / lengths, run.embed(texts), rtol=1e-4, atol=1e-6)
