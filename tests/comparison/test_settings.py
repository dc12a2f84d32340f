"""What a comparison may be asked for, and what is refused before anything is read."""

import subprocess
import sys
from typing import Any

import pytest

from seqlab.comparison.plan.request import BATCH_SIZE, BUDGETS, build_request, parse_amount
from seqlab.errors import UsageError
from seqlab.recipes import Recipe, find_recipe
from seqlab.registry import BACKBONES

ARCHS = BACKBONES.compared()


def requested(recipe: str | None = None, settings: dict[str, Any] | None = None, **options: Any):
    return build_request(None if recipe else "my.txt", recipe, settings or {}, options)


def test_without_options_the_usual_architectures_on_three_parts():
    result = requested()
    assert tuple(result.models) == ARCHS == ("rnn", "gru", "lstm", "lstm-attention", "transformer")
    assert {model.corpus.split_ratios for model in result.models.values()} == {"80/10/10"}
    assert {name: model.backbone.name for name, model in result.models.items()} == {name: name for name in ARCHS}
    assert result.comparison.seeds == 3


@pytest.mark.parametrize("task", ["classify", "tag", "translate"])
def test_by_default_all_read_in_both_directions_where_the_whole_text_is_known(task: str):
    assert {
        name: model.backbone.settings.causal for name, model in requested(task=task).models.items()
    } == dict.fromkeys(ARCHS, False)
    assert {model.backbone.settings.causal for model in requested().models.values()} == {True}


@pytest.mark.parametrize(
    ("recipe", "settings", "options", "split"),
    [
        (None, {}, {}, "scattered"),
        (None, {}, {"split_ratios": "90/10", "task": "masked", "archs": "transformer-encoder"}, "scattered"),
        (None, {}, {"split": "contiguous"}, "contiguous"),
        (None, {"corpus.split": "contiguous"}, {}, "contiguous"),
        (None, {"corpus": {"split": "contiguous"}}, {}, "contiguous"),
        (None, {}, {"documents": "lines"}, "contiguous"),
        (None, {}, {"task": "classify"}, "contiguous"),
        ("char-rnn", {}, {}, "contiguous"),
        ("char-rnn", {}, {"split": "scattered"}, "scattered"),
    ],
)
def test_held_out_text_is_scattered_unless_a_recipe_or_the_user_says_otherwise(
    recipe: str | None, settings: dict[str, Any], options: dict[str, Any], split: str
):
    result = requested(recipe, settings, **options)
    assert {model.corpus.split for model in result.models.values()} == {split}


@pytest.mark.parametrize(
    ("recipe", "options", "size"),
    [
        (None, {}, BATCH_SIZE),
        (None, {"arch": None, "archs": "transformer,lstm+counts"}, BATCH_SIZE),
        (None, {"batch_size": 5}, 5),
        (None, {"task": "masked", "archs": "transformer-encoder"}, BATCH_SIZE),
        (None, {"documents": "lines"}, 32),
        (None, {"task": "classify"}, 32),
        ("demo", {}, 32),
    ],
)
def test_running_text_is_compared_in_smaller_batches_unless_somebody_says_otherwise(
    recipe: str | None, options: dict[str, Any], size: int
):
    result = requested(recipe, {}, **options)
    assert {model.task.settings.batch_size for model in result.models.values()} == {size}
    chosen = requested(recipe, {"task.batch_size": 7}, **{**options, "batch_size": None})
    assert {model.task.settings.batch_size for model in chosen.models.values()} == {7}
    nested = requested(recipe, {"task": {"batch_size": 7}}, **{**options, "batch_size": None})
    assert {model.task.settings.batch_size for model in nested.models.values()} == {7}


def test_examples_cannot_be_scattered():
    with pytest.raises(UsageError, match="scattered is for running text, and the task is classify"):
        requested(task="classify", split="scattered")


@pytest.mark.parametrize(
    ("text", "kind", "size"),
    [
        ("steps=1000", "steps", 1e3),
        ("tokens=2M", "tokens", 2e6),
        ("flops=1.5t", "flops", 1.5e12),
        ("seconds=.5", "seconds", 0.5),
    ],
)
def test_amounts(text: str, kind: str, size: float):
    amount = parse_amount(text, BUDGETS, "budget")
    assert (amount.kind, amount.size) == (kind, size)
    assert parse_amount(str(amount), BUDGETS, "budget") == amount


