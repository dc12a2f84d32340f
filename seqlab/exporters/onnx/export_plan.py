"""What is written for each kind of model: graphs, facts, and how onnxruntime's answers are held against the model's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import torch

from seqlab.errors import UsageError
from seqlab.exporters.onnx.examples import classifier_graph, tagger_graph
from seqlab.exporters.onnx.language import sequence_graph, step_graph
from seqlab.exporters.onnx.translator import encoder_graph, target_graph, target_step_graph
from seqlab.models.classifier import Classifier
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedModel
from seqlab.models.tagger import Tagger
from seqlab.models.translator import Source, Translator
from seqlab.runs.load import LoadedRun
from seqlab.tasks.example_settings import TranslateSettings
from seqlab.tokenization.word import WordTokenizer

ROWS = 2
CHARACTERS = 5  # characters of the words that taggers are tried with
Arrays = dict[str, np.ndarray]
Sessions = dict[str, Callable[[Arrays], Arrays]]  # graphs by name: what goes in, what comes out


@dataclass(frozen=True)
class ExportPlan:
    """`tried` gives, for texts of a length, by how much each graph is off."""

    graphs: dict[str, onnx.ModelProto]
    facts: dict[str, Any]
    max_errors: Callable[[Sessions, int], dict[str, float]]


def export_plan(run: LoadedRun) -> ExportPlan:
    for kind, plan in EXPORT_PLANS.items():
        if isinstance(run.model, kind):
            return plan(run)
    raise UsageError(f"'{run.directory.path}' cannot be exported to ONNX: there are no graphs for its task.")


def language(run: LoadedRun) -> ExportPlan:
    model, tokenizer = run.model, run.tokenizer
    facts = {
        "begin": [] if tokenizer.begin is None else [tokenizer.begin],
        "end": tokenizer.end,
        "never_written": list(tokenizer.never_sampled),
        "limit": model.limit,
    }

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT = _drawn(model.vocab_size, min(length, model.limit or length))
        with torch.inference_mode():
            expected_BTV = model(tokens_BT)[0].numpy()
        whole_BTV = sessions["sequence"]({"tokens": tokens_BT.numpy()})["logits"]
        stepped_BTV = _stepped(sessions["step"], tokens_BT.numpy(), {})
        return {"sequence": _max_error(whole_BTV, expected_BTV), "step": _max_error(stepped_BTV, expected_BTV)}

    return ExportPlan({"step": step_graph(model), "sequence": sequence_graph(model)}, facts, max_errors)


def masked(run: LoadedRun) -> ExportPlan:
    model = run.model

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT, lengths_B, mask_BT = _padded(model, length)
        with torch.inference_mode():
            expected = model(tokens_BT, None, mask_BT)[0][mask_BT].numpy()
        found = sessions["sequence"]({"tokens": tokens_BT.numpy(), "lengths": lengths_B.numpy()})["logits"]
        return {"sequence": _max_error(found[mask_BT.numpy()], expected)}

    return ExportPlan({"sequence": sequence_graph(model)}, {"mask": model.mask, "limit": model.limit}, max_errors)


def classifier(run: LoadedRun) -> ExportPlan:
    model = run.model

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT, lengths_B, mask_BT = _padded(model, length)
        with torch.inference_mode():
            expected_BK = model(tokens_BT, mask_BT).numpy()
        found = sessions["classifier"]({"tokens": tokens_BT.numpy(), "lengths": lengths_B.numpy()})["logits"]
        return {"classifier": _max_error(found, expected_BK)}

    return ExportPlan({"classifier": classifier_graph(model)}, {"labels": list(run.vocabulary.labels)}, max_errors)


def tagger(run: LoadedRun) -> ExportPlan:
    model = run.model
    words = isinstance(run.tokenizer, WordTokenizer)
    facts = {"labels": list(run.vocabulary.labels), "chain": model.chain is not None, "words": words,
             "unknown": run.tokenizer.unknown}  # fmt: skip

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BT, lengths_B, mask_BT = _padded(model, length)
        given, own = {"tokens": tokens_BT.numpy(), "lengths": lengths_B.numpy()}, {}
        if model.spelling is not None:
            characters_NC = _drawn(model.spelling.embedding.num_embeddings, CHARACTERS, tokens_BT.numel())
            given |= {"characters": characters_NC.view(*tokens_BT.shape, CHARACTERS).numpy()}
            given |= {"character_lengths": np.full(tokens_BT.shape, CHARACTERS)}
            own["words_BW"] = torch.arange(tokens_BT.numel()).view(tokens_BT.shape)
            own["spellings"] = (characters_NC, torch.ones_like(characters_NC, dtype=torch.bool))
        if not words:
            own["ends_BW"] = torch.zeros(ROWS, 1, dtype=torch.long)
            given["ends"] = own["ends_BW"].numpy()
        with torch.inference_mode():
            expected = model(tokens_BT, mask_BT, **own).numpy()
        found = sessions["tagger"](given)["logits"]
        kept = mask_BT.numpy() if words else np.ones(expected.shape[:2], bool)
        return {"tagger": _max_error(found[kept], expected[kept])}

    return ExportPlan({"tagger": tagger_graph(model, pieces=not words)}, facts, max_errors)


def translator(run: LoadedRun) -> ExportPlan:
    model, target = run.model, run.vocabulary.target_tokenizer
    assert target is not None and target.begin is not None
    settings = run.settings.task.settings_as(TranslateSettings)
    facts = {"begin": [target.begin], "end": target.end, "never_written": list(target.never_sampled),
             "longest": settings.max_target_length}  # fmt: skip
    graphs = {"encoder": encoder_graph(model), "step": target_step_graph(model)}
    if settings.attends != "before" or settings.attention == "none":
        graphs["sequence"] = target_graph(model)

    def max_errors(sessions: Sessions, length: int) -> dict[str, float]:
        tokens_BS, lengths_B, mask_BS = _padded(model, length, model.source_embedding.num_embeddings)
        inputs_BT = _drawn(model.vocab_size, min(length + 2, model.limit or length + 2))
        with torch.inference_mode():
            expected_BTV = model(Source(tokens_BS, mask_BS), inputs_BT).numpy()
        given = {"source": tokens_BS.numpy(), "source_lengths": lengths_B.numpy()}
        found = {
            "step": _max_error(_stepped(sessions["step"], inputs_BT.numpy(), sessions["encoder"](given)), expected_BTV)
        }
        if "sequence" in sessions:
            whole_BTV = sessions["sequence"]({**given, "tokens": inputs_BT.numpy()})["logits"]
            found["sequence"] = _max_error(whole_BTV, expected_BTV)
        return found

    return ExportPlan(graphs, facts, max_errors)


EXPORT_PLANS: dict[type, Callable[[LoadedRun], ExportPlan]] = {
    LanguageModel: language,
    MaskedModel: masked,
    Classifier: classifier,
    Tagger: tagger,
    Translator: translator,
}


def _drawn(symbols: int, length: int, rows: int = ROWS) -> torch.Tensor:
    return torch.randint(0, symbols, (rows, length), generator=torch.Generator().manual_seed(length))


def _padded(model: Any, length: int, symbols: int | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    T = min(length, model.backbone.limit or length)
    lengths_B = torch.tensor([T, max(1, T // 2)])
    return _drawn(symbols or model.vocab_size, T), lengths_B, torch.arange(T) < lengths_B[:, None]


def _stepped(step: Callable[[Arrays], Arrays], tokens_BT: np.ndarray, state: Arrays) -> np.ndarray:
    """The logits of a text that is read token by token."""
    logits = []
    for token_B in tokens_BT.T:
        found = step({"token": np.ascontiguousarray(token_B), **state})
        state = {**state, **{name.removesuffix("_next"): one for name, one in found.items() if name != "logits"}}
        logits.append(found["logits"])
    return np.stack(logits, 1)


def _max_error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max())
