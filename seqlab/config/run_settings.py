"""How the settings of a run are resolved.

A section that chooses a registered class has a `name`; its other keys are the settings of that class. Whatever is not
set takes the defaults that the corpus, the architecture and the task declare, in this order, then the common ones.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from seqlab.config.components import BackboneSettings, Component, TaskSettings, TokenizerSettings
from seqlab.config.sections import CorpusSettings, ModelSettings, Settings, TrainSettings, checked
from seqlab.errors import UsageError
from seqlab.registry import BACKBONES, CORPORA, TASKS, TOKENIZERS, Registry, did_you_mean

Tables = dict[str, dict[str, Any]]
# beyond this, embedding and output layer are large: they are tied, and count when models are made equally large
LARGE_VOCABULARY = 1000


class RunSettings(Settings):
    """Everything that decides what a run computes. The backbone is the encoder where there is a decoder."""

    corpus: CorpusSettings
    tokenizer: Component[TokenizerSettings]
    backbone: Component[BackboneSettings]
    decoder: Component[BackboneSettings] | None = None
    model: ModelSettings = ModelSettings()
    task: Component[TaskSettings]
    train: TrainSettings = TrainSettings()

    @property
    def model_name(self) -> str:
        """The architecture, and what it is mixed with, as comparisons name their models: lstm, lstm+counts."""
        mixed_with = self.task.settings.option("mix", "none")
        return self.backbone.name if mixed_with == "none" else f"{self.backbone.name}+{mixed_with}"

    @property
    def mixture_sees_validation(self) -> bool:
        """Whether a mixture with counts is fitted on validation, whose scores are then a little too good."""
        return self.task.settings.option("mix", "none") == "counts" and self.corpus.text_has_test

    @property
    def evaluation(self) -> str:
        """How a split is scored, in words."""
        task = self.task.settings
        return task.evaluation_by_lines if self.corpus.documents == "lines" else task.evaluation

    def resolved(self) -> dict[str, Any]:
        """Every setting with its value, as JSON-ready tables."""
        return {
            name: section.flat() if isinstance(section, Component) else section.model_dump(mode="json")
            for name, section in self
            if section is not None
        }

    def with_values(self, **dotted: Any) -> "RunSettings":
        """A copy with some settings changed: `with_values(**{"train.steps": 10})`."""
        return resolve(merge(self.resolved(), dotted.items()))


# settings of some tasks and tokenizers that have a one-word name, and an option of the commands
OPTIONS = {
    "task": ("batching", "batch_size", "window", "metric", "batch_tokens", "mix", "mix_size"),
    "tokenizer": ("vocab_size",),
}
PLAIN = {"corpus": CorpusSettings, "model": ModelSettings, "train": TrainSettings}


def resolve(tables: Mapping[str, Any]) -> RunSettings:
    """Nested tables to checked settings; UsageError names the key and its nearest valid spelling."""
    ready = _copy_sections(tables)
    source = ready.get("corpus", {}).get("source", ())
    overrides = CORPORA.default_overrides(source[0]) if len(source) == 1 and source[0] in CORPORA else {}
    for_backbone = {dotted: value for dotted, value in overrides.items() if dotted.startswith("backbone.")}
    _apply_overrides(ready, {dotted: value for dotted, value in overrides.items() if dotted not in for_backbone})
    task_name = _pop_name(ready, "task", TASKS, "language")
    _refuse_settings_of_others(TASKS, task_name, ready["task"], "task")
    task: TaskSettings = checked(TASKS.settings(task_name), ready["task"], "task", PLAIN)
    requested = _pop_name(ready, "backbone", BACKBONES, "lstm")
    sibling = BACKBONES.settings(requested).bidirectional_sibling
    backbone_name = sibling if sibling and task.reads == "everything" else requested
    backbone_class: type[BackboneSettings] = BACKBONES.settings(backbone_name)
    for dotted, value in for_backbone.items():  # settings that only some architectures have
        if backbone_class.has(dotted.removeprefix("backbone.")):
            ready["backbone"].setdefault(dotted.removeprefix("backbone."), value)
    _apply_overrides(ready, backbone_class.default_overrides)
    _apply_overrides(ready, task.default_overrides)
    _refuse_settings_of_others(BACKBONES, backbone_name, ready["backbone"], "backbone")
    backbone = _backbone(backbone_class, ready["backbone"], task)
    tokenizer_name = _pop_name(ready, "tokenizer", TOKENIZERS, "char")
    _refuse_settings_of_others(TOKENIZERS, tokenizer_name, ready["tokenizer"], "tokenizer")
    tokenizer: TokenizerSettings = checked(TOKENIZERS.settings(tokenizer_name), ready["tokenizer"], "tokenizer")
    if task.examples is None and tokenizer.expected_vocab_size > LARGE_VOCABULARY:
        ready.setdefault("model", {}).setdefault("tie_embeddings", True)
    others = {"task": type(task), "backbone": backbone_class, "tokenizer": type(tokenizer), **PLAIN}
    return RunSettings(
        tokenizer=Component[TokenizerSettings](name=tokenizer_name, settings=tokenizer),
        backbone=Component[BackboneSettings](name=backbone_name, settings=backbone),
        decoder=_decoder(requested, backbone, ready.get("decoder"), task),
        task=Component[TaskSettings](name=task_name, settings=task),
        **{section: checked(cls, ready.get(section, {}), section, others) for section, cls in PLAIN.items()},
    )


def _pop_name(ready: Tables, section: str, registry: Registry, default: str) -> str:
    """The component's name, removed from its section."""
    return registry.canonical(ready.setdefault(section, {}).pop("name", default))


