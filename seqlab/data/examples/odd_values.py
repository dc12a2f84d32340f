"""Labels and texts that are probably not what they are read as: missing values, measured numbers, lists of labels,
dates that a spreadsheet made, rows that are no examples."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from seqlab.data.alike import NUMBER, same_form, same_label
from seqlab.data.examples.example import Example, LabeledText, TextPair
from seqlab.data.examples.lines import MISSING_VALUES, LocatedExamples, quote_list
from seqlab.wording import counted

FEWEST_NUMBERS, FEWEST_DECIMALS = 20, 6  # different ones, that look measured
MANY_COPIES = 0.5  # the share of targets from which they are said
BETWEEN_LABELS = (";", "|", ",", ";|", ";|,")  # one mark, or several that are mixed
FEWEST_LISTS = 2  # different labels that look like lists
BETWEEN_LEVELS = ("::", ">", "/")
ENOUGH = 20  # examples, among which a label of one alone stands out
SINGLES_NAMED = 3
MISSING_CODES = {-1, -9, -88, -98, -99, -888, -998, -999, -9998, -9999}  # -1 of Hugging Face, others of SPSS
# as spreadsheets shorten months in English, German, French, Spanish, Italian, Portuguese and Dutch
MONTH = (
    "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|mrz|märz?|mai|juni|juli|okt|dez|janv|févr|fév|mars|avr|juin|juil|"
    "août|déc|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out|mrt|mei"
)
# 02-Jan of 1-2, 05. Mrz of 3-5, Jan-20 of 1-2020; and the same cells as other programs read them
SHEET_DATE = re.compile(
    rf"\d{{1,2}}(?:-|\. ?| )(?:{MONTH})\.?|(?:{MONTH})\.?[- ]\d{{2}}|\d{{4}}-\d\d-\d\d 00:00:00", re.IGNORECASE
)


def odd_labels(labels: Counter[str]) -> list[str]:
    """Notes on labels of texts, by how often each occurs."""
    made_of_others = _lists(labels) or _levels(labels)
    return [*_missing_values(labels), *_sheet_dates(labels), *_measured(labels), *made_of_others]


def single_labels(examples: LocatedExamples) -> list[str]:
    """A note on labels of one example each: such a row may be a second header, a sum, a comment or a typing error."""
    counts = Counter(located.example.label for located in examples)
    singles = [located for located in examples if counts[located.example.label] == 1]
    if not singles or len(examples) < ENOUGH:
        return []
    named = [
        f"{quote_list([one.example.label])} ({one.location} with the text {quote_list([one.example.text])})"
        for one in singles[:SINGLES_NAMED]
    ]
    more = f" and {len(singles) - SINGLES_NAMED:,} more" if len(singles) > SINGLES_NAMED else ""
    have = "has one example" if len(singles) == 1 else "have one example each"
    return [
        f"{len(singles):,} of the {counted(len(counts), 'label')} {have}: {', '.join(named)}{more}. Remove rows that "
        f"are no examples, such as a second header or a sum"
    ]


def missing_texts(examples: Sequence[Example]) -> list[str]:
    """A note on texts and targets that other programs write where there is none."""
    texts = [example.input for example in examples if isinstance(example, LabeledText | TextPair)]
    texts += [example.target for example in examples if isinstance(example, TextPair)]
    return missing_texts_note(Counter(text.strip() for text in texts if is_missing(text)))


def is_missing(text: str) -> bool:
    """Whether programs write this text where there is none."""
    return text.strip().casefold() in MISSING_VALUES


def missing_texts_note(found: Counter[str]) -> list[str]:
    """The note on such texts, by how often each occurs."""
    if not found:
        return []
    named = quote_list(list(found), counts=found)
    return [f"{counted(found.total(), 'text')} may stand for a missing one, {named}. Delete such rows if so"]


def copied_sources(examples: Sequence[Example]) -> list[str]:
    """A note on targets that are their sources, if many are: a copy would be a perfect translation."""
    pairs = [example for example in examples if isinstance(example, TextPair)]
    copied = sum(pair.source.strip() == pair.target.strip() for pair in pairs)
    if not pairs or copied < MANY_COPIES * len(pairs):
        return []
    return [f"{copied:,} of the {counted(len(pairs), 'target')} equal their sources: are both sides the same file?"]


def _missing_values(labels: Counter[str]) -> list[str]:
    """A note on labels that other programs write where there is none."""
    found = [label for label in labels if label.casefold() in MISSING_VALUES] + _missing_codes(labels)
    if not found:
        return []
    named = quote_list(found, counts=labels)
    return [f"{named} may stand for a missing label: it is learned like any other. Delete such rows if so"]


def may_be_missing(label: str) -> bool:
    """Whether programs write this label where there is none."""
    code = Decimal(same_label(label)) if NUMBER.fullmatch(label) else None
    return label.casefold() in MISSING_VALUES or code in MISSING_CODES


def _missing_codes(labels: Counter[str]) -> list[str]:
    """Numbers that programs write where there is no label, if no other number is negative: among other numbers, or
    among names. A scale from -1 to 1 has labels alone."""
    numbers = {label: Decimal(same_label(label)) for label in labels if NUMBER.fullmatch(label)}
    negative = [label for label, number in numbers.items() if number < 0]
    others = {number for number in numbers.values() if number >= 0}
    names = len(labels) - len(numbers)
    is_scale = names < 2 and (len(others) < 2 or {*numbers.values()} == {-1, 0, 1})
    return [] if is_scale or any(numbers[label] not in MISSING_CODES for label in negative) else negative


def _sheet_dates(labels: Counter[str]) -> list[str]:
    """A note on dates among other labels: a spreadsheet takes 1-2 for one when it opens a table. Dates alone are
    labels."""
    dates = [label for label in labels if SHEET_DATE.fullmatch(label)]
    if not dates or len(dates) == len(labels):
        return []
    look = "looks like a date" if len(dates) == 1 else "look like dates"
    others = quote_list([label for label, _ in labels.most_common() if label not in dates], 3)
    return [
        f"{len(dates):,} of the {len(labels):,} labels {look}, {quote_list(dates, 3, labels)}, unlike {others}: did a "
        f"spreadsheet make them of labels such as 1-2? They are learned as they are. Import that column as text"
    ]


def _measured(labels: Counter[str]) -> list[str]:
    """A note on labels that are measurements: several decimal ones, or many numbers, hardly any of them twice."""
    numbers = [label for label in labels if NUMBER.fullmatch(label)]
    decimals = [label for label in numbers if same_label(label) % 1]
    many = len(numbers) >= FEWEST_NUMBERS and 2 * len(numbers) >= labels.total()
    if len(numbers) < len(labels) or not (many or len(decimals) >= FEWEST_DECIMALS):
        return []
    return [
        f"the {len(numbers):,} different labels look like measured numbers, such as {quote_list(numbers, 3)}: each is "
        "learned as a class of its own, and being near the right one does not count. Divide them into a few ranges"
    ]


def _lists(labels: Counter[str]) -> list[str]:
    """A note on labels that are made of others, as the cells of several labels for one text are."""
    found = [(joined, marks) for marks in BETWEEN_LABELS if (joined := _joined(labels, marks))]
    if not found:
        return []
    joined, marks = max(found, key=lambda one: len(one[0]))
    named = quote_list(sorted(joined, key=lambda label: -labels[label]), 3, labels)
    each = "each combination is learned as a class of its own"
    said = f"{counted(len(joined), 'label')} look like lists of labels, such as {named}: a text has one label"
    return [*_other_orders(joined, marks, labels), f"{said}, so {each}"]


def _joined(labels: Counter[str], marks: str) -> list[str]:
    """The labels that are lists if these marks separate their parts; none if most parts are in one label only. Where
    marks are mixed, half of the parts of a list must be in another label, too: a name may have a comma."""
    parts = {label: _parts(label, marks) for label in labels}
    counts = Counter(part for some in parts.values() for part in some)
    joined = [label for label in labels if any(mark in label.strip(marks) for mark in marks)]
    if len(marks) > 1:
        joined = [one for one in joined if 2 * sum(counts[part] > 1 for part in parts[one]) >= len(parts[one])]
    shared = {part for label in joined for part in parts[label]}
    are_lists = len(joined) >= FEWEST_LISTS and 2 * sum(counts[part] > 1 for part in shared) > len(shared)
    return joined if are_lists and not _are_decimals(joined, labels) else []


def _parts(label: str, marks: str) -> set[str]:
    return {part.strip(" []'\"") for part in re.split(f"[{marks}]", label)}


def _other_orders(joined: Sequence[str], marks: str, labels: Counter[str]) -> list[str]:
    """A note on lists of the same labels in another order, which are different labels."""
    orders: dict[tuple[object, ...], list[str]] = {}
    for label in joined:
        orders.setdefault(tuple(sorted(set(map(same_form, _parts(label, marks))))), []).append(label)
    same = [some for some in orders.values() if len(some) > 1]
    if not same:
        return []
    named = quote_list(sorted(max(same, key=lambda some: sum(labels[one] for one in some))), 3, labels)
    how = f"in another order{' or with other marks between them' if len(marks) > 1 else ''}"
    return [
        f"{sum(map(len, same)):,} labels are lists of the same labels as another one, {how}, such as {named}: they are "
        f"different labels. Sort the labels within each cell if they are the same"
    ]


def _are_decimals(joined: Sequence[str], labels: Counter[str]) -> bool:
    """Whether labels with commas are numbers: another label is the same number, or one would list a label twice."""
    if not all(map(NUMBER.fullmatch, joined)):
        return False
    others = {same_label(label) for label in labels if label not in joined}
    return any(same_label(label) in others or len({*label.split(",")}) == 1 for label in joined)


def _levels(labels: Counter[str]) -> list[str]:
    """A note on labels with levels, such as sports > tennis, most of which share their upper level with another one."""
    for mark in BETWEEN_LEVELS:
        upper = Counter(label.partition(mark)[0].strip() for label in labels if mark in label.strip(mark))
        if 2 * upper.total() > len(labels) and max(upper.values()) > 1 and len(upper) > 1:
            named = quote_list([label for label, _ in labels.most_common() if mark in label], 3, labels)
            return [
                f"{upper.total():,} of the {counted(len(labels), 'label')} look like levels, such as {named}: each is "
                f"learned as a class of its own, whatever it shares with others"
            ]
    return []
