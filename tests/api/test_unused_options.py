"""Options that cannot apply are refused, never ignored."""

import re
from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.comparison.plan.request import build_request
from seqlab.errors import UsageError
from seqlab.training.request import settings_from_request

TEXT = "the cat sat on the mat\n" * 50
TABLE = "text\tlabel\n" + "".join(f"film {n}\t{'good' if n % 2 else 'bad'}\n" for n in range(40))
SMALL: dict[str, Any] = {"arch": "rnn", "hidden": 4, "steps": 1, "sample_tokens": 0, "threads": 1}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, content in {"my.txt": TEXT, "films.tsv": TABLE, "tags.conll": "the O\ncat B-x\n\n" * 40}.items():
        (tmp_path / name).write_text(content)
    return {"text": tmp_path / "my.txt", "examples": tmp_path / "films.tsv", "tags": tmp_path / "tags.conll"}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("examples", {"documents": "lines"}),
        ("examples", {"split": "scattered"}),
        ("examples", {"window": 32}),
        ("examples", {"batching": "stream"}),
        ("examples", {"difficulty": 3}),
        ("examples", {"decoder": "gru"}),
        ("text", {"task": "language", "columns": ["a", "b"]}),
        ("text", {"batch_tokens": 100}),
        ("text", {"decoder": "gru"}),
        ("text", {"difficulty": 3}),
        ("text", {"vocab_size": 50}),
        ("text", {"metric": "accuracy"}),
        ("text", {"documents": "lines", "batching": "stream"}),
        ("examples", {"batch_size": 4, "batch_tokens": 100}),
    ],
)
def test_train_and_compare_refuse_what_does_nothing(files: dict[str, Path], kind: str, options: dict[str, Any]):
    with pytest.raises(UsageError):
        seqlab.train(files[kind], **SMALL, **options)
    with pytest.raises(UsageError):
        build_request(files[kind], None, {}, {"archs": "rnn,gru", **options})


@pytest.mark.parametrize("kind", ["text", "examples"])
def test_an_encoder_is_for_translation(files: dict[str, Path], kind: str):
    with pytest.raises(UsageError, match=r"--encoder is for --task translate, .*: use --arch gru"):
        settings_from_request(files[kind], {}, {}, {"encoder": "gru"})


def test_evaluate_refuses_a_split_of_other_data(files: dict[str, Path], tmp_path: Path):
    run = seqlab.train(files["text"], **SMALL, window=8, out=tmp_path / "run")
    for split in ("test", "validation"):
        with pytest.raises(UsageError, match="split of the run's own data"):
            run.evaluate(files["text"], split=split)


@pytest.mark.parametrize(
    ("source", "settings", "words"),
    [
        ("text", {"train.momentum": 0.5}, "train.optimizer is adam"),
        ("text", {"train.optimizer": "sgd", "train.beta2": 0.5}, "train.optimizer is sgd"),
        ("text", {"train.schedule": "constant", "train.final_lr": 0}, "train.schedule is constant"),
        ("text", {"train.decay": 0.5}, "train.schedule is cosine, not decay"),
        ("text", {"task.teacher_weight": 0.5}, "there is no task.teacher"),
        ("text", {"task.teacher": "r", "task.teacher_weight": 0}, "task.teacher_weight is 0, so the teacher"),
        ("text", {"task.temperature": 2}, "there is no task.teacher"),
        ("text", {"task.name": "masked", "train.sample_tokens": 5}, "a model for --task masked writes no samples"),
        ("examples", {"train.sample_tokens": 5}, "a model for --task classify writes no samples"),
        ("examples", {"model.tie_embeddings": True}, "no output layer over tokens"),
        ("text", {"corpus.groups": "auto"}, "running text is not divided into groups"),
        (
            "tags",
            {"corpus.groups": "auto"},
            "corpus.groups does nothing: files of tagged words have no column of groups",
        ),
        ("tags", {"corpus.split_column": "none"}, "files of tagged words have no column of splits"),
        ("reverse", {"corpus.split_ratios": "80/10/10"}, "'reverse' is built in, with splits of its own"),
        ("reverse", {"corpus.skip_limit": 0.5}, "'reverse' is built in, with splits of its own"),
        ("toy-words", {"corpus.difficulty": 3}, "corpus.difficulty is for generated corpora"),
    ],
)
def test_settings_that_others_make_idle_are_refused(
    files: dict[str, Path], source: str, settings: dict[str, Any], words: str
):
    with pytest.raises(UsageError, match=re.escape(words)):
        settings_from_request(files.get(source, source), {}, settings, {"arch": "transformer-encoder"})


