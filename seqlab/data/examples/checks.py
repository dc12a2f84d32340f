"""Checks of a set of examples in splits: errors, and notes for the log.

Labels come from the training split. An unknown label of a text is an error. An unknown tag of a word is allowed and
scored as a mistake, as published results do.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from seqlab.data.alike import ALIKE, difference, same_form, same_label
from seqlab.data.examples.example import UNSCORED, Example, LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.lines import LocatedExamples, quote_list
from seqlab.data.examples.odd_texts import odd_texts
from seqlab.data.examples.odd_values import copied_sources, missing_texts, odd_labels, single_labels
from seqlab.data.examples.split_column import IGNORED
from seqlab.data.examples.unanswered import refuse_placeholders
from seqlab.data.examples.untagged import where_tags_are
from seqlab.data.file_names import shorten
from seqlab.data.text.split import compared_splits
from seqlab.errors import DataError
from seqlab.wording import counted, split_in_words

FEWEST_EXAMPLES = 200  # to judge by
LABELS_NAMED = 10  # in a note
GIVEN = "given"  # data that a finished run is scored on
ALIKE_NAMED = 3  # sets of labels that a note names


def check_splits(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """Notes on a set with a training split; DataError if it cannot be trained on or scored."""
    labels = count_labels(splits["train"])
    notes = []
    if isinstance(splits["train"][0].example, LabeledText):
        refuse_placeholders(splits)
    noun = "label" if isinstance(splits["train"][0].example, LabeledText) else "tag"
    if not isinstance(splits["train"][0].example, TextPair):
        if len(labels) < 2:
            raise DataError(_too_few_labels(splits, labels, noun))
        for split in splits:
            notes += check_labels(split, splits[split], labels)
        everywhere = sum(map(count_labels, splits.values()), Counter[str]())
        notes += _labels_alike(everywhere)
        if noun == "label":
            located = [one for some in splits.values() for one in some]
            notes += odd_labels(everywhere) + single_labels(located)
    return notes + _content_notes(splits)


def _too_few_labels(splits: Mapping[str, LocatedExamples], labels: Counter[str], noun: str) -> str:
    """What the training examples have, and what the other splits have instead, perhaps those of a column."""
    path, needs = splits["train"][0].location.path, "training needs at least two."
    only = f"only the {noun} {quote_list(list(labels))}" if labels else f"no {noun}"
    others = {split: count_labels(some).keys() - labels.keys() for split, some in splits.items() if labels}
    others = {split: sorted(names) for split, names in others.items() if names}
    if not others:
        advice = where_tags_are(path, labels) if noun == "tag" else ""
        return f"'{path}' has {only}; {needs}{advice}"
    there = " and ".join(f"{quote_list(names, 3)} in {split}" for split, names in others.items())
    same_file = [one for split in others for one in splits[split] if one.location.path == path]
    given = next((one.split for one in same_file if one.split), None)
    how = f" The column '{given.column}' gives the splits: {IGNORED} ignores it." if given else ""
    return f"the training split of '{path}' has {only}, and there is {there}; {needs}{how}"


def check_given(examples: LocatedExamples) -> list[str]:
    """Notes on examples that a finished run is scored on."""
    return _content_notes({GIVEN: examples})


def _content_notes(splits: Mapping[str, LocatedExamples]) -> list[str]:
    examples = [located.example for some in splits.values() for located in some]
    return missing_texts(examples) + odd_texts(examples) + copied_sources(examples) + _repeated_inputs(splits)


def count_labels(examples: LocatedExamples) -> Counter[str]:
    """How often each scored label or tag occurs."""
    return count_labels_of([located.example for located in examples])


def count_labels_of(examples: Sequence[Example]) -> Counter[str]:
    """The same of examples alone."""
    return Counter(label for example in examples for label in labels_of(example))


def check_labels(split: str, examples: LocatedExamples, known: Collection[str]) -> list[str]:
    """A note on unknown tags; DataError for an unknown label, or if all tags are unknown."""
    counts = count_labels(examples)
    unknown = {label: count for label, count in counts.items() if label not in known}
    if not unknown:
        return []
    first = next(located for located in examples if unknown.keys() & labels_of(located.example))
    label = min(unknown.keys() & labels_of(first.example))
    expected = f"The training split has {quote_list(sorted(known))}."
    if isinstance(first.example, LabeledText):
        refuse_placeholders({split: examples} if split == GIVEN else {})
        raise DataError(
            f"{first.location}: unknown label '{label}'. {expected} Correct it, or add training examples of it."
        )
    if len(unknown) == len(counts):
        raise DataError(f"{first.location}: unknown tag '{label}', like all others of the {split} split. {expected}")
    return [
        f"{sum(unknown.values()):,} of the {counts.total():,} {split} tags do not occur in the training split "
        f"({quote_list(sorted(unknown), 5)}; '{label}' in the sentence at {first.location}): each counts as an error, "
        f"and the mean of nats leaves them out"
    ]


def refuse_new_labels(examples: Sequence[Example], known: Sequence[str]) -> None:
    """DataError if the run that training starts from does not have every label or tag."""
    new = Counter({label: count for label, count in count_labels_of(examples).items() if label not in known})
    if new:
        noun, unit = ("label", "example") if isinstance(examples[0], LabeledText) else ("tag", "word")
        named = quote_list([label for label, _ in new.most_common()], LABELS_NAMED, new)
        raise DataError(
            f"{counted(new.total(), f'training {unit}')} of {counted(len(new), noun)} that the run of --init does not "
            f"have: {named}. It has {quote_list(known, LABELS_NAMED)}, and a model keeps its {noun}s. Leave out "
            f"--init, or these {unit}s."
        )


def _labels_alike(labels: Counter[str]) -> list[str]:
    """Notes on labels that are probably the same one, by how they differ."""
    spellings: dict[object, list[str]] = {}
    for label in labels:
        spellings.setdefault(same_label(label), []).append(label)
    found: dict[str, list[str]] = {}
    for same in spellings.values():
        if len(same) > 1:
            found.setdefault(difference(same), []).append(quote_list(sorted(same), counts=labels))
    return [
        f"{'; '.join(alike[:ALIKE_NAMED])}{f'; and {len(alike) - ALIKE_NAMED:,} more' if alike[ALIKE_NAMED:] else ''} "
        f"differ {how}: they are different labels"
        for how, alike in found.items()
    ]


def label_notes(splits: Mapping[str, Sequence[Example]]) -> list[str]:
    """For the log: which labels or tags are learned, the most frequent ones first, and which are never scored."""
    counts = {split: count_labels_of(examples) for split, examples in splits.items()}
    named = quote_list([label for label, _ in counts["train"].most_common()], LABELS_NAMED, counts["train"])
    noun = "label" if isinstance(splits["train"][0], LabeledText) else "tag"
    known = [f"{counted(len(counts['train']), noun)} in the training split: {named}"] if counts["train"] else []
    return known + _never_scored(counts, noun)


def never_scored_notes(splits: Mapping[str, Sequence[Example]]) -> list[str]:
    """Notes on labels or tags that the training split has, and a held-out split lacks."""
    noun = "label" if isinstance(splits["train"][0], LabeledText) else "tag"
    return _never_scored({split: count_labels_of(examples) for split, examples in splits.items()}, noun)


def _never_scored(counts: Mapping[str, Counter[str]], noun: str) -> list[str]:
    unit, notes = "example" if noun == "label" else "word", []
    for split, scored in counts.items():
        if missing := [label for label, _ in counts["train"].most_common() if label not in scored]:
            nouns, them = (noun, "it") if len(missing) == 1 else (f"{noun}s", "them")
            named = quote_list(missing, LABELS_NAMED, counts["train"])
            notes.append(
                f"no {split} {unit} has the {nouns} {named}: {split} results do not show whether the model recognizes "
                f"{them}"
            )
    return notes


def few_examples_note(sizes: Mapping[str, int]) -> list[str]:
    """Notes on held-out splits, by name, that are too small to tell models apart."""
    return [
        f"{subject} are based on {counted(count, noun)}, fewer than {FEWEST_EXAMPLES}: a single one is "
        f"{100 / count:.1f}% of them, so small differences are chance"
        for split, count in sizes.items()
        if split != "train" and count < FEWEST_EXAMPLES
        for subject in ["results" if split in ("validation", GIVEN) else f"{split} results"]
        for noun in ["example" if split == GIVEN else f"{split} example"]
    ]


def labels_of(example: Example) -> list[str]:
    """The label, or the scored tags; none for pairs."""
    if isinstance(example, LabeledText):
        return [example.label]
    return [tag for tag in example.tags if tag != UNSCORED] if isinstance(example, TaggedSentence) else []


def count_answers(examples: Iterable[Example]) -> dict[str, Counter[str]]:
    """By input: how often each answer is given to it, the first one first."""
    answers: dict[str, Counter[str]] = {}
    for example in examples:
        if isinstance(example, LabeledText):
            answer = example.label
        else:
            answer = " ".join(example.tags) if isinstance(example, TaggedSentence) else example.target
        answers.setdefault(example.input, Counter())[answer] += 1
    return answers


def _repeated_inputs(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """Notes on inputs that occur again, as they are or nearly, and on held-out inputs that an earlier split has too."""
    examples = [located.example for split in splits.values() for located in split]
    answers = count_answers(examples)
    repeated, same = len(examples) - len(answers), sum(next(iter(given.values())) - 1 for given in answers.values())
    notes = []
    if repeated:
        which = "all with its answer" if same == repeated else f"{same:,} of them with its first answer"
        notes.append(f"{repeated:,} of the {len(examples):,} examples repeat an earlier input, {which}")
    if alike := alike_inputs(answers):
        first, *_, last = alike[0]
        count = sum(len(some) - 1 for some in alike)
        differ = f"{counted(count, 'input')} {'differs' if count == 1 else 'differ'} from an earlier one {ALIKE}"
        notes.append(f"{differ}, such as {quote_list([first, last])}")
    several = {text: given for text, given in answers.items() if len(given) > 1}
    if several:
        text, given = next(iter(several.items()))
        what = {LabeledText: "labels", TaggedSentence: "tags", TextPair: "targets"}[type(examples[0])]
        have = f"{counted(len(several), 'input')} {'has' if len(several) == 1 else 'have'}"
        such_as = f"such as '{shorten(text, 60)}': {quote_list(sorted(given), 3)}"
        notes.append(f"{have} different {what} in different examples, {such_as}")
    for split, earlier in compared_splits(splits):
        notes += _shared_inputs(split, splits[split], earlier, splits[earlier])
    return notes


def _shared_inputs(split: str, examples: LocatedExamples, earlier: str, others: LocatedExamples) -> list[str]:
    """A note on inputs that an earlier split has too, as they are or nearly."""
    inputs = [located.example.input for located in examples]
    known = {located.example.input for located in others}
    forms = set(map(same_form, known))
    count, alike = sum(text in known for text in inputs), sum(same_form(text) in forms for text in inputs)
    if not alike:
        return []
    share, are = f"{100 * alike / len(inputs):.1f}%", "is" if alike == 1 else "are"
    near = f", {alike - count:,} of them with differences {ALIKE}" if alike > count else ""
    total = counted(len(inputs), f"{split} input")
    return [f"{alike:,} of the {total} ({share}) {are} also in the {split_in_words(earlier)} split{near}"]


def alike_inputs(inputs: Iterable[str]) -> list[list[str]]:
    """Different inputs that are the same to a reader, together."""
    found: dict[str, list[str]] = {}
    for text in inputs:
        found.setdefault(same_form(text), []).append(text)
    return [some for some in found.values() if len(some) > 1]
