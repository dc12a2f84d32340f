"""Data as a model reads it: the first example in tokens, the share of unknown ones, and text that has no words."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from seqlab.data.documents.encoded import PairSplit
from seqlab.data.examples.checks import LABELS_NAMED, count_labels_of, labels_of
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import UNSCORED, LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.lines import quote_list
from seqlab.data.file_names import shorten
from seqlab.data.invisible import show_invisible
from seqlab.data.text.tokens import TokenSplit
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.tokenization.word import WordTokenizer
from seqlab.wording import counted, split_in_words

MAX_TOKENS = 12  # of each side of the first example
LONGEST_TOKEN = 24  # characters
SAID_FROM = 0.01  # the share of unknown tokens
SPELLED = "characters of the different words"
MOSTLY = 0.5  # the share of unknown tokens from which on another tokenizer is advised
# letters of scripts that are written without spaces, and how long their words are at the median when spaces were added
UNSPACED = {
    "Chinese or Japanese": (((0x3040, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3FFFF)), 4),
    "Thai, Lao, Khmer or Burmese": (((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)), 10),
}


def reading_notes(splits: Mapping[str, Any], vocabulary: Vocabulary, own: bool = True) -> list[str]:
    """For the log: the first example, unknown tokens, inputs that become equal, queries that are left out, and a
    tokenizer that does not fit.

    `splits` by their names. If the tokenizer is not their `own`, `borrowed_note` counts what training has unknown."""
    notes = [first_example(next(iter(splits.values())), vocabulary)] if splits else []
    reason = unfit_words(splits, vocabulary) if "train" in splits else None
    counted_splits = {name: split for name, split in splits.items() if own or name != "train"}
    unknown = unknown_note(counted_splits, vocabulary)
    lost = [all_unknown_note(splits, vocabulary), equal_inputs_note(splits)]
    lost += [split.unanswered_note(name) for name, split in splits.items() if isinstance(split, PairSplit)]
    return [note for note in (*notes, unknown, *lost, reason) if note]


def first_example(split: Any, vocabulary: Vocabulary) -> str:
    """The first tokens of running text, or the first example with its label, tags or target; nothing for others."""
    if isinstance(split, TokenSplit):
        return f"first tokens: {_tokens(split.read(0, MAX_TOKENS + 1), vocabulary.tokenizer)}"
    if not isinstance(split, ExampleSplit) or not len(split):
        return ""
    example, ids = split.examples[0], split.inputs[0]
    if isinstance(example, TaggedSentence):
        ends = split.ends[0] if split.ends else np.arange(len(ids))
        tags = {int(end): f"/{_shown(tag)}" for end, tag in zip(ends, example.tags, strict=True) if tag != UNSCORED}
        return f"first example: {_tokens(ids, vocabulary.tokenizer, tags)}"
    read = f"first example: {_tokens(ids, vocabulary.tokenizer)}"
    if isinstance(example, LabeledText):
        return f"{read} -> label {quote_list([example.label])}" if example.label else read
    if not isinstance(example, TextPair) or not example.target:
        return read
    return f"{read} -> {_tokens(split.targets[0][1:-1], vocabulary.target_tokenizer or vocabulary.tokenizer)}"


def _tokens(ids: Sequence[int] | np.ndarray, tokenizer: Tokenizer, suffixes: Mapping[int, str] | None = None) -> str:
    """Tokens between bars, spaces visible; only the first ones, each of them shortened."""
    shown = [_token(int(token), tokenizer) + (suffixes or {}).get(at, "") for at, token in enumerate(ids[:MAX_TOKENS])]
    return "|".join([*shown, "…"] if len(ids) > MAX_TOKENS else shown)


def _token(token: int, tokenizer: Tokenizer) -> str:
    special = {tokenizer.unknown: "<unknown>", tokenizer.begin: "<begin>", tokenizer.end: "<end>"}
    return special.get(token) or _shown(tokenizer.decode([token]))


def _shown(text: str) -> str:
    return show_invisible(shorten(text, LONGEST_TOKEN)).replace(" ", "▁")


def unknown_share(split: Any, vocabulary: Vocabulary) -> float | None:
    """The share of unknown tokens of examples: inputs, targets of pairs, and documents; None for other data."""
    if not isinstance(split, ExampleSplit):
        return None
    counts = _count_unknown(split, vocabulary).values()
    return sum(unknown for unknown, _ in counts) / max(1, sum(tokens for _, tokens in counts))


def _count_unknown(split: ExampleSplit, vocabulary: Vocabulary) -> dict[str, tuple[int, int]]:
    """By side: how many tokens are unknown, and how many there are."""
    inputs = _unknown(split.inputs, vocabulary.tokenizer)
    if isinstance(split, PairSplit):
        return {
            "tokens of the queries": inputs,
            "tokens of the documents": _unknown(split.table.texts, vocabulary.tokenizer),
        }
    if not len(split) or not isinstance(split.examples[0], TextPair):
        return {"tokens": inputs}
    if not any(getattr(example, "target", "") for example in split.examples):  # to predict from
        return {"source tokens": inputs}
    targets = [ids[1:-1] for ids in split.targets]  # without begin and end
    return {
        "source tokens": inputs,
        "target tokens": _unknown(targets, vocabulary.target_tokenizer or vocabulary.tokenizer),
    }


def _unknown(texts: Sequence[np.ndarray], tokenizer: Tokenizer) -> tuple[int, int]:
    return sum(int((ids == tokenizer.unknown).sum()) for ids in texts), sum(map(len, texts))


def unknown_note(splits: Mapping[str, Any], vocabulary: Vocabulary) -> str:
    """The share of unknown tokens of examples, where there are more than a few; and of characters, where words are
    spelled. Encoding a running text says how many it has."""
    named: dict[str, list[str]] = {}  # by side
    for name, split in splits.items():
        sides: dict[str, tuple[int, int]] = {}
        if isinstance(split, ExampleSplit):
            sides = _count_unknown(split, vocabulary)
            if vocabulary.char_tokenizer is not None:
                sides[SPELLED] = _unknown(split.spellings, vocabulary.char_tokenizer)
        for side, (unknown, tokens) in sides.items():
            if unknown and unknown >= SAID_FROM * tokens:
                named.setdefault(side, []).append(
                    f"{unknown / tokens:.1%} of the {side} of the {split_in_words(name)} examples"
                )
    how = "it reads them all as the same token" if vocabulary.char_tokenizer is None else "it reads their spelling only"
    effects = {"target tokens": "the model cannot write them", SPELLED: "it reads them all as the same character"}
    return "; ".join(
        f"{' and '.join(shares)} are unknown to the tokenizer: {effects.get(side, how)}"
        for side, shares in named.items()
    )


def all_unknown_note(splits: Mapping[str, Any], vocabulary: Vocabulary) -> str:
    """How many inputs have no known token, and labels of which training has no other ones."""
    if vocabulary.char_tokenizer is not None:  # spellings are read
        return ""
    found: list[str] = []
    for name, split in splits.items():
        if isinstance(split, ExampleSplit) and (rows := all_unknown(split, vocabulary)):
            found.append(
                f"{len(rows):,} of {counted(len(split), f'{split_in_words(name)} example')}{_whole_labels(split, rows)}"
            )
    return f"without any token that the tokenizer knows: {', '.join(found)}" if found else ""


def _whole_labels(split: ExampleSplit, rows: Sequence[int]) -> str:
    """The labels that only these examples have."""
    if not isinstance(split.examples[0], LabeledText):
        return ""
    there, everywhere = (count_labels_of(some) for some in ([split.examples[row] for row in rows], split.examples))
    whole = [label for label, count in there.most_common() if label and count == everywhere[label]]
    if not whole:
        return ""
    labels = "label" if len(whole) == 1 else "labels"
    return f" (among them every example of the {labels} {quote_list(whole, LABELS_NAMED, there)})"


def equal_inputs_note(splits: Mapping[str, Any]) -> str:
    """How many training inputs differ as texts and not as tokens, and how many of these have different answers."""
    train = splits.get("train")
    if not isinstance(train, ExampleSplit) or isinstance(train, PairSplit) or train.spellings:
        return ""  # spelled words keep their difference
    same: dict[bytes, list[int]] = {}
    for row, ids in enumerate(train.inputs):
        same.setdefault(ids.tobytes(), []).append(row)
    merged = [rows for rows in same.values() if len({train.examples[row].input for row in rows}) > 1]
    if not merged:
        return ""
    first = quote_list(list(dict.fromkeys(shorten(train.examples[row].input, 60) for row in merged[0])), 2)
    apart = [rows for rows in merged if len({_answer(train.examples[row]) for row in rows}) > 1]
    told = f"; {sum(map(len, apart)):,} of them have different answers, which the model cannot tell apart"
    equal = f"{sum(map(len, merged)):,} of {counted(len(train), 'training input')} differ as texts and not as tokens"
    return f"{equal}, such as {first}{told if apart else ''}"


def _answer(example: Any) -> Any:
    return example.target if isinstance(example, TextPair) else tuple(labels_of(example))


def borrowed_note(splits: Mapping[str, Any], vocabulary: Vocabulary, run: str, option: str = "--init") -> list[str]:
    """The share of training tokens that the tokenizer of another run does not know, where there are more than a few.

    `option` names the run: what training starts from, or a teacher."""
    train = splits["train"]
    known = isinstance(train, TokenSplit)
    share = train.stats.unknown / max(1, train.stats.tokens) if known else unknown_share(train, vocabulary) or 0.0
    if share < SAID_FROM:
        return []
    warning = "warning: " if share >= MOSTLY else ""
    why = "which this run starts from" if option == "--init" else "which is its teacher"
    return [
        f"{warning}{share:.1%} of the training tokens are unknown to the tokenizer of '{run}', {why}: all of them are "
        f"read as the same token. Without {option}, a tokenizer is trained on this data"
    ]


def all_unknown(split: ExampleSplit, vocabulary: Vocabulary) -> list[int]:
    """The inputs that have no known token, by their numbers."""
    return [row for row, ids in enumerate(split.inputs) if (ids == vocabulary.tokenizer.unknown).all()]


def unfit_words(splits: Mapping[str, Any], vocabulary: Vocabulary) -> str | None:
    """Why words are the wrong tokens for this data, with advice; None if they are not."""
    if not isinstance(vocabulary.tokenizer, WordTokenizer) or vocabulary.char_tokenizer is not None:
        return None
    advice = "train with --tokenizer char (or bpe)"
    for tokenizer in (vocabulary.tokenizer, vocabulary.target_tokenizer):
        if isinstance(tokenizer, WordTokenizer) and (script := _unspaced_script(tokenizer.words)):
            return f"warning: {script} is written without spaces, so whole stretches are taken for words: {advice}"
    shares = [unknown_share(split, vocabulary) or 0.0 for name, split in splits.items() if name != "train"]
    if max(shares, default=0.0) < MOSTLY:
        return None
    return f"warning: most held-out tokens are words that training does not have: {advice}"


def _unspaced_script(words: Sequence[str]) -> str | None:
    """The script without spaces that most words are in, if they are too long to be words."""
    for script, (ranges, longest) in UNSPACED.items():
        found = [word for word in words if any(low <= ord(letter) <= high for letter in word for low, high in ranges)]
        if 2 * len(found) > len(words) and median(map(len, found)) > longest:
            return script
    return None
