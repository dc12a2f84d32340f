"""A set of labelled examples: found, read, dealt out, and looked over.

The format goes by a file's ending. Read dealing.py for the parts and inspecting.py for what is refused.
"""

import errno
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from seqlab.config import CorpusSettings
from seqlab.data.examples.checks import look_over, unknown_labels
from seqlab.data.examples.conll import read_columns, read_conllu
from seqlab.data.examples.example import Example, Examples, LabeledText, Pair, TaggedSentence
from seqlab.data.examples.lines import COLUMNS, CONLLU, TABLES, Noticed, Placed, joined, suffix
from seqlab.data.examples.parallel import read_parallel
from seqlab.data.examples.split import Part, deal
from seqlab.data.examples.tables import read_labelled, read_pairs
from seqlab.data.examples.tag_schemes import find_scheme, repairs, strange_tags, to_bio
from seqlab.data.text.corpus import STANDARD_INPUT
from seqlab.errors import DataError, MissingInput, StorageError, UsageError
from seqlab.registry import CORPORA, did_you_mean

KINDS: dict[str, type[Example]] = {"classify": LabeledText, "tag": TaggedSentence, "translate": Pair}


def open_examples(task: str, settings: CorpusSettings) -> Examples:
    """The examples of a task in their parts: from a built-in generator, or from files."""
    if settings.split_ratios == "whole":
        return open_whole(task, settings)
    if _is_built_in(settings.source):
        return _built_in(task, settings)
    noticed = Noticed()
    files = {"train": settings.source, "validation": settings.validation, "test": settings.test}
    given, read_as = _in_bio({part: _read(task, files[part], settings, noticed) for part in files if files[part]})
    dealt = deal(given, settings.split_ratios)
    notes = *noticed.notes(), *read_as, *dealt.notes, *look_over(dealt.splits)
    return Examples(_name(settings.source), _bare(dealt.splits), dealt.rule, notes=notes)


def open_whole(task: str, settings: CorpusSettings, known: Sequence[str] = ()) -> Examples:
    """All examples of the source as one part, to be scored; what else the settings name is not read.

    `known` are the labels of the run that is scored, where it has some."""
    if _is_built_in(settings.source):
        made = _built_in(task, settings.model_copy(update={"validation": (), "test": ()}))
        return replace(made, splits={"whole": [one for part in made.splits.values() for one in part]}, rule="all of it")
    noticed = Noticed()
    splits, read_as = _in_bio({"whole": _read(task, settings.source, settings, noticed)})
    strange = unknown_labels("given", splits["whole"], known) if known else []
    return Examples(_name(settings.source), _bare(splits), "all of it", notes=(*noticed.notes(), *read_as, *strange))


def _bare(splits: Mapping[str, Part]) -> dict[str, Sequence[Example]]:
    return {name: [one.example for one in part] for name, part in splits.items()}


def _name(source: Sequence[str]) -> str:
    path = Path(source[0])
    name = path.name.split(".")[0] or path.name
    return path.resolve().parent.name or name if name == "train" else name


def _in_bio(splits: Mapping[str, Part]) -> tuple[dict[str, Part], list[str]]:
    """Span tags of all parts in the one scheme that the rest of the program knows, and what was done to them.

    The scheme is found over all parts: each by itself might be taken for another."""
    tags = [one.example.tags for part in splits.values() for one in part if isinstance(one.example, TaggedSentence)]
    scheme = find_scheme(tags)
    if scheme is None:
        return dict(splits), _no_spans([one for part in splits.values() for one in part])
    notes = [] if scheme == "BIO" else [f"tags are {scheme} and are read as BIO"]
    if broken := sum(repairs(sentence, scheme) for sentence in tags):
        letters = "I-" if scheme == "BIO" else "I- or E-"
        notes.append(f"{broken:,} {letters} tags have nothing of their type before them and are read as B-")
    return {
        name: [
            replace(one, example=replace(one.example, tags=to_bio(one.example.tags, scheme)))
            for one in part
            if isinstance(one.example, TaggedSentence)
        ]
        for name, part in splits.items()
    }, notes


