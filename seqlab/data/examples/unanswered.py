"""Tables without answers, such as the test rows of a competition: nothing can be learned from them or scored."""

import shlex
from collections.abc import Sequence

from seqlab.data.examples.columns import ColumnPair
from seqlab.data.examples.lines import Location, quote_list
from seqlab.data.examples.no_labels import is_identifier
from seqlab.errors import DataError


def refuse_unanswered(
    names: Sequence[str], pair: ColumnPair, known: Sequence[tuple[str, str]], header: Location, answered: Sequence[str]
) -> None:
    """DataError if a table has the texts of known columns and no answers: neither theirs nor any with a known name.

    `answered` are the files that were read before, which have them; none where a run is scored."""
    folded = [name.casefold() for name in names]
    missing = [answer for text, answer in known if text.casefold() in folded and answer.casefold() not in folded]
    texts = {text.casefold() for text, _ in known}
    if len(missing) < max(1, len(known)) or any(name in pair.second and name not in texts for name in folded):
        return
    others = [name for name in names if name.casefold() not in texts and not is_identifier(name)]
    if (others and len(names) == 2) or all(answer.isdigit() for answer in missing):
        return  # the other column may have them; or columns are numbered, and have no names
    predict = f"seqlab predict RUN --file {shlex.quote(str(header.path))}"
    advice = f"To predict them: {predict}"
    if answered:
        alone = " ".join(map(shlex.quote, answered))
        advice = f"Leave it out, train on {alone} alone, and predict them with the run: {predict}"
    if others:
        advice += f". If {quote_list(others, 10)} has them, rename it in the header to {quote_list(missing[:1])}"
    raise DataError(
        f"{header}: there is no column {quote_list(missing[:1])} among {quote_list(names, 10)}: these rows have no "
        f"answers to learn or to score. {advice}"
    )
