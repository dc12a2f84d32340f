"""Settings that do nothing for the task, for the data or beside the other settings: they are refused."""

from collections.abc import Mapping
from typing import Any

from seqlab.config import ExampleKind, RunSettings, TrainSettings
from seqlab.data.corpora.when_sharded import has_rows
from seqlab.data.documents.collection_layout import is_collection
from seqlab.data.examples.split_column import IGNORED
from seqlab.errors import UsageError
from seqlab.registry import CORPORA

# settings of the corpus that do nothing for running text, or for examples
TEXT_ONLY = {
    "corpus.documents": "examples have no documents",
    "corpus.layout": "examples have a layout of their own",
    "corpus.split": "examples are split by a shuffle",
    "corpus.text_column": "corpus.columns names the columns of examples",
    "corpus.sharded": "examples are not encoded into shards",
}
EXAMPLES_ONLY = {
    "corpus.columns": "corpus.text_column names the column of running text",
    "corpus.groups": "running text is not divided into groups",
    "corpus.split_column": "running text is split by characters, lines or documents. Make a file of each split, and "
    "give them with --validation and --test",
    "corpus.skip_limit": "running text has no rows to skip",
}

UNTAUGHT = "{} is 0, so the teacher and the temperature do nothing: give a weight above 0, up to 1."


def refuse_unused(settings: RunSettings, given: Mapping[str, Any]) -> None:
    """UsageError for settings that do nothing for the task or beside the others."""
    task = settings.task.settings
    unused = EXAMPLES_ONLY if task.examples is None else TEXT_ONLY
    reads_rows = task.examples is None and has_rows(settings.corpus)
    for key in given:
        if key in unused and not (reads_rows and key == "corpus.skip_limit"):
            option = key.removeprefix("corpus.")
            raise UsageError(f"{key} does nothing for --task {settings.task.name}: {unused[key]}. Leave out {option}.")
    asks_ratios = given.get("corpus.split_ratios") is not None
    kind = task.examples if task.examples != "documents" else None
    if asks_ratios and kind and (column := _split_column(settings, kind)):
        raise UsageError(
            f"corpus.split_ratios is {settings.corpus.split_ratios}, but the column '{column}' gives the splits: leave "
            f"it out, or ignore the column: {IGNORED}"
        )
    taught = task.option("teacher", None) is not None
    if taught and given.get("task.teacher_weight") is not None and not task.option("teacher_weight", 1):
        raise UsageError(UNTAUGHT.format("task.teacher_weight"))
    for key, reason in _idle_settings(settings).items():
        if given.get(key) is not None:
            raise UsageError(f"{key} does nothing: {reason}. Leave it out.")


def _split_column(settings: RunSettings, kind: ExampleKind) -> str | None:
    from seqlab.data.examples.load import column_of_splits  # needs numpy: other settings are refused without it

    return column_of_splits(kind, settings.corpus)


def _idle_settings(settings: RunSettings) -> dict[str, str]:
    """Settings that others make idle, and why."""
    task, train, corpus = settings.task.settings, settings.train, settings.corpus
    idle = _given_by_corpus(settings) | _idle_within(settings)
    if task.reads != "before" and train.sample_tokens:  # no sample is what these models write
        idle["train.sample_tokens"] = f"a model for --task {settings.task.name} writes no samples"
    if task.examples in ("labeled", "tagged", "documents"):
        reason = f"a model for --task {settings.task.name} has no output layer over tokens"
        idle |= dict.fromkeys(("model.tie_embeddings", "model.logit_cap"), reason)
    if corpus.documents == "lines":
        idle["task.batching"] = "with corpus.documents=lines, a batch has lines of similar length"
        idle["corpus.split"] = "with corpus.documents=lines, a shuffle assigns the lines to the splits"
    if task.option("batch_tokens", None) is not None:
        idle["task.batch_size"] = "task.batch_tokens replaces it"
    if not task.option("negatives", 0):
        keys = ("task.miner", "task.negative_ranks", "task.negative_margin")
        idle |= dict.fromkeys(keys, "task.negatives is 0")
    if task.option("teacher", None) is None:
        idle |= dict.fromkeys(("task.teacher_weight", "task.temperature"), "there is no task.teacher")
    if task.option("mix", "none") == "none":
        idle["task.mix_size"] = "the model is not mixed with counts (task.mix)"
    return idle | _idle_in_training(train)


def _idle_in_training(train: TrainSettings) -> dict[str, str]:
    idle: dict[str, str] = {}
    idle["train.beta2" if train.optimizer == "sgd" else "train.momentum"] = f"train.optimizer is {train.optimizer}"
    if train.optimizer != "muon":
        idle["train.muon_precision"] = f"train.optimizer is {train.optimizer}"
    if train.precision == "bf16":
        idle["train.matmul"] = "train.precision is bf16"
    if train.device != "cpu":
        idle["train.matmul"] = f"train.device is {train.device}"
    if train.seconds is None:
        idle["train.max_epochs"] = "it bounds a budget in seconds"
    idle["train.bf16_speed"] = "it is measured, for train.precision=bf16 or auto"
    if train.schedule not in ("cosine", "linear"):
        idle["train.final_lr"] = f"train.schedule is {train.schedule}"
    if train.schedule != "decay":
        idle |= dict.fromkeys(("train.decay", "train.decay_after"), f"train.schedule is {train.schedule}, not decay")
    return idle


def _idle_within(settings: RunSettings) -> dict[str, str]:
    """Settings that others of their component make idle, and why."""
    components = {"task": settings.task, "backbone": settings.backbone, "decoder": settings.decoder}
    idle = {
        f"{section}.{key}": reason
        for section, component in components.items()
        if component is not None
        for key, reason in component.settings.idle.items()
    }
    if settings.task.settings.option("char_encoder", "none") != "none" and settings.tokenizer.name != "word":
        keys = ("task.char_encoder", "task.char_embedding", "task.char_width")
        idle |= dict.fromkeys(keys, f"tokenizer.name is {settings.tokenizer.name}, not word")
    return idle


def _given_by_corpus(settings: RunSettings) -> dict[str, str]:
    """Settings of the corpus that do nothing for its files or where it has splits of its own, and why."""
    task, corpus = settings.task.settings, settings.corpus
    keys = [f"corpus.{key}" for key in ("split_ratios", "columns", "groups", "split_column", "skip_limit")]
    if task.examples is not None and corpus.source[0] in CORPORA:
        return dict.fromkeys(keys, f"'{corpus.source[0]}' is built in, with splits of its own")
    if task.examples is None and not has_rows(corpus):
        return {"corpus.text_column": "there are no JSON lines or Parquet files, whose rows have columns"}
    if task.examples == "tagged":
        columns = {"corpus.groups": "groups", "corpus.split_column": "splits"}
        return {key: f"files of tagged words have no column of {what}" for key, what in columns.items()}
    if task.examples == "documents" and is_collection(corpus.source):
        return dict.fromkeys(keys, f"'{corpus.source[0]}' is a collection, with splits of its own")
    return {}
