"""The text that all entrants share: split, tokenizer, tokens, and sizes of batches that fit it."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seqlab.comparison.settings import Asked
from seqlab.config import RunSettings
from seqlab.data.corpus import open_corpus
from seqlab.data.splits import SplitText, split_text
from seqlab.data.tokens import TokenPart, encode_split
from seqlab.runs.load import build_model
from seqlab.runs.storage import storage_errors
from seqlab.tasks.text import TextTask
from seqlab.text.tokenizer import Tokenizer
from seqlab.training.prepare import check_device, fitted, learn_tokenizer, make_task, tell_oddities
from seqlab.training.progress import Reporter

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Prepared:
    models: dict[str, RunSettings]
    split: SplitText
    tokenizer: Tokenizer
    parts: dict[str, TokenPart]

    def task(self, settings: RunSettings) -> TextTask:
        return make_task(settings, self.parts, self.tokenizer)

    def model(self, settings: RunSettings) -> Any:
        return build_model(settings, self.tokenizer.vocabulary)

    @property
    def decides(self) -> str:
        """The part on which verdicts are given: the test part where there is one."""
        return "test" if "test" in self.parts else "validation"


def prepare(asked: Asked, directory: Path, reporter: Reporter) -> Prepared:
    """Standard input is kept in the comparison, so that its runs can read it and the same command goes on."""
    models = asked.models
    one = next(iter(models.values()))
    kept = directory / "corpus.txt"
    if STANDARD_INPUT in one.corpus.source:
        if not kept.is_file():
            corpus = open_corpus(one.corpus.source)
            assert corpus.kept is not None
            with storage_errors(kept, corpus.kept.stat().st_size):
                shutil.move(corpus.kept, kept)
        models = {name: model.with_values(**{"corpus.source": [str(kept)]}) for name, model in models.items()}
        one = next(iter(models.values()))
    check_device(one)
    corpus = open_corpus(one.corpus.source)
    tell_oddities(corpus, reporter)
    split = split_text(corpus, one.corpus)
    tokenizer = learn_tokenizer(split, one)
    parts = encode_split(split, tokenizer)
    sizes: Any = fitted(one, parts["train"], reporter).task.settings
    fit = {"task.window": sizes.window, "task.batch": sizes.batch}
    return Prepared({name: model.with_values(**fit) for name, model in models.items()}, split, tokenizer, parts)


def with_models(prepared: Prepared, models: dict[str, RunSettings]) -> Prepared:
    return replace(prepared, models=models)
