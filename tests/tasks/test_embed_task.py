"""The task embed: what a batch holds, what is learned, how held-out queries are scored, and what a run can do."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from collection_files import SMALL_ENCODER, write_collection
from example_files import write_examples
from torch.nn.functional import normalize

from seqlab import api
from seqlab.audit.origins import origins
from seqlab.baselines import cooccurrence
from seqlab.baselines.bm25 import Bm25
from seqlab.baselines.cooccurrence import token_vectors
from seqlab.config import CorpusSettings, build_settings
from seqlab.errors import SeqlabWarning, UsageError
from seqlab.models.parameter_count import refuse_unfit
from seqlab.models.pooling import SIF
from seqlab.models.text_encoder import TextEncoder
from seqlab.registry import TASKS
from seqlab.runs.load import build_model
from seqlab.tasks import encoder_start
from seqlab.tasks.contrastive import contrastive_nats
from seqlab.tasks.embed import EmbedTask
from seqlab.tasks.vectors import embed_rows, rank_by_cosine, ranked_within
from seqlab.testing.task import TaskCase
from seqlab.training.progress import Reporter

SMALL = SMALL_ENCODER


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_collection(tmp_path_factory.mktemp("data") / "collection")


def case(source: Path, log: Any = lambda note: None, **changes: Any) -> TaskCase:
    values = {**SMALL, **{key.replace("__", "."): value for key, value in changes.items()}}
    settings = build_settings({"corpus": {"source": [str(source)]}}, values.items())
    task_class = TASKS.load("embed")
    dataset = task_class.open_dataset(settings, log)
    settings = task_class.fit_settings(settings, dataset, log)
    model = build_model(settings, dataset.vocabulary.sizes).eval()
    return TaskCase(settings, dataset, task_class.from_dataset(settings, dataset), model)


@pytest.fixture(scope="module")
def trained(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    return api.train(collection, out=tmp_path_factory.mktemp("runs") / "run", settings=SMALL, reporter=Reporter())


def task_of(made: TaskCase) -> EmbedTask:
    assert isinstance(made.task, EmbedTask)
    return made.task


# --- data and batches -----------------------------------------------------------------------------------------------


def test_a_collection_keeps_its_splits_and_says_what_it_trains_on(collection: Path) -> None:
    said: list[str] = []
    made = case(collection, said.append)
    assert {name: len(split) for name, split in made.dataset.splits.items()} == {
        "train": 87,
        "validation": 3,
        "test": 10,
    }
    assert "training pairs: 27 given, 60 title (task.pairs names other kinds)" in said
    held_out = {name for query in made.dataset.data.splits["validation"] for name in query.relevant}
    assert not held_out & {pair.document for pair in made.dataset.data.splits["train"] if pair.kind == "given"}


def test_long_texts_are_cut_and_counted(collection: Path) -> None:
    said: list[str] = []
    made = case(collection, said.append, task__max_length=20)
    longer = sum(len(ids) > 20 for ids in made.dataset.splits["train"].table.texts)
    assert f"{longer:,} of 60 documents are longer than 20 tokens (task.max_length): they are cut" in said
    batch: Any = made.task.batch("train", 0, 0)
    assert batch.documents_NT.shape[1] <= 20 and batch.anchors_BT.shape[1] <= 20


def test_a_batch_has_every_text_once(collection: Path) -> None:
    said: list[str] = []
    made = case(collection, said.append, task__pairs="given,title,spans,neighbors,twins")
    assert not any("repeat" in note for note in said)
    split = task_of(made).splits["train"]
    seen: list[int] = []
    for index in range(math.ceil(made.task.steps_per_epoch)):
        rows = task_of(made)._batches["train"].rows(3, index)  # pyright: ignore[reportPrivateUsage]
        assert len({split.key(row) for row in rows}) == len({split.anchors[row] for row in rows}) == len(rows) > 1
        seen += rows.tolist()
    assert len(seen) == len(set(seen)) and len(seen) >= len(split) - 3


def test_batches_that_repeated_texts_make_smaller_are_counted(collection: Path) -> None:
    said: list[str] = []
    case(collection, said.append, task__pairs="title,twins", task__batch_size=64)
    expected = (
        "texts that repeat are kept out of a batch: of a first pass, 1 batch is smaller for it, and 0 pairs left out"
    )
    assert expected in said


def test_generated_pairs_differ_from_epoch_to_epoch(collection: Path) -> None:
    made = case(collection, task__pairs="spans", task__span_length=8)
    epochs = [
        [made.task.batch("train", 0, index) for index in range(n, n + 4)]
        for n in (0, math.ceil(made.task.steps_per_epoch))
    ]
    rows = [{tuple(row) for batch in batches for row in batch.documents_NT.tolist()} for batches in epochs]  # pyright: ignore[reportAttributeAccessIssue]
    assert not rows[0] & rows[1]


# --- the loss -------------------------------------------------------------------------------------------------------


def gradients(made: TaskCase) -> dict[str, torch.Tensor]:
    made.model.train()
    made.model.zero_grad()
    made.task.loss(made.model, made.task.batch("train", 0, 0), None, 0).total.backward()
    return {name: parameter.grad.clone() for name, parameter in made.model.named_parameters()}


def test_cached_gradients_are_the_same(collection: Path) -> None:
    plain = {"model__embedding_dropout": 0.0, "model__output_dropout": 0.0}
    whole = gradients(case(collection, **plain))
    torch.testing.assert_close(gradients(case(collection, task__cache_batch=3, **plain)), whole, rtol=1e-4, atol=1e-6)


def test_options_of_the_loss(collection: Path) -> None:
    made = case(collection, task__matryoshka="2,4", task__symmetric=True, task__scale=7)
    batch: Any = made.task.batch("train", 0, 0)
    anchors, documents = (
        made.model(batch.anchors_BT, batch.anchor_mask_BT),
        made.model(batch.documents_NT, batch.document_mask_NT),
    )
    loss = made.task.loss(made.model, batch, None, 0)
    expected = sum(contrastive_nats(anchors[:, :n], documents[:, :n], 7, True).sum() for n in (2, 4, 8))
    torch.testing.assert_close(loss.total, expected)
    torch.testing.assert_close(loss.cross_entropy, contrastive_nats(anchors, documents, 7).sum().detach())
    assert loss.count == len(anchors)


@pytest.mark.parametrize("prefix", ["8", "0", "4,9"])
def test_a_prefix_is_shorter_than_the_vector(collection: Path, prefix: str) -> None:
    with pytest.raises(UsageError, match="is no prefix of a vector of 8 dimensions: expected 1 to 7"):
        case(collection, task__matryoshka=prefix)


def test_it_learns_to_find_documents(collection: Path, tmp_path: Path) -> None:
    changes = {
        "train.steps": 20,
        "train.evaluate_every": 20,
        "train.lr": 1e-2,
        "train.warmup": 5,
        "task.batch_size": 32,
        "task.start": "random",
    }
    run = api.train(collection, out=tmp_path / "run", settings={**SMALL, **changes}, reporter=Reporter())
    untrained = build_model(run.settings, run.vocabulary.sizes).eval()
    task = run.task()
    before, after = (task.metrics(task.score(model, "test"))["mrr"] for model in (untrained, run.model))
    assert after > before + 0.1


# --- scoring --------------------------------------------------------------------------------------------------------


def test_a_query_ranks_all_documents(collection: Path) -> None:
    made = case(collection)
    scores: Any = made.task.score(made.model, "test")
    assert scores.metrics["documents"] == 60 and scores.metrics["queries"] == len(scores.sums_UK) == 10
    split = task_of(made).splits["test"]
    vectors = embed_rows(made.model, split.table.texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    (query,) = embed_rows(made.model, split.inputs[:1])
    by_hand = sorted(range(60), key=lambda row: -float(vectors[row] @ query))
    (ranking,) = rank_by_cosine(query[None], vectors, split.table.names)
    assert ranking == [split.table.names[row] for row in by_hand]


def test_an_evaluation_during_training_ranks_the_relevant_documents_and_some_others(collection: Path) -> None:
    made = case(collection)
    split = task_of(made).splits["validation"]
    for limit, most in ((1, 3), (600, 40)):
        rows = ranked_within(split, limit)
        assert {row for row in split.rows} <= {*rows} and len(rows) <= most
    assert ranked_within(split, 10**6) == list(range(60))
    scores: Any = made.task.validate(made.model, 600)
    assert 3 < scores.metrics["documents"] < 60 and len(scores.sums_UK) == 3


def test_queries_with_documents_of_training_are_shown_and_not_judged(tmp_path: Path) -> None:
    """They can be answered from memory: the ranker that only remembers wins them, and finds none of the others."""
    folder = write_collection(tmp_path / "collection", documents=80, train=30, test=25)
    with (folder / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.writelines(f"q{number + 30}\td{number}\t1\n" for number in range(3))  # as in training
    said: list[str] = []
    made = case(folder, said.append)
    assert "test: 3 of 25 queries have a document that training queries had, too: the other 22 judge" in said
    split = made.dataset.splits["test"]
    assert split.seen_N is not None and split.seen_N.sum() == 3 and len(split) == 25
    task = task_of(made)
    scores = task.score(made.model, "test")
    metrics = scores.metrics
    assert len(scores.sums_UK) == metrics["queries"] == 22 and metrics["seen"] == 3
    by_hand = (22 * metrics["ndcg_10"] + 3 * metrics["ndcg_10_seen"]) / 25
    assert metrics["ndcg_10_all"] == pytest.approx(by_hand)
    assert task.reported_metrics[-2:] == ("ndcg_10_seen", "ndcg_10_all")
    assert "with the 3 whose documents training had, too" in task.wording(metrics)
    baselines = {one.name: one for one in task.score_baselines(made.dataset, "test", task.unit_sums(scores))}
    remembered = baselines["nearest training query"].metrics
    assert remembered["ndcg_10"] == 0 < remembered["ndcg_10_seen"]
    assert all(one.sums_UK is not None and len(one.sums_UK) == 22 for one in baselines.values())


def test_a_few_unseen_queries_do_not_judge_alone(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "collection", documents=60, train=30, test=10)
    with (folder / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.write("q30\td0\t1\n")
    said: list[str] = []
    made = case(folder, said.append)
    note = "1 of 10 queries have a document that training queries had, too: all judge, since fewer than 20 are others"
    assert f"test: {note}" in said
    metrics = task_of(made).score(made.model, "test").metrics
    assert metrics["queries"] == 10 and "seen" not in metrics


def test_queries_that_are_left_out_are_counted_in_training_and_where_a_run_is_scored(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "beir")
    judged = (folder / "qrels" / "test.tsv").read_text()
    for old, new in (("d30\t1", "gone\t1"), ("d31\t1", "d31\t0")):
        judged = judged.replace(old, new)
    (folder / "qrels" / "test.tsv").write_text(judged)
    said: list[str] = []
    case(folder, said.append)
    left_out = "2 queries without a relevant document that exists are left out of the scores of this run"
    assert [note for note in said if left_out in note] and not [note for note in said if "scores 0" in note]
    run = api.train(folder, out=tmp_path / "run", settings=SMALL, reporter=Reporter())
    test = run.evaluate(split="test")
    assert test.metrics["queries"] == 8
    assert any(f"test: {left_out}, which are based on the other 8; " in note for note in test.reading)
    with pytest.warns(SeqlabWarning):
        whole = run.evaluate(folder)
    assert any(f"given: {left_out}" in note for note in whole.reading)


def test_the_main_baseline_ranks_the_same_documents(collection: Path) -> None:
    made = case(collection)
    baselines = made.task.score_baselines(
        made.dataset, "test", made.task.unit_sums(made.task.score(made.model, "test"))
    )
    (main,) = [one for one in baselines if one.role == "main"]
    documents, queries = made.dataset.data.documents["test"], made.dataset.data.splits["test"]
    first = Bm25.fit(documents).scores([query.text for query in queries]).argmax(1)
    assert main.name == "BM25" and main.metrics["mrr"] == pytest.approx(
        np.mean([f"d{row}" == query.relevant[0] for row, query in zip(first, queries, strict=True)]), abs=0.2
    )


def test_the_training_split_is_not_scored(collection: Path) -> None:
    made = case(collection)
    with pytest.raises(UsageError, match="drawn anew each time: score validation or test"):
        made.task.score(made.model, "train")


# --- runs -----------------------------------------------------------------------------------------------------------


def test_a_run_loads_and_embeds(trained: api.Run) -> None:
    run = api.load(trained.path)
    with pytest.warns(SeqlabWarning) as said:
        vectors = run.embed(["balan cemer", "a much longer text " * 200])
    assert [str(warning.message) for warning in said] == [
        "1 of 2 texts have more than the 256 tokens that the model reads: their vectors are those of their beginning",
        "99.75% of the tokens are unknown to the model",
        "1 of 2 texts have no token that the model knows: their vectors mean nothing",
    ]
    assert vectors.shape == (2, 8)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(run.embed("balan cemer")[0], vectors[0], atol=1e-6)
    assert run.evaluate().metrics["ndcg_10"] == trained.results.validation["ndcg_10"]  # pyright: ignore[reportOptionalMemberAccess]
    assert run.evaluate(split="test").metrics["queries"] == 10


def test_other_data_is_scored_as_a_whole(trained: api.Run, tmp_path: Path) -> None:
    other = write_collection(tmp_path / "other", documents=20, train=5, test=5)
    assert trained.evaluate(other).metrics["queries"] == 10


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda run: run.predict("x"), "is a text encoder: it predicts no labels or texts. Use seqlab embed."),
        (lambda run: run.generate("x"), "is a text encoder: it cannot continue a text. Use seqlab embed."),
        (lambda run: run.inspect("x"), "is a text encoder: the task 'embed' declares no reading"),
        (lambda run: api.export(run, run.path.parent / "onnx"), "there are no graphs for --task embed"),
        (lambda run: run.embed([""]), "text 1 is '': expected words to embed"),
    ],
)
def test_what_an_encoder_cannot_do_is_said(trained: api.Run, use: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        use(trained)


# --- what it starts from --------------------------------------------------------------------------------------------


def test_pooling_by_frequency_starts_from_the_training_text(collection: Path) -> None:
    made = case(collection, task__pooling="sif")
    weights = EmbedTask.first_weights(made.model, made.settings, made.dataset, None)["pooling.scores_V1"][:, 0]
    texts = made.dataset.splits["train"].table.texts
    counts = np.bincount(np.concatenate(texts), minlength=len(weights))
    shares = torch.from_numpy(counts / counts.sum())
    torch.testing.assert_close(weights.double(), (SIF / (SIF + shares)).log(), rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "my.txt"
    path.write_text("balan cemer diton fovik gusor bapel\n" * 60, encoding="utf-8")
    return path


LM: dict[str, Any] = {
    "backbone.hidden": 8,
    "model.embedding": 8,
    "tokenizer.name": "word",
    "task.window": 8,
    "train.steps": 1,
    "train.threads": 1,
}


@pytest.mark.parametrize(
    ("task", "arch"),
    [("language", "gru"), ("language", "lstm"), ("language", "transformer"), ("masked", "transformer-encoder")],
)
def test_it_starts_from_a_language_model(task: str, arch: str, collection: Path, text: Path, tmp_path: Path) -> None:
    tied = {"model.tie_embeddings": task == "language"}
    settings = {**LM, "task.name": task, "backbone.name": arch, **tied}
    source = api.train(text, out=tmp_path / "lm", settings=settings, reporter=Reporter())
    changes = {"task.name": "embed", "task.batch_size": 8, "train.lr": 1e-12, "train.steps": 1, "train.threads": 1}
    run = api.train(collection, out=tmp_path / "run", init=source, settings=changes, reporter=Reporter())
    assert run.tokenizer.fingerprint == source.tokenizer.fingerprint
    assert [origin["role"] for origin in run.config["origins"]] == ["init"]
    expected = source.model.input_vectors_VD[: run.tokenizer.vocab_size]
    torch.testing.assert_close(run.model.embedding.weight, expected, rtol=0, atol=1e-6)
    for name, weight in source.model.backbone.named_parameters():
        torch.testing.assert_close(run.model.backbone.get_parameter(name), weight, rtol=0, atol=1e-6)


def test_it_starts_from_an_encoder_with_the_same_vector(trained: api.Run, collection: Path, tmp_path: Path) -> None:
    changes = {"task.name": "embed", "train.lr": 1e-12, "train.steps": 1, "train.threads": 1}
    same = {**changes, "task.dimensions": 8}
    run = api.train(collection, out=tmp_path / "run", init=trained, settings=same, reporter=Reporter())
    torch.testing.assert_close(run.model.projection.weight, trained.model.projection.weight, rtol=0, atol=1e-6)
    with pytest.raises(UsageError, match=r"do not fit: 'projection\.weight' differs"):
        plain = {**changes, "task.residual": False}
        api.train(collection, out=tmp_path / "other", init=trained, settings=plain, reporter=Reporter())
    with pytest.raises(UsageError, match=r"task\.start=static and --init both say where the embeddings start"):
        static = {**changes, "task.start": "static"}
        api.train(collection, out=tmp_path / "static", init=trained, settings=static, reporter=Reporter())


@torch.no_grad()
def test_an_untrained_encoder_is_static_vectors(collection: Path) -> None:
    """Whatever the architecture: the weighted mean of vectors from co-occurrence, as the baseline computes them."""
    made = case(collection)
    model, table = made.model, made.dataset.splits["train"].table
    assert isinstance(model, TextEncoder)
    weights = EmbedTask.first_weights(model, made.settings, made.dataset, None)
    model.load_state_dict(weights, strict=False)
    vectors_VD = token_vectors([ids.tolist() for ids in table.texts], model.vocab_size, 8).vectors_VD
    counts_V = np.bincount(np.concatenate(table.texts), minlength=model.vocab_size)
    weighted_VD = (SIF / (SIF + counts_V / counts_V.sum()))[:, None] * vectors_VD
    expected = torch.tensor(np.array([weighted_VD[ids].sum(0) for ids in table.texts[:5]])).float()
    torch.testing.assert_close(
        torch.from_numpy(embed_rows(model, table.texts[:5])), normalize(expected, dim=1), rtol=1e-4, atol=1e-5
    )


def test_what_the_first_embeddings_were_not_learned_from_is_said(
    collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = case(collection)
    for module in (cooccurrence, encoder_start):
        monkeypatch.setattr(module, "MAX_COUNTED_TOKENS", 50)
        monkeypatch.setattr(module, "MAX_VOCABULARY", 5)
    expected = r"counted in the first 50 of [\d,]+ tokens and for the 5 most frequent of [\d,]+ distinct tokens"
    with pytest.warns(SeqlabWarning, match=expected):
        EmbedTask.first_weights(made.model, made.settings, made.dataset, None)


def test_embeddings_can_start_at_random(collection: Path) -> None:
    made = case(collection, task__start="random")
    assert "embedding.weight" not in EmbedTask.first_weights(made.model, made.settings, made.dataset, None)


def test_embeddings_of_another_width_cannot_be_added(collection: Path) -> None:
    with pytest.raises(UsageError, match=r"set model\.embedding=4, or task\.residual=false"):
        refuse_unfit(case(collection, task__dimensions=4).settings)


def test_weights_of_another_task_are_refused(trained: api.Run, collection: Path, tmp_path: Path) -> None:
    labels = write_examples("classify", tmp_path)
    with pytest.raises(UsageError, match="is a text encoder, whose vocabulary a classifier cannot use"):
        api.train(labels, out=tmp_path / "labels", init=trained, reporter=Reporter())
    own: dict[str, Any] = {"hidden": 8, "embedding": 8, "steps": 1, "threads": 1}
    classifier = api.train(labels, out=tmp_path / "run", reporter=Reporter(), **own)
    with pytest.raises(UsageError, match="is a classifier, whose vocabulary a text encoder cannot use"):
        api.train(collection, out=tmp_path / "other", init=classifier, task="embed", reporter=Reporter())


def test_a_language_model_that_read_the_queries_is_found(collection: Path, tmp_path: Path) -> None:
    queries = [json.loads(line)["text"] for line in (collection / "queries.jsonl").read_text("utf-8").splitlines()]
    long = {name: f"{' '.join(queries[name : name + 3])}" for name in range(40)}
    asked = shutil.copytree(collection, tmp_path / "asked")
    rows = (json.dumps({"_id": f"q{name}", "text": text}) + "\n" for name, text in long.items())
    (asked / "queries.jsonl").write_text("".join(rows), encoding="utf-8")
    checks: dict[str, bool | None] = {}
    for name, lines in {"other": ["balan cemer diton"] * 90, "same": list(long.values())}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines * 3), encoding="utf-8")
        settings = {**LM, "backbone.name": "gru"}
        source = api.train(
            tmp_path / f"{name}.txt", out=tmp_path / f"{name}-lm", settings=settings, reporter=Reporter()
        )
        changes = {"task.name": "embed", "task.batch_size": 8, "train.steps": 1, "train.threads": 1}
        run = api.train(asked, out=tmp_path / name, init=source, settings=changes, reporter=Reporter())
        checks[name] = origins(run, run.dataset()).passed
    assert checks == {"other": True, "same": False}


def test_the_plan_says_how_many_documents_evaluations_rank(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    class Heard(Reporter):
        def log(self, message: str) -> None:
            said.append(message)

    monkeypatch.setattr("seqlab.training.start.EVALUATED_TOKENS", 100)
    api.train(collection, out=tmp_path / "run", settings={**SMALL, "train.steps": 1}, reporter=Heard())
    assert any(
        "evaluations rank the relevant ones and 100 tokens of 60 documents, the results all" in note for note in said
    )


def test_a_result_in_words_counts(collection: Path) -> None:
    task = task_of(case(collection))
    metrics = {"ndcg_10": 0.25, "queries": 1.0, "documents": 1200.0}
    assert task.wording(metrics) == "1 query over 1,200 documents: nDCG@10 0.250"
    assert task.wording({**metrics, "queries": 2.0, "documents": 1.0}) == "2 queries over 1 document: nDCG@10 0.250"


def test_a_result_on_few_queries_says_what_chance_has(collection: Path) -> None:
    task = task_of(case(collection))
    said = task.result_sentence({"ndcg_10": 0.25, "queries": 5.0, "documents": 100.0})
    assert said.startswith("5 queries over 100 documents") and "a random order has 0.05" in said
    assert "random" not in task.result_sentence({"ndcg_10": 0.25, "queries": 50.0, "documents": 100.0})


def test_the_command_that_is_advised_reads_what_is_there(collection: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query,document\nwho swims,the otter\n")
    of_pairs = f"{pairs} --column text=document"
    for source, read in {collection: str(collection), pairs: of_pairs, tmp_path / "gone": "notes/"}.items():
        command = EmbedTask.usage_on("RUN", CorpusSettings(source=(str(source),)))
        assert command == f"seqlab embed RUN {read} --out vectors\n"


def test_documents_do_not_come_from_standard_input() -> None:
    with pytest.raises(UsageError, match="documents cannot be read from standard input"):
        case(Path("-"))
