"""Load a set of examples: find its files, read, split and check them.

The suffix of a file tells its format. Read split.py for the splits and checks.py for what is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from seqlab.config import CorpusSettings, ExampleKind
from seqlab.data.builtin_names import shadow_notes
from seqlab.data.examples.checks import GIVEN, check_given, check_labels, check_splits
from seqlab.data.examples.class_folders import read_class_folders
from seqlab.data.examples.conll import read_columns, read_conllu
from seqlab.data.examples.example import Example, Examples, LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.example_folders import tagged_files
from seqlab.data.examples.groups import AUTO, NONE, collect_groups, groups_to_score
from seqlab.data.examples.label_lines import has_label_lines, read_label_lines
from seqlab.data.examples.lines import COLUMNS, CONLLU, TABLES, LocatedExamples, located_in, quote_list, suffix
from seqlab.data.examples.parallel import read_parallel, refuse_swapped
from seqlab.data.examples.split import split_examples
from seqlab.data.examples.split_column import split_by_column
from seqlab.data.examples.tables import read_labeled, read_pairs
from seqlab.data.examples.tag_schemes import count_repairs, detect_scheme, non_span_tags, respell, to_bio
from seqlab.data.examples.tagged_tables import read_tagged_table
from seqlab.data.examples.untagged import unmarked_types_note, unscored_words
from seqlab.data.file_layout import is_table_by_lines, recognize_layout
from seqlab.data.file_names import first_names, name_files, shorten
from seqlab.data.files import STANDARD_INPUT, InputFixes, existing_path
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.registry import CORPORA, did_you_mean
from seqlab.wording import counted

EXAMPLES: dict[ExampleKind, type[Example]] = {"labeled": LabeledText, "tagged": TaggedSentence, "pairs": TextPair}
RESPELLED_NAMED = 5  # tags that a note names
NAMES = {"labeled": "labeled texts", "tagged": "tagged sentences", "pairs": "pairs of texts"}


def open_examples(kind: ExampleKind, settings: CorpusSettings) -> Examples:
    """Examples in their splits, from a built-in corpus or from files."""
    if _is_builtin(settings.source):
        return _builtin(kind, settings)
    files = {"train": settings.source, "validation": settings.validation, "test": settings.test}
    wanted = WantedColumns(settings.columns, settings.groups, settings.split_column, settings.skip_limit)
    located, notes, columns, skipped = _read_splits(kind, files, wanted)
    given = split_by_column(located, settings.split_ratios)
    kept_groups = settings.groups if settings.groups not in (AUTO, NONE) else None
    origin = f"by the column '{given.column}'" if given.column else "from files"
    result = split_examples(given.splits, settings.split_ratios, kept_groups, origin)
    groups, group_notes = collect_groups(result.splits, settings.groups)
    notes = (*notes, *given.notes, *result.notes, *check_splits(result.splits), *group_notes)
    splits = _without_locations(result.splits)
    return Examples(_name(settings.source), splits, result.rule, "", notes, groups, columns, skipped)


def open_unsplit(
    kind: ExampleKind, settings: CorpusSettings, labels: Sequence[str] = (), trained: Sequence[tuple[str, str]] = ()
) -> Examples:
    """All examples of a source as one split, `whole`, to be scored by a run with these labels, if any, and columns."""
    if _is_builtin(settings.source):
        corpus = _builtin(kind, settings.model_copy(update={"validation": (), "test": (), "groups": NONE}))
        everything = [example for examples in corpus.splits.values() for example in examples]
        unknown = check_labels(GIVEN, located_in(settings.source[0], everything), labels) if labels else []
        return replace(corpus, splits={"whole": everything}, rule="all of it", notes=(*corpus.notes, *unknown))
    wanted = WantedColumns(settings.columns, settings.groups, settings.split_column, settings.skip_limit, (*trained,))
    splits, notes, _, skipped = _read_splits(kind, {"whole": settings.source}, wanted)
    notes = [*notes, *split_by_column(splits).notes, *check_given(splits["whole"])]
    notes += check_labels(GIVEN, splits["whole"], labels) if labels else []
    groups, examples = groups_to_score(splits["whole"]), _without_locations(splits)
    return Examples(_name(settings.source), examples, "all of it", "", tuple(notes), groups, skipped=skipped)


def column_of_splits(kind: ExampleKind, settings: CorpusSettings) -> str | None:
    """The column that gives the splits of the source, if one does."""
    if kind == "tagged" or settings.validation or settings.test or _is_builtin(settings.source):
        return None
    wanted = WantedColumns(settings.columns, NONE, settings.split_column, settings.skip_limit)
    return split_by_column(_read_splits(kind, {"train": settings.source}, wanted)[0]).column


def _without_locations(splits: Mapping[str, LocatedExamples]) -> dict[str, Sequence[Example]]:
    return {split: [located.example for located in examples] for split, examples in splits.items()}


def _name(source: Sequence[str]) -> str:
    path = Path(source[0])
    name = path.name.split(".")[0] or path.name
    return path.resolve().parent.name or name if name == "train" else name


def _to_bio(splits: Mapping[str, LocatedExamples]) -> tuple[dict[str, LocatedExamples], list[str]]:
    """Convert span tags to BIO, and note what was changed.

    The scheme is detected over all splits: one split alone might look like another scheme."""
    splits, notes = _respelled(splits)
    tags = [located.example.tags for examples in splits.values() for located in examples]
    scheme = detect_scheme(tags)
    if scheme is None:
        return splits, notes + _note_non_spans([located for examples in splits.values() for located in examples])
    notes += [] if scheme == "BIO" else [f"converted {scheme} tags to BIO"]
    if repairs := sum(count_repairs(sentence, scheme) for sentence in tags):
        letters = "I-" if scheme == "BIO" else "I- or E-"
        notes.append(f"{letters} tags that continue no span of their type: {repairs:,}, read as B-")
    return _with_tags(splits, lambda tags: to_bio(tags, scheme)), notes


def _respelled(splits: Mapping[str, LocatedExamples]) -> tuple[dict[str, LocatedExamples], list[str]]:
    """Span tags as BIO spells them, and a note on those that the files spell in another way."""
    new = respell({tag for examples in splits.values() for located in examples for tag in located.example.tags})
    if not new:
        return dict(splits), []
    shown = ", ".join(f"'{tag}' as '{spelled}'" for tag, spelled in [*new.items()][:RESPELLED_NAMED])
    more = f" and {len(new) - RESPELLED_NAMED:,} more" if len(new) > RESPELLED_NAMED else ""
    return _with_tags(splits, lambda tags: tuple(new.get(tag, tag) for tag in tags)), [
        f"span tags in another spelling: read {shown}{more}"
    ]


def _with_tags(
    splits: Mapping[str, LocatedExamples], change: Callable[[Sequence[str]], tuple[str, ...]]
) -> dict[str, LocatedExamples]:
    return {
        split: [
            replace(located, example=replace(located.example, tags=change(located.example.tags)))
            for located in examples
        ]
        for split, examples in splits.items()
    }


def _note_non_spans(examples: LocatedExamples) -> list[str]:
    """Which tags keep the others from being read as spans, if most of them mark spans."""
    distinct = {tag for located in examples for tag in located.example.tags}
    others = non_span_tags(distinct)
    if not others or 2 * len(others) > len(distinct):
        return unmarked_types_note([located.example.tags for located in examples])
    first = next(located.location for located in examples if others & set(located.example.tags))
    return [
        f"tags are predicted word by word, not as spans: {quote_list(sorted(others), 5)} fits no scheme (BIO, IOB1, "
        f"BIOES), first in the sentence at {first}"
    ]


# --- built-in corpora -----------------------------------------------------------------------------------------------


def _is_builtin(source: Sequence[str]) -> bool:
    return len(source) == 1 and source[0] in CORPORA


def _builtin(kind: ExampleKind, settings: CorpusSettings) -> Examples:
    name = settings.source[0]
    task = CORPORA.default_overrides(name).get("task.name")
    # a corpus of examples names its task; a text is not even opened, since that may download it
    corpus = CORPORA.load(name)(settings.difficulty) if task else None
    if not isinstance(corpus, Examples):
        is_what = "a text, not a set of examples" if task is None else f"no set of {NAMES[kind]}"
        raise DataError(f"'{name}' is {is_what}. Train it with --task {task or 'language'}.")
    if settings.validation or settings.test:
        raise UsageError(f"'{name}' is built in and has its own splits: leave out corpus.validation and corpus.test.")
    for key, column in {"groups": settings.groups, "split_column": settings.split_column}.items():
        if column not in (AUTO, NONE):
            raise UsageError(f"'{name}' is built in and has no columns: leave out corpus.{key}.")
    if not isinstance(next(iter(corpus.splits.values()))[0], EXAMPLES[kind]):
        raise DataError(f"'{name}' has no {NAMES[kind]}. Train it with --task {task}.")
    return replace(corpus, notes=(*corpus.notes, *shadow_notes(name)))


# --- files ----------------------------------------------------------------------------------------------------------


class WantedColumns(NamedTuple):
    """What the settings say about columns: the two to read, or None to infer them, and which ones name groups and
    splits; and the share of the rows that may be skipped."""

    pair: tuple[str, str] | None
    groups: str
    splits: str
    skip_limit: float
    trained: tuple[tuple[str, str], ...] = ()  # of the run that scores them


def _read_splits(
    kind: ExampleKind, files: Mapping[str, Sequence[str]], columns: WantedColumns
) -> tuple[dict[str, LocatedExamples], list[str], tuple[tuple[str, str], ...], int]:
    """Examples by split, with span tags in BIO; notes for the log, columns of tables, and number of skipped rows."""
    if kind == "pairs":
        refuse_swapped({split: sources for split, sources in files.items() if sources}, columns.pair)
    fixes = InputFixes(skip_limit=columns.skip_limit, trains="whole" not in files, sources={**files})
    splits = {split: _read(kind, sources, columns, fixes) for split, sources in files.items() if sources}
    _refuse_copies(files, splits)
    if kind != "tagged":
        return splits, fixes.notes(), tuple(dict.fromkeys(fixes.column_pairs)), fixes.skipped_rows
    splits, notes = _to_bio(splits)
    return splits, [*fixes.notes(), *notes, *unscored_words(splits)], (), fixes.skipped_rows


def _refuse_copies(files: Mapping[str, Sequence[str]], splits: Mapping[str, LocatedExamples]) -> None:
    """UsageError if a file belongs to two splits, DataError if two splits have the same examples."""
    seen = "a model would be scored on what it has seen"
    for one, other in combinations(splits, 2):
        paths = [Path(item).resolve() for item in files[one]]
        if shared := [item for item in files[other] if _is_within(Path(item).resolve(), paths)]:
            raise UsageError(
                f"'{shared[0]}' belongs to {one} and to {other}: {seen}. Name other files for one of them."
            )
        if [located.example for located in splits[one]] == [located.example for located in splits[other]]:
            both = f"{name_files([*files[one]])} and {name_files([*files[other]])}"
            raise DataError(f"{one} and {other} have the same examples, {both}: {seen}. Give other examples for one.")


def _is_within(path: Path, others: Sequence[Path]) -> bool:
    """Whether a file or folder is one of the others, in one, or has one in it."""
    return any(path.is_relative_to(other) or other.is_relative_to(path) for other in others)


def _read(kind: ExampleKind, sources: Sequence[str], columns: WantedColumns, fixes: InputFixes) -> LocatedExamples:
    paths = [_find(item, folders=kind in ("labeled", "tagged")) for item in sources]
    if kind == "pairs":
        return _read_pairs(paths, columns, fixes)
    if kind == "tagged":
        paths = [file for path in paths for file in tagged_files(path, fixes)]
    read = _read_labeled if kind == "labeled" else _read_tagged
    return _joined(paths, lambda path: read(path, columns, fixes), fixes)


def _joined(paths: Sequence[Path], read: Callable[[Path], LocatedExamples], fixes: InputFixes) -> LocatedExamples:
    """The examples of all files, with a note on how many each of several has."""
    examples = [read(path) for path in paths]
    if len(paths) > 1:
        each = [f"{path.name} ({len(some):,})" for path, some in zip(paths, examples, strict=True)]
        total = counted(sum(map(len, examples)), "example")
        fixes.remarks.append(f"joined {len(paths):,} files into {total}: {first_names(each)}")
    return [located for some in examples for located in some]


def _read_labeled(path: Path, columns: WantedColumns, fixes: InputFixes) -> LocatedExamples:
    if path.is_dir():
        _refuse_other_columns(columns, f"'{path}' is a folder of texts", fixes)
        if columns.pair:
            raise UsageError(f"corpus.columns names columns of a table, but '{path}' is a folder: leave it out.")
        return read_class_folders(path, fixes)
    if suffix(path) in (CONLLU, *COLUMNS):
        raise DataError(f"'{path}' does not have the suffix of a table. Use one of {', '.join(TABLES)}.")
    if suffix(path) not in TABLES and not columns.pair and has_label_lines(path):
        _refuse_other_columns(columns, f"'{path}' has labels beside its texts", fixes)
        return read_label_lines(path, fixes)
    return read_labeled(path, columns.pair, fixes, columns.groups, columns.splits, columns.trained)


def _read_tagged(path: Path, columns: WantedColumns, fixes: InputFixes) -> LocatedExamples:
    _refuse_other_columns(columns, f"'{path}' has tagged words", fixes)
    layout = recognize_layout(path) if suffix(path) not in (CONLLU, *COLUMNS, *TABLES) else None
    if suffix(path) == CONLLU or (layout and layout.kind == "conllu"):
        return read_conllu(path, columns.pair, fixes)
    if suffix(path) in TABLES and suffix(path) != ".tsv":  # words and tags in two columns are often called .tsv
        return read_tagged_table(path, columns.pair, fixes)
    if columns.pair:
        raise UsageError(
            f"corpus.columns names columns, but those of '{path}' have no names: the first is the word and the last "
            f"its tag. Leave out corpus.columns, or use {CONLLU}."
        )
    return read_columns(path, fixes)


def _read_pairs(paths: Sequence[Path], columns: WantedColumns, fixes: InputFixes) -> LocatedExamples:
    are_tables = [suffix(path) in TABLES for path in paths]
    if all(are_tables) or (len(paths) == 1 and is_table_by_lines(paths[0])):
        more = columns.groups, columns.splits, columns.trained
        return _joined(paths, lambda path: read_pairs(path, columns.pair, fixes, *more), fixes)
    if len(paths) != 2 or any(are_tables):
        given = " ".join(str(path) for path in paths)
        raise UsageError(
            f"to translate, give two files with the same number of lines, such as train.en train.de, or tables with "
            f"two columns ({', '.join(TABLES)}); given: {given}"
        )
    _refuse_other_columns(columns, "parallel files have lines", fixes)
    return read_parallel(paths[0], paths[1], fixes)


def _refuse_other_columns(columns: WantedColumns, has: str, fixes: InputFixes) -> None:
    for key, column in {"groups": columns.groups if fixes.trains else NONE, "split_column": columns.splits}.items():
        if column not in (AUTO, NONE):
            raise UsageError(f"corpus.{key} names a column of a table, but {has}: leave it out.")


def _find(item: str, folders: bool = False) -> Path:
    if item == STANDARD_INPUT:
        raise UsageError("examples cannot be read from standard input, '-': name a file.")
    path = existing_path(item)
    if path is None and item in CORPORA:
        raise DataError(f"'{item}' is built in and cannot be combined with files.")
    if path is None:
        raise MissingInput(f"there is no file or built-in corpus '{shorten(item)}'{did_you_mean(item[:200], CORPORA)}.")
    if path.is_dir() and not folders:
        raise DataError(f"'{path}' is a folder. Name the file of examples in it.")
    return path