def test_amounts_are_written_in_full() -> None:
    assert str(parse_amount("tokens=1234567", BUDGETS, "budget")) == "tokens=1234567"


@pytest.mark.parametrize(
    "text", ["steps", "steps=", "steps=0", "steps=-3", "steps=many", "steps=nan", "step=3", "=3", "steps=3q"]
)
def test_what_is_no_amount(text: str):
    with pytest.raises(UsageError, match="budget"):
        parse_amount(text, BUDGETS, "budget")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"archs": "lsmt"}, "lstm"),
        ({"archs": "gru,gru,lstm"}, "gru is named more than once.* --archs gru,lstm, and .*--seeds"),
        ({"archs": ","}, "archs"),
        ({"match": "parms=3"}, "params"),
        ({"budget": "step=3"}, "steps"),
        ({"seeds": 0}, "seeds"),
        ({"tune_over": "lr,width"}, "tune_over"),
        ({"steps": 3}, "budget"),
        ({"seed": 3}, "seeds"),
        ({"arch": "lstm"}, "archs"),
        ({"hiden": 3}, "hidden"),
        ({"minutes": -1}, "minutes"),
    ],
)
def test_refusals_name_what_was_meant(options: dict[str, Any], word: str):
    with pytest.raises(UsageError, match=word):
        requested(**options)


@pytest.mark.parametrize(
    "name", [name for name in BACKBONES if not getattr(BACKBONES.settings(name)(), "causal", True)]
)
def test_what_reads_ahead_is_no_language_model(name: str):
    with pytest.raises(UsageError, match="reads ahead"):
        requested(archs=f"lstm,{name}")
    with pytest.raises(UsageError, match="never sees what comes after"):
        requested(archs=f"lstm,{name}", task="masked")


def test_reading_both_ways_is_compared_where_the_task_allows_it():
    result = requested(archs="transformer-encoder", task="masked")
    assert list(result.models) == ["transformer-encoder"]


def test_one_word_and_dotted_settings_reach_every_model():
    result = requested(window=32, embedding=24, settings={"train.clip_norm": 0.5, "model": {"tie_embeddings": True}})
    for model in result.models.values():
        assert model.task.settings.model_dump()["window"] == 32
        assert (model.model.embedding, model.model.tie_embeddings, model.train.clip_norm) == (24, True, 0.5)


def test_models_of_a_recipe_keep_their_names_rates_and_sizes():
    result = requested("evolution", archs="lstm,lstm-attention-add")
    assert {name: model.backbone.name for name, model in result.models.items()} == {
        "lstm": "lstm",
        "lstm-attention-add": "lstm-attention",
    }
    assert {model.train.lr for model in result.models.values()} == {3e-4}
    assert result.comparison.tune == 0 and result.comparison.sizes is None
    assert requested("evolution", archs="lstm", tune=2).comparison.tune == 2


def test_models_that_read_other_windows_are_not_compared():
    tables = find_recipe("evolution").models["lstm"]
    recipe = Recipe("mine", "two windows", {"a": tables, "b": {**tables, "task": {"window": 256}}})
    with pytest.raises(UsageError, match=r"a and b cannot be compared: task\.window is 128 .* 256"):
        build_request(None, recipe, {}, {})
    with pytest.raises(UsageError, match=r"no model 'lsmt'.*'lstm'"):
        requested("evolution", archs="lsmt")


def test_how_many_run_at_a_time_is_no_part_of_what_was_asked():
    assert requested(jobs=1).as_dict() == requested(jobs=7).as_dict()
    assert requested(seeds=1).as_dict() != requested(seeds=2).as_dict()


def test_torch_is_not_needed_to_refuse():
    program = (
        "import sys\nfrom seqlab.comparison.plan.request import build_request\n"
        "try: build_request('x.txt', None, {}, {'archs': 'lsmt'})\nexcept Exception as error: print(error)\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert "did you mean 'lstm'" in done.stdout
