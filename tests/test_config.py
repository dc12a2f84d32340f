"""Settings: resolved once, closed to unknown keys, the same from files, words and dotted names."""

import re
from pathlib import Path
from typing import Any

import pytest

from seqlab.config import RunSettings, build_settings, expand_short_names, merge, parse_assignment, read_toml, resolve
from seqlab.config.overview import known_settings
from seqlab.errors import MissingInput, UsageError
from seqlab.models.parameter_count import refuse_unfit
from seqlab.recipes import find_recipe
from seqlab.registry import MEASURES, TASKS
from seqlab.training.request import settings_from_request

TEXT = {"corpus": {"source": ["my.txt"]}}


def test_resolved_settings_resolve_to_themselves() -> None:
    settings = resolve({**TEXT, "backbone": {"name": "gru", "reset": "before"}, "train": {"steps": 7}})
    again = resolve(settings.resolved())
    assert again == settings
    assert again.resolved()["backbone"]["reset"] == "before"


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"trian": {}}, ["unknown section 'trian'", "did you mean 'train'"]),
        ({"train": {"lrate": 1}}, ["unknown setting 'train.lrate'", "did you mean 'lr'"]),
        ({"train": {"learning_rate": 1}}, ["did you mean 'lr'"]),
        ({"train": {"batch_size": 1}}, ["unknown setting 'train.batch_size'", "did you mean 'task.batch_size'"]),
        ({"task": {"lr": 1}}, ["did you mean 'train.lr'"]),
        ({"backbone": {"name": "lstn"}}, ["unknown architecture 'lstn'", "did you mean 'lstm'"]),
        ({"train": {"step": 1}}, ["did you mean 'steps'"]),
        (
            {"backbone": {"name": "lstm", "reset": "before"}},
            ["backbone.reset does not apply to --arch lstm: it is a setting of gru. Leave it out."],
        ),
        ({"backbone": {"name": "lstm", "rest": "before"}}, ["unknown setting 'backbone.rest'"]),
        (
            {"task": {"name": "classify", "window": 16}},
            ["--window (task.window) does not apply to --task classify: it is a setting of language, masked"],
        ),
        (
            {"tokenizer": {"name": "char", "vocab_size": 300}},
            ["--vocab-size (tokenizer.vocab_size) does not apply to --tokenizer char: it is a setting of", "bpe"],
        ),
        (
            {"task": {"output_layer": "crf"}},
            ["task.output_layer does not apply to --task language: it is a setting of tag"],
        ),
        ({"train": {"steps": 0}}, ["train.steps", "given: 0"]),
        ({"train": {"lr": float("nan")}}, ["train.lr"]),
        ({"train": {"steps": 5, "seconds": 5}}, ["steps and seconds contradict each other"]),
        ({"model": {"initialization": "xavier"}}, ["'xavier' is not an initialization", "orthogonal"]),
        ({"model": {"initialization": "uniform"}}, ["is not an initialization"]),
        ({"train": 3}, ["'train' is a section"]),
        (
            {"corpus": {"source": ["my.csv"], "columns": "text, label"}},
            ['corpus.columns: expected a list in brackets, such as ["text", "label"] (given: \'text, label\')'],
        ),
        (
            {"corpus": {"source": ["my.txt"], "split_ratios": "80/20"}},
            ["corpus.split_ratios: expected 90/10, or with a test split 80/10/10 or 90/5/5 (given: '80/20')"],
        ),
        (
            {"corpus": {"source": ["my.txt"], "split_ratios": "whole"}},
            ["corpus.split_ratios: expected 90/10, or with a test split 80/10/10 or 90/5/5 (given: 'whole')"],
        ),
    ],
)
def test_mistakes_are_named(tables: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        resolve({**TEXT, **tables})
    for word in words:
        assert word in str(refused.value)


def test_none_is_a_word_where_it_is_a_choice_and_nothing_elsewhere() -> None:
    tables = merge({**TEXT, "backbone": {"name": "transformer"}}, [parse_assignment("backbone.positions=none")])
    assert resolve(tables).resolved()["backbone"]["positions"] == "none"
    assert resolve(merge(TEXT, [parse_assignment("train.clip_norm=none")])).train.clip_norm is None
    assert resolve(merge(TEXT, [parse_assignment("corpus.groups=none")])).corpus.groups == "none"


def test_a_text_is_needed() -> None:
    with pytest.raises(UsageError, match=r"corpus\.source"):
        resolve({})


@pytest.mark.parametrize(
    ("assignment", "key", "value"),
    [
        ("train.lr=3e-4", "train.lr", 3e-4),
        ("train.clip_norm=none", "train.clip_norm", None),
        ("model.tie_embeddings=True", "model.tie_embeddings", True),
        ("backbone.name=gru", "backbone.name", "gru"),
        ('corpus.source=["a","b"]', "corpus.source", ["a", "b"]),
        ("model.initialization=uniform:0.1", "model.initialization", "uniform:0.1"),
    ],
)
def test_assignments(assignment: str, key: str, value: Any) -> None:
    assert parse_assignment(assignment) == (key, value)


@pytest.mark.parametrize("assignment", ["lr=3", "train.lr", "a.b.c=1", ".lr=1", "train.=1"])
def test_what_is_no_assignment(assignment: str) -> None:
    with pytest.raises(UsageError, match=r"section\.key=value"):
        parse_assignment(assignment)


def test_choosing_another_name_drops_the_old_ones_settings() -> None:
    tables = {"backbone": {"name": "gru", "reset": "before", "hidden": 9}}
    assert merge(tables, [("backbone.hidden", 5), ("backbone.name", "lstm")])["backbone"] == {
        "name": "lstm",
        "hidden": 5,
    }
    assert merge(tables, [("backbone.name", "gru")])["backbone"]["reset"] == "before"


def test_a_new_budget_replaces_the_old_one() -> None:
    settings = build_settings({**TEXT, "train": {"epochs": 3, "lr": 0.5}}, [("train.seconds", 9)])
    assert (settings.train.epochs, settings.train.seconds, settings.train.lr) == (None, 9, 0.5)


def test_one_word_settings() -> None:
    assert ("model.output_dropout", 0.1) in expand_short_names({"dropout": 0.1})
    with pytest.raises(UsageError, match="did you mean 'hidden'"):
        expand_short_names({"hiden": 3})


@pytest.mark.parametrize(
    ("tokenizer", "task", "tied"),
    [
        ({"name": "bpe", "vocab_size": 1001}, "language", True),
        ({"name": "bpe", "vocab_size": 1000}, "language", False),
        ({"name": "word"}, "masked", True),
        ({"name": "char"}, "language", False),
        ({"name": "word"}, "classify", False),  # it predicts labels, so there is nothing to tie
    ],
)
def test_embeddings_of_large_vocabularies_are_tied(tokenizer: dict[str, Any], task: str, tied: bool) -> None:
    tables = {**TEXT, "tokenizer": tokenizer, "task": {"name": task}}
    assert resolve(tables).model.tie_embeddings is tied
    assert resolve({**tables, "model": {"tie_embeddings": not tied}}).model.tie_embeddings is not tied


@pytest.mark.parametrize("arch", ["rnn", "gru", "lstm", "lstm-attention"])
def test_dropout_that_does_nothing_is_refused(arch: str) -> None:
    one_layer = {**TEXT, "backbone": {"name": arch, "dropout": 0.2}}
    with pytest.raises(UsageError, match=rf"backbone\.dropout=0\.2 does nothing: {arch} applies it between layers"):
        build_settings(one_layer, [])
    assert build_settings(one_layer, [("backbone.layers", 2)]).backbone.settings.dropout_rate == 0.2
    assert resolve(one_layer).backbone.settings.dropout_rate == 0  # as stored by a run: it can be read, and says 0
    transformer = build_settings(one_layer, [("backbone.name", "transformer"), ("backbone.dropout", 0.2)])
    assert transformer.backbone.settings.dropout_rate == 0.2
    pairs = [("task.name", "translate"), ("backbone.layers", 2), ("decoder.layers", 1)]
    assert build_settings(one_layer, pairs).decoder is not None  # the decoder has the encoder's rate
    with pytest.raises(UsageError, match=r"decoder\.dropout=0\.1 does nothing"):
        build_settings(one_layer, [*pairs, ("decoder.dropout", 0.1)])


@pytest.mark.parametrize(
    ("arch", "layers", "between"), [("lstm", 1, 0.0), ("lstm", 2, 0.3), ("transformer", 1, 0.3), ("feedforward", 2, 0)]
)
def test_one_word_sets_dropout_wherever_it_acts(arch: str, layers: int, between: float) -> None:
    settings = settings_from_request("toy-words", {}, {}, {"arch": arch, "layers": layers, "dropout": 0.3})
    assert settings.backbone.settings.dropout_rate == between
    assert (settings.model.embedding_dropout, settings.model.output_dropout) == (0.3, 0.3)


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('[train]\nlr = 1e-3\n[corpus]\nsource = ["x"]\n', encoding="utf-8")
    assert resolve(read_toml(path)).train.lr == 1e-3
    path.write_text("[train\n", encoding="utf-8")
    with pytest.raises(UsageError, match="not a TOML file"):
        read_toml(path)
    with pytest.raises(MissingInput):
        read_toml(tmp_path / "b.toml")


def test_every_recipe_resolves() -> None:
    from seqlab.recipes import find_recipe, recipe, recipes

    for name, about in recipes().items():
        assert about
        result = find_recipe(name)
        assert result.models or result.shows
        for model, tables in result.models.items():
            refuse_unfit(build_settings(tables, []))
            assert recipe(f"{name}/{model}") == tables
        for measure in (*result.measures, *result.shows):
            assert measure in MEASURES
    with pytest.raises(UsageError, match="did you mean 'demo'"):
        recipe("demoo")
    with pytest.raises(UsageError, match="did you mean 'lstm'"):
        recipe("char-rnn/lsmt")
    with pytest.raises(UsageError, match="seqlab compare --recipe char-rnn"):
        recipe("char-rnn")


def test_a_model_of_a_recipe_overrides_what_all_share(tmp_path: Path) -> None:
    from seqlab.recipes import find_recipe

    path = tmp_path / "two.toml"
    path.write_text("[train]\nlr = 0.1\nsteps = 5\n[models.a]\ntrain = { lr = 0.2 }\n[models.b]\n")
    tables = {name: model["train"] for name, model in find_recipe(str(path)).models.items()}
    assert tables == {"a": {"lr": 0.2, "steps": 5}, "b": {"lr": 0.1, "steps": 5}}


def test_what_a_corpus_brings_is_for_architectures_that_have_it() -> None:
    """The long lag of `adding` is one only for what reads one way and is asked at the end."""
    lstm = resolve({"corpus": {"source": ["adding"]}, "backbone": {"name": "lstm"}})
    assert lstm.backbone.flat()["bidirectional"] is False and lstm.task.flat()["pooling"] == "last"
    encoder = resolve({"corpus": {"source": ["adding"]}, "backbone": {"name": "transformer"}})
    assert encoder.backbone.name == "transformer-encoder" and encoder.task.flat()["pooling"] == "last"
    asked = resolve({"corpus": {"source": ["adding"]}, "backbone": {"name": "lstm", "bidirectional": True}})
    assert asked.backbone.flat()["bidirectional"] is True


def test_what_a_corpus_brings_for_its_task_is_for_no_other() -> None:
    pairs = {"corpus": {"source": ["multi30k-en-de"]}}
    assert resolve(pairs).resolved()["task"]["bleu_tokenizer"] == "none"
    assert resolve({**pairs, "task": {"name": "language"}}).task.name == "language"


def test_every_setting_is_listed_with_its_default_and_its_meaning() -> None:
    listed = known_settings()
    for settings in listed:
        assert settings.meaning, f"{settings.name} has no description"
    names = {settings.name for settings in listed}
    for task in TASKS:
        tables = {"task": {"name": task}, "corpus": {"source": ["my.txt"]}}
        for section, values in resolve(tables).resolved().items():
            section = "backbone" if section == "decoder" else section
            assert {f"{section}.{key}" for key in values} <= names
    by_name = {settings.name: settings for settings in listed if not settings.components}
    assert by_name["train.lr"].default == "0.005" and by_name["corpus.source"].default == ""
    (forget,) = [settings for settings in listed if settings.name == "backbone.forget_bias"]
    assert forget.components == ("lstm", "lstm-attention"), "settings of some architectures say which"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("steps = 3", "'steps' is 3, and a recipe has tables there"),
        ("[models.a]\ntrain = 3", "'models.a.train' is 3, and a recipe has tables there"),
        ("models = 3", "'models' is 3, and a recipe has tables there"),
        ('[writing]\npromt = "a"', "unknown 'writing.promt' (did you mean 'prompt'?)"),
        ('[findings]\nfoo = "a"', "unknown 'findings.foo'"),
    ],
)
def test_a_recipe_with_a_mistake_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=re.escape(words)):
        find_recipe(str(path))


def test_a_settings_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[train]\nsteps = 5\n", encoding="utf-8-sig")
    assert read_toml(path) == {"train": {"steps": 5}}


def test_a_window_beyond_learned_positions_is_refused_with_the_one_that_fits() -> None:
    tables = {**TEXT, "backbone": {"name": "transformer", "positions": "learned", "context": 32}}
    with pytest.raises(UsageError, match=r"end at 32 .* task\.window is 128: give --window 32"):
        refuse_untrainable(resolve(tables))
    refuse_untrainable(resolve(merge(tables, [("task.window", 32)])))


def refuse_untrainable(settings: RunSettings) -> None:
    refuse_unfit(settings)
    settings.task.settings.refuse_untrainable(settings)
