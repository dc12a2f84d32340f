"""Predictions for one example at a time, from its text and the model's logits: no batch, no padding, no code of the
task that is audited."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqlab.config import RunSettings
from seqlab.decode.translation import translate
from seqlab.models.classifier import Classifier
from seqlab.models.tagger import Tagger
from seqlab.models.translator import Translator
from seqlab.tasks.example_settings import TranslateSettings
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.tokenization.word import WordTokenizer

Predict = Callable[[Any, Any], Any]  # a model and an example, to a label, tags or a text


def predictor(model: Any, vocabulary: Vocabulary, settings: RunSettings) -> Predict | None:
    """How a model of this kind predicts one example; None for a model that another package brought along."""
    if isinstance(model, Classifier):
        return lambda model, example: _label(model, example.text, vocabulary)
    if isinstance(model, Tagger):
        return lambda model, example: _tags(model, example.words, vocabulary)
    if isinstance(model, Translator):
        task = settings.task.settings_as(TranslateSettings)
        return lambda model, example: _translation(model, example.source, vocabulary, task)
    return None


def _ids(tokenizer: Tokenizer, text: str) -> np.ndarray:
    return tokenizer.encode_array(text).astype(np.int64)


def _row(ids: np.ndarray, model: Any) -> Tensor:
    return torch.from_numpy(ids)[None].to(next(model.parameters()).device)


def _label(model: Classifier, text: str, vocabulary: Vocabulary) -> str:
    logits_1K = model(_row(_ids(vocabulary.tokenizer, f" {text}"), model))
    return vocabulary.labels[int(logits_1K[0].argmax())]


def _tags(model: Tagger, words: tuple[str, ...], vocabulary: Vocabulary) -> list[str]:
    tokenizer, characters = vocabulary.tokenizer, vocabulary.char_tokenizer
    inputs: dict[str, Any] = {}
    if isinstance(tokenizer, WordTokenizer):
        ids = tokenizer.encode_words(words).astype(np.int64)
        if characters is not None:
            spelled = [_row(_ids(characters, word), model)[0] for word in words]
            kept = [torch.ones_like(ids_C, dtype=torch.bool) for ids_C in spelled]
            pad = torch.nn.utils.rnn.pad_sequence
            inputs["words_BW"] = torch.arange(len(words), device=spelled[0].device)[None]
            inputs["spellings"] = (pad(spelled, batch_first=True), pad(kept, batch_first=True))
    else:
        pieces = [_ids(tokenizer, f" {word}") for word in words]
        ids = np.concatenate(pieces)
        inputs["ends_BW"] = _row(np.cumsum([len(piece) for piece in pieces]) - 1, model)
    scores_TK = model(_row(ids, model), **inputs)[0]
    best = scores_TK.argmax(1).tolist() if model.chain is None else _viterbi(scores_TK, model.chain)
    return [vocabulary.labels[tag] for tag in best]


def _viterbi(scores_TK: Tensor, chain: Any) -> list[int]:
    """The best sequence of tags, as the textbook writes it: for every tag, the best way to reach it."""
    scores = scores_TK.double().cpu().numpy()
    start, end, transitions = (
        weight.detach().double().cpu().numpy() for weight in (chain.start_K, chain.end_K, chain.transitions_KK)
    )
    paths = [(start[tag] + scores[0, tag], [tag]) for tag in range(len(start))]
    for emissions in scores[1:]:
        reached = []
        for tag, emission in enumerate(emissions):
            score, path = max((score + transitions[path[-1], tag], path) for score, path in paths)
            reached.append((score + emission, [*path, tag]))
        paths = reached
    return max((score + end[path[-1]], path) for score, path in paths)[1]


def _translation(model: Translator, source: str, vocabulary: Vocabulary, task: TranslateSettings) -> str:
    ids = _ids(vocabulary.tokenizer, f" {source}")
    return translate(model, [ids], vocabulary, task.beam, task.length_penalty, task.target_limit)[0].text