def _no_spans(placed: Part) -> list[str]:
    """What keeps tags that mark spans for the most part from being read as such."""
    kinds = {tag for one in placed if isinstance(one.example, TaggedSentence) for tag in one.example.tags}
    odd = strange_tags(kinds)
    if not odd or 2 * len(odd) > len(kinds):
        return []
    where = next(one.place for one in placed if isinstance(one.example, TaggedSentence) and odd & set(one.example.tags))
    return [
        f"the tags are learnt one by one, not as spans: {joined(sorted(odd), 5)} fits no scheme (BIO, IOB1, BIOES), "
        f"first in the sentence at {where}"
    ]


# --- built in -------------------------------------------------------------------------------------------------------


def _is_built_in(source: Sequence[str]) -> bool:
    return len(source) == 1 and source[0] in CORPORA


def _built_in(task: str, settings: CorpusSettings) -> Examples:
    name = settings.source[0]
    meant = CORPORA.default_overrides(name).get("task.name", "language")
    made = CORPORA.load(name)(settings.difficulty) if meant in KINDS else None
    if not isinstance(made, Examples):
        raise DataError(f"'{name}' is a text, not labelled examples. Train it with --task language.")
    if settings.validation or settings.test:
        raise UsageError(f"'{name}' is built in and brings its own parts: leave corpus.validation and corpus.test out.")
    if not isinstance(next(iter(made.splits.values()))[0], KINDS[task]):
        raise DataError(f"'{name}' has no examples to {task}. Train it with --task {meant}.")
    return made


# --- files ----------------------------------------------------------------------------------------------------------


def _read(task: str, sources: Sequence[str], settings: CorpusSettings, noticed: Noticed) -> Part:
    paths = [_existing(item) for item in sources]
    if task == "translate":
        return _pairs(paths, settings.columns, noticed)
    read = {"classify": _labelled, "tag": _tagged}[task]
    return [one for path in paths for one in read(path, settings.columns, noticed)]


def _labelled(path: Path, columns: tuple[str, str] | None, noticed: Noticed) -> Sequence[Placed[LabeledText]]:
    if suffix(path) not in (*TABLES, ".txt"):
        raise DataError(f"'{path}' is no table of texts and labels, by its ending. Use one of {', '.join(TABLES)}.")
    return read_labelled(path, columns, noticed)


def _tagged(path: Path, columns: tuple[str, str] | None, noticed: Noticed) -> Sequence[Placed[TaggedSentence]]:
    if suffix(path) == CONLLU:
        return read_conllu(path, columns, noticed)
    if suffix(path) in TABLES and suffix(path) != ".tsv":  # words and tags in two columns are often called .tsv
        raise DataError(
            f"'{path}' has no words with a tag each, by its ending. Use {CONLLU}, or columns in {', '.join(COLUMNS)}."
        )
    if columns:
        raise UsageError(
            f"corpus.columns names columns, but those of '{path}' have no names: the first is the word and the last "
            f"its tag. Leave corpus.columns out, or use {CONLLU}."
        )
    return read_columns(path, noticed)


def _pairs(paths: Sequence[Path], columns: tuple[str, str] | None, noticed: Noticed) -> Sequence[Placed[Pair]]:
    tables = [suffix(path) in TABLES for path in paths]
    if all(tables) or (len(paths) == 1 and suffix(paths[0]) == ".txt"):
        return [one for path in paths for one in read_pairs(path, columns, noticed)]
    if len(paths) != 2 or any(tables):
        given = " ".join(str(path) for path in paths)
        raise UsageError(
            f"to translate, give two files of the same number of lines, such as train.en train.de, or tables with two "
            f"columns ({', '.join(TABLES)}); given: {given}"
        )
    return read_parallel(paths[0], paths[1], noticed)


def _existing(item: str) -> Path:
    if item == STANDARD_INPUT:
        raise UsageError("labelled examples cannot be read from standard input, '-': name a file.")
    path = Path(item)
    try:
        if path.is_dir():
            raise DataError(f"'{path}' is a folder. Name the file of examples in it.")
        if path.exists():
            return path
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise StorageError(f"'{path}' cannot be read: {error.strerror}.") from None
    if item in CORPORA:
        raise DataError(f"'{item}' is built in: it stands alone, not among files.")
    shown = item if len(item) <= 200 else item[:200] + "..."
    raise MissingInput(f"there is no file or built-in corpus '{shown}'{did_you_mean(item[:200], CORPORA)}.")