def _refuse_settings_of_others(registry: Registry, name: str, content: Mapping[str, Any], section: str) -> None:
    """UsageError for a setting that another component of the kind has: it is known, and does not apply to this one."""
    for key in content:
        having = (
            [] if registry.settings(name).has(key) else [one for one in registry if registry.settings(one).has(key)]
        )
        if having:
            option = (
                f"--{key.replace('_', '-')} ({section}.{key})"
                if key in OPTIONS.get(section, ())
                else f"{section}.{key}"
            )
            chosen = f"--{'arch' if section == 'backbone' else section} {name}"
            raise UsageError(
                f"{option} does not apply to {chosen}: it is a setting of {', '.join(having)}. Leave it out."
            )


def _copy_sections(tables: Mapping[str, Any]) -> Tables:
    """A copy of the tables; UsageError for an unknown section."""
    for section, content in tables.items():
        if section not in RunSettings.model_fields:
            known = list(RunSettings.model_fields)
            raise UsageError(f"unknown section '{section}'{did_you_mean(section, known)}. Known: {', '.join(known)}.")
        if not isinstance(content, Mapping):
            raise UsageError(
                f"'{section}' is a section, not a value: write '{section}.<key>=...' or a [{section}] table."
            )
    return {section: dict(content) for section, content in tables.items()}


def _apply_overrides(ready: Tables, default_overrides: Mapping[str, Any]) -> None:
    """Fill in defaults where nothing is set; those of a component by name only if that component is in use."""
    for dotted, value in sorted(default_overrides.items(), key=lambda item: not item[0].endswith(".name")):
        section, key = dotted.split(".")
        content = ready.setdefault(section, {})
        component = default_overrides.get(f"{section}.name")
        if component is None or content.get("name", component) == component:
            content.setdefault(key, value)


def _backbone(cls: type[BackboneSettings], content: dict[str, Any], task: TaskSettings) -> BackboneSettings:
    if cls.has("context") and cls.model_fields["context"].default is not None:  # None: attention sees everything
        content.setdefault("context", task.sequence_length)
    if cls.has("bidirectional") and task.reads == "everything":
        content.setdefault("bidirectional", True)
    return checked(cls, content, "backbone")


def _decoder(
    requested: str, encoder: BackboneSettings, content: dict[str, Any] | None, task: TaskSettings
) -> Component[BackboneSettings] | None:
    """By default the encoder's settings, but causal."""
    if not task.decodes:
        if content is not None:
            raise UsageError("only --task translate has an encoder and a decoder: name the architecture with --arch.")
        return None
    content = dict(content or {})
    name = BACKBONES.canonical(content.pop("name", requested))
    name = BACKBONES.settings(name).causal_sibling or name
    cls: type[BackboneSettings] = BACKBONES.settings(name)
    shared = {key: value for key, value in encoder.model_dump(mode="json").items() if cls.has(key)}
    shared |= {"bidirectional": False} if cls.has("bidirectional") else {}
    return Component[BackboneSettings](name=name, settings=checked(cls, {**shared, **content}, "decoder"))


def merge(tables: Mapping[str, Any], changes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Tables with dotted settings applied; the later wins. Another `name` drops the settings of the old component."""
    merged = {name: dict(content) if isinstance(content, Mapping) else content for name, content in tables.items()}
    for dotted, value in sorted(changes, key=lambda change: not change[0].endswith(".name")):
        section, key = dotted.split(".")
        content = merged.setdefault(section, {})
        if key == "name" and content.get("name", value) != value:
            content = merged[section] = {}
        content[key] = value
    return merged
