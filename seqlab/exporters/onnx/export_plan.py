"""The files of each kind of model: graphs, metadata, and how to verify onnxruntime against the torch model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import torch

from seqlab.errors import UsageError
from seqlab.exporters.counts import refuse_mixture
from seqlab.exporters.onnx.examples import classifier_graph, tagger_graph
from seqlab.exporters.onnx.language import sequence_graph, step_graph
from seqlab.exporters.onnx.translator import encoder_graph, target_graph, target_step_graph
from seqlab.models.classifier import Classifier
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.tagger import Tagger
from seqlab.models.translator import SourceBatch, Translator
from seqlab.runs.run import Run
from seqlab.tasks.example_settings import ROOM, TranslateSettings
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.word import WordTokenizer

ROWS = 2
CHARACTERS = 5  # characters per word in the verification of taggers
Arrays = dict[str, np.ndarray]
Sessions = dict[str, Callable[[Arrays], Arrays]]  # by graph name: inputs to outputs


@dataclass(frozen=True)
class ExportPlan:
    """`max_errors` runs the graphs on texts of a length and gives the largest error of each graph."""

    graphs: dict[str, onnx.ModelProto]
    metadata: dict[str, Any]
    max_errors: Callable[[Sessions, int], dict[str, float]]


def export_plan(run: Run) -> ExportPlan:
    for model_type, plan in EXPORT_PLANS.items():
        if isinstance(run.model, model_type):
            return plan(run)
    task = run.settings.task.name
    raise UsageError(f"'{run.directory.path}' cannot be exported to ONNX: there are no graphs for --task {task}.")


def language(run: Run) -> ExportPlan:
    model, tokenizer = run.model, run.tokenizer
    refuse_mixture(run)
    metadata = {**_decoding_metadata(tokenizer), "limit": model.limit}

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT = _random_tokens(model.vocab_size, min(length, model.limit or length))
        expected_BTV = model(tokens_BT)[0].numpy()
        whole_BTV = sessions["sequence"]({"tokens": tokens_BT.numpy()})["logits"]
        stepped_BTV = _stepped(sessions["step"], tokens_BT.numpy(), {})
        return {"sequence": _max_error(whole_BTV, expected_BTV), "step": _max_error(stepped_BTV, expected_BTV)}

    return ExportPlan({"step": step_graph(model), "sequence": sequence_graph(model)}, metadata, max_errors)


def masked(run: Run) -> ExportPlan:
    model = run.model

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT, lengths_B, mask_BT = _padded(model, length)
        expected = model(tokens_BT, None, mask_BT)[0][mask_BT].numpy()
        logits = sessions["sequence"]({"tokens": tokens_BT.numpy(), "lengths": lengths_B.numpy()})["logits"]
        return {"sequence": _max_error(logits[mask_BT.numpy()], expected)}

    return ExportPlan({"sequence": sequence_graph(model)}, {"mask": model.mask, "limit": model.limit}, max_errors)


def classifier(run: Run) -> ExportPlan:
    model = run.model

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT, lengths_B, mask_BT = _padded(model, length)
        expected_BK = model(tokens_BT, mask_BT).numpy()
        logits = sessions["classifier"]({"tokens": tokens_BT.numpy(), "lengths": lengths_B.numpy()})["logits"]
        return {"classifier": _max_error(logits, expected_BK)}

    return ExportPlan({"classifier": classifier_graph(model)}, {"labels": list(run.vocabulary.labels)}, max_errors)


def tagger(run: Run) -> ExportPlan:
    model = run.model
    words = isinstance(run.tokenizer, WordTokenizer)
    metadata = {"labels": list(run.vocabulary.labels), "chain": model.chain is not None, "words": words}
    metadata["unknown"] = run.tokenizer.unknown

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT, lengths_B, mask_BT = _padded(model, length)
        inputs, options = {"tokens": tokens_BT.numpy(), "lengths": lengths_B.numpy()}, {}
        if model.spelling is not None:
            characters_NC = _random_tokens(model.spelling.embedding.num_embeddings, CHARACTERS, tokens_BT.numel())
            inputs |= {"characters": characters_NC.view(*tokens_BT.shape, CHARACTERS).numpy()}
            inputs |= {"character_lengths": np.full(tokens_BT.shape, CHARACTERS)}
            options["words_BW"] = torch.arange(tokens_BT.numel()).view(tokens_BT.shape)
            options["spellings"] = (characters_NC, torch.ones_like(characters_NC, dtype=torch.bool))
        if not words:
            options["ends_BW"] = torch.zeros(ROWS, 1, dtype=torch.long)
            inputs["ends"] = options["ends_BW"].numpy()
        expected = model(tokens_BT, mask_BT, **options).numpy()
        logits = sessions["tagger"](inputs)["logits"]
        scored = mask_BT.numpy() if words else np.ones(expected.shape[:2], bool)
        return {"tagger": _max_error(logits[scored], expected[scored])}

    return ExportPlan({"tagger": tagger_graph(model, pieces=not words)}, metadata, max_errors)


def translator(run: Run) -> ExportPlan:
    model, target = run.model, run.vocabulary.target_tokenizer
    assert target is not None
    settings = run.settings.task.settings_as(TranslateSettings)
    limits = {"longest": settings.longest_target, "ratio": settings.max_target_ratio, "room": ROOM}
    metadata = {**_decoding_metadata(target), **limits}
    graphs = {"encoder": encoder_graph(model), "step": target_step_graph(model)}
    if settings.attends != "before" or settings.attention == "none":
        graphs["sequence"] = target_graph(model)

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BS, lengths_B, mask_BS = _padded(model, length, model.source_embedding.num_embeddings)
        inputs_BT = _random_tokens(model.vocab_size, min(length + 2, model.limit or length + 2))
        expected_BTV = model(SourceBatch(tokens_BS, mask_BS), inputs_BT).numpy()
        inputs = {"source": tokens_BS.numpy(), "source_lengths": lengths_B.numpy()}
        stepped_BTV = _stepped(sessions["step"], inputs_BT.numpy(), sessions["encoder"](inputs))
        errors = {"step": _max_error(stepped_BTV, expected_BTV)}
        if "sequence" in sessions:
            whole_BTV = sessions["sequence"]({**inputs, "tokens": inputs_BT.numpy()})["logits"]
            errors["sequence"] = _max_error(whole_BTV, expected_BTV)
        return errors

    return ExportPlan(graphs, metadata, max_errors)


EXPORT_PLANS: dict[type, Callable[[Run], ExportPlan]] = {
    LanguageModel: language,
    MaskedLanguageModel: masked,
    Classifier: classifier,
    Tagger: tagger,
    Translator: translator,
}


def _decoding_metadata(tokenizer: Tokenizer) -> dict[str, Any]:
    begin = [] if tokenizer.begin is None else [tokenizer.begin]
    return {"begin": begin, "end": tokenizer.end, "never_written": list(tokenizer.never_sampled)}


def _random_tokens(vocab_size: int, length: int, rows: int = ROWS) -> torch.Tensor:
    return torch.randint(0, vocab_size, (rows, length), generator=torch.Generator().manual_seed(length))


def _padded(model: Any, length: int, vocab_size: int | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    T = min(length, model.backbone.limit or length)
    lengths_B = torch.tensor([T, max(1, T // 2)])
    return _random_tokens(vocab_size or model.vocab_size, T), lengths_B, torch.arange(T) < lengths_B[:, None]


def _stepped(step: Callable[[Arrays], Arrays], tokens_BT: np.ndarray, state: Arrays) -> np.ndarray:
    """The logits of a text that is fed token by token."""
    logits = []
    for token_B in tokens_BT.T:
        outputs = step({"token": np.ascontiguousarray(token_B), **state})
        logits.append(outputs.pop("logits"))
        state = {**state, **{name.removesuffix("_next"): value for name, value in outputs.items()}}
    return np.stack(logits, 1)


def _max_error(actual: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(actual - expected).max())
