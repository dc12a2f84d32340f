"""Small runs to be audited, most of them untrained, and every registered architecture with each of its options."""

import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from small_runs import SMALL

from seqlab import api
from seqlab.audit.audit import audit
from seqlab.config import RunSettings, build_settings, expand_short_names
from seqlab.contracts import Backbone
from seqlab.data.text.corpus import open_corpus
from seqlab.data.text.split import SplitText, split_text
from seqlab.models.token_model import TokenModel
from seqlab.registry import BACKBONES
from seqlab.runs.directory import RunDirectory
from seqlab.runs.load import build_model
from seqlab.tasks.dataset import train_tokenizer
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text
from seqlab.tokenization.vocabulary import Vocabulary

TINY = {key: value for key, value in {**SMALL, "hidden": 16}.items() if key != "arch"}
Learn = Callable[[SplitText, RunSettings], Tokenizer]
SIZES = {"hidden": 8, "layers": 2, "heads": 2}


def new_text(characters: int = 11_500, seed: int = 0) -> str:
    """Lines of random words: hardly any 32 characters of it stand in it twice."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(2, 7))) for _ in range(300)]
    lines: list[str] = []
    while sum(map(len, lines)) < characters:
        lines.append(" ".join(draw.choices(words, k=draw.randint(3, 9))) + ".\n")
    return "".join(lines)


def untrained(
    text: Path, settings: dict[str, Any] | None = None, learn: Learn = train_tokenizer, **short: Any
) -> api.Run:
    """A run as it is before its first step; nothing of it is on the disk."""
    changes = [*expand_short_names({**TINY, **short}), *(settings or {}).items()]
    wanted = build_settings({"corpus": {"source": [str(text)]}}, changes)
    split = split_text(open_corpus(wanted.corpus.source), wanted.corpus)
    vocabulary = Vocabulary(learn(split, wanted))
    model = build_model(wanted, vocabulary.sizes).eval()
    config = {"corpus": {"name": "text", **asdict(split.stats)}}
    return api.Run(RunDirectory(text.parent / "nowhere"), config, wanted, vocabulary, model)


def with_backbone(run: api.Run, kind: type[Backbone]) -> api.Run:
    """The same run with another backbone of the same settings."""
    settings: Any = run.settings.backbone.settings
    run.model.backbone = kind(settings, run.settings.model.embedding).eval()  # pyright: ignore[reportCallIssue]
    return run


def with_model(run: api.Run, kind: type[TokenModel]) -> api.Run:
    run.model = kind(run.settings.model, run.model.backbone, run.tokenizer.vocab_size).eval()
    return run


def learnt_from_everything(split: SplitText, settings: RunSettings) -> Tokenizer:
    """What learning the vocabulary before splitting comes to."""
    whole = SplitText(split.corpus, split.settings, split.stats, is_whole=True)
    kind = type(train_tokenizer(split, settings))
    return kind.train(chunk_text(whole.blocks("whole")), settings.tokenizer.settings, split.by_lines)


def red(run: api.Run) -> set[str]:
    """The names of the checks that fail."""
    return {check.name for check in audit(run) if check.failed}


# --- every architecture ---------------------------------------------------------------------------------------------


def _others(settings: Any) -> Iterator[tuple[str, Any]]:
    """The other values of each option: the opposite of a bool, the choices of a Literal, a small number for None."""
    for key, field in type(settings).model_fields.items():
        kinds = [field.annotation, *get_args(field.annotation)]
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if field.annotation is bool:
            choices = [False, True]
        elif int in kinds and type(None) in kinds:
            choices = [5]
        yield from ((key, choice) for choice in choices if choice != getattr(settings, key))


def _variants() -> Iterator[dict[str, Any]]:
    for arch in BACKBONES:
        kind = BACKBONES.settings(arch)
        sizes = {key: value for key, value in SIZES.items() if key in kind.model_fields}
        for changes in [{}, *({key: value} for key, value in _others(kind(**sizes)))]:
            try:
                settings = kind(**sizes, **changes)
            except ValidationError:
                continue
            own = {f"backbone.{key}": value for key, value in {**sizes, **changes}.items()}
            yield {"arch": arch, "task": "language" if settings.causal else "masked", "settings": own}


VARIANTS = list(_variants())


def named(variant: dict[str, Any]) -> str:
    """The architecture and the option that was changed."""
    own = {key.removeprefix("backbone."): value for key, value in variant["settings"].items()}
    return "-".join([variant["arch"], *(f"{k}={v}" for k, v in own.items() if SIZES.get(k) != v)])
