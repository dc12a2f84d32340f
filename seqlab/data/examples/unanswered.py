"""Files without answers, such as the test rows of a competition: nothing can be learned from them or scored."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from seqlab.data.examples.columns import ColumnPair
from seqlab.data.examples.lines import LocatedExamples, Location, quote_list
from seqlab.data.examples.no_labels import is_identifier
from seqlab.data.examples.odd_values import may_be_missing
from seqlab.data.split_files import MAX_IN_COMMAND
from seqlab.errors import DataError
from seqlab.typed_command import command_again, typed_folder

HELD_OUT = ("validation", "test")
NO_ANSWERS = "these rows have no answers to learn or to score"


def refuse_unanswered(
    names: Sequence[str],
    pair: ColumnPair,
    known: Sequence[tuple[str, str]],
    header: Location,
    sources: Mapping[str, Sequence[str]],
) -> None:
    """DataError if a table has the texts of known columns and no answers: neither theirs nor any with a known name.

    `sources` are the files of each split; those that were read before have answers."""
    folded = [name.casefold() for name in names]
    missing = [answer for text, answer in known if text.casefold() in folded and answer.casefold() not in folded]
    texts = {text.casefold() for text, _ in known}
    if len(missing) < max(1, len(known)) or any(name in pair.second and name not in texts for name in folded):
        return
    others = [name for name in names if name.casefold() not in texts and not is_identifier(name)]
    if (others and len(names) == 2) or all(answer.isdigit() for answer in missing):
        return  # the other column may have them; or columns are numbered, and have no names
    advice = _advice(header.path, sources)
    if others:
        rename = f"If {quote_list(others, 10)} has them, rename it in the header to {quote_list(missing[:1])}"
        advice = f"{rename}. Otherwise {advice[0].lower()}{advice[1:]}"
    raise DataError(
        f"{header}: there is no column {quote_list(missing[:1])} among {quote_list(names, 10)}: {NO_ANSWERS}. {advice}"
    )


def refuse_placeholders(splits: Mapping[str, LocatedExamples]) -> None:
    """DataError if all labels of a held-out file stand for missing ones that the training split does not have."""
    sources = {split: [*dict.fromkeys(str(one.location.path) for one in some)] for split, some in splits.items()}
    known = {located.example.label for located in splits.get("train", ())}
    for split, examples in splits.items():
        labels = {located.example.label for located in examples}
        apart = [path for path in sources[split] if path not in sources.get("train", ())]
        if split == "train" or len(labels) > 1 or labels <= known or len(apart) != 1 or len(sources[split]) != 1:
            continue
        if all(map(may_be_missing, labels)):
            raise DataError(
                f"{examples[0].location}: every label of '{apart[0]}' is {quote_list([*labels])}, which stands for a "
                f"missing one: {NO_ANSWERS}. {_advice(Path(apart[0]), sources)}"
            )


def _advice(path: Path, sources: Mapping[str, Sequence[str]]) -> str:
    """To predict the rows of a file, and to train without it on the others of the `sources`, if any are to train on."""
    predict = f"seqlab predict RUN --file {shlex.quote(str(path))}"
    if not sources.get("train"):
        return f"To predict them: {predict}"
    kept = {split: [item for item in items if Path(item) != path] for split, items in sources.items()}
    given = [word for split in HELD_OUT for item in kept.get(split, ()) for word in (f"--{split}", item)]
    if len(kept["train"]) + len(given) // 2 > MAX_IN_COMMAND:
        return f"Leave the file out, and predict them with the run: {predict}"
    folder = typed_folder(path)
    renamed = (folder, *map(Path, kept["train"])) if folder else ()
    joined = [path] if str(path) in sources["train"] else []
    without = [f"corpus.{split}" for split in HELD_OUT]
    train = command_again(["train", *kept["train"]], given, renamed, without, joined)
    return f"Leave the file out, and predict them with the run:\n  {train}\n  {predict}"