@pytest.mark.parametrize(
    ("recipe", "settings", "options", "words"),
    [
        (None, {}, {"minutes": 3, "budget": "steps=9"}, "minutes does nothing with the budget steps=9"),
        (None, {"train.steps": 9}, {"budget": "steps=9"}, "train.steps does nothing with the budget steps=9"),
        (None, {"train.steps": 9}, {"minutes": 3}, "minutes does nothing with the budget of the settings"),
        (None, {"train.seed": 1}, {}, "train.seed does nothing in a comparison"),
        (None, {}, {"tune": 0, "tune_over": "lr"}, "tune_over does nothing without trials"),
        (None, {"train": {"lr": 0.1}}, {}, "train.lr does nothing while it is tuned"),
        (None, {}, {"tune_over": "layers", "layers": 2}, "backbone.layers does nothing while it is tuned"),
        (None, {}, {"hidden": 8, "match": "params=9k"}, "backbone.hidden does nothing where sizes are matched"),
        (None, {}, {"hidden": 8}, "backbone.hidden does nothing where sizes are matched"),
        ("demo", {}, {"minutes": 3}, "minutes does nothing with the budget steps=400"),
        ("demo", {}, {"tune_over": "lr"}, "tune_over does nothing without trials"),
        ("attention-scaling", {}, {"seeds": 2}, "the recipe 'attention-scaling', which trains nothing"),
        ("attention-scaling", {"train.lr": 0.1}, {}, "the recipe 'attention-scaling', which trains nothing"),
    ],
)
def test_compare_refuses_what_its_plan_overrules(
    files: dict[str, Path], recipe: str | None, settings: dict[str, Any], options: dict[str, Any], words: str
):
    source = None if recipe else files["text"]
    with pytest.raises(UsageError, match=re.escape(words)):
        build_request(source, recipe, settings, options)


def test_what_the_plan_leaves_alone_is_taken(files: dict[str, Path]):
    both = {"archs": "rnn,gru", "match": "none", "tune": 0, "hidden": 8}
    request = build_request(files["text"], None, {"train.lr": 0.1}, both)
    assert {model.train.lr for model in request.models.values()} == {0.1}


def test_overwrite_needs_the_folder(files: dict[str, Path]):
    with pytest.raises(UsageError, match="overwrite does nothing without 'out'"):
        seqlab.train(files["text"], **SMALL, overwrite=True)


PAIRS = {"task.name": "translate"}
TAGS = {"task.name": "tag"}


@pytest.mark.parametrize(
    ("source", "arch", "settings", "words"),
    [
        ("text", "rnn", {"backbone.residual": True}, "backbone.residual does nothing: it adds layers to their inputs"),
        ("dates", "gru", {**PAIRS, "decoder.residual": True}, "decoder.residual does nothing"),
        ("dates", "gru", {**PAIRS, "task.decay": "linear"}, "task.decay does nothing: task.forcing is teacher, not"),
        ("dates", "gru", {**PAIRS, "task.teacher_ratio": 0.5}, "task.forcing is teacher, not scheduled"),
        ("dates", "gru", {**PAIRS, "task.forcing": "scheduled", "task.teacher_ratio": 0.5}, "is inverse-sigmoid"),
        (
            "dates",
            "gru",
            {**PAIRS, "task.forcing": "scheduled", "task.decay": "constant", "task.decay_steps": 5},
            "task.decay is constant",
        ),
        ("dates", "gru", {**PAIRS, "task.beam": 1, "task.length_penalty": 0.5}, "task.beam is 1"),
        ("dates", "gru", {**PAIRS, "task.attention": "none", "task.attends": "before"}, "task.attention is none"),
        ("text", "gru", {**TAGS, "task.char_encoder": "none", "task.char_width": 8}, "task.char_encoder is none"),
        ("text", "gru", {**TAGS, "tokenizer.name": "bpe", "task.char_width": 8}, "tokenizer.name is bpe, not word"),
    ],
)
def test_settings_that_others_of_their_component_make_idle_are_refused(
    files: dict[str, Path], source: str, arch: str, settings: dict[str, Any], words: str
):
    with pytest.raises(UsageError, match=re.escape(words)):
        settings_from_request(files.get(source, source), {}, settings, {"arch": arch})


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        ("text", {"backbone.residual": True, "backbone.layers": 2}),
        ("dates", {**PAIRS, "task.forcing": "scheduled", "task.decay": "linear", "task.decay_steps": 5}),
    ],
)
def test_settings_that_act_are_taken(files: dict[str, Path], source: str, settings: dict[str, Any]):
    settings_from_request(files.get(source, source), {}, settings, {"arch": "gru"})
