"""Generated corpora: right answers, the same for everybody, and nothing held out is trained on."""

import calendar
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import pytest

from seqlab.data.examples.example import UNSCORED, Examples, LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.synthetic.adding import adding
from seqlab.data.examples.synthetic.brackets import brackets
from seqlab.data.examples.synthetic.copying import copy, reverse
from seqlab.data.examples.synthetic.dates import dates
from seqlab.data.examples.synthetic.parity import parity
from seqlab.data.examples.synthetic.recall import recall
from seqlab.errors import UsageError

TASKS: dict[str, Callable[..., Examples]] = {
    function.__name__: function for function in (copy, reverse, parity, brackets, recall, dates, adding)
}
# the least, the usual and the greatest difficulty
DIFFICULTIES = {
    "copy": (2, 20, 200),
    "reverse": (2, 20, 200),
    "parity": (8, 64, 200),
    "brackets": (1, 8, 32),
    "recall": (2, 24, 64),
    "dates": (1, 12, 12),
    "adding": (4, 50, 500),
}
every_task = pytest.mark.parametrize("name", list(TASKS))
every_end = pytest.mark.parametrize(
    ("name", "difficulty"),
    [(name, difficulty) for name, all_of_them in DIFFICULTIES.items() for difficulty in set(all_of_them)],
)


def made(name: str, difficulty: int | None = None, seed: int = 0) -> Examples:
    return _once(name, difficulty or DIFFICULTIES[name][1], seed)


@cache
def _once(name: str, difficulty: int, seed: int) -> Examples:
    return TASKS[name](difficulty, seed)


def split_of(name: str, part: str) -> Sequence[Any]:
    return made(name).splits[part]


def some_of(part: Sequence[Any]) -> Sequence[Any]:
    """All of a part, or of long sequences so many that looking at them takes no longer."""
    return part[: 1 + 50_000 // max(len(example.input) for example in part[:50])]


def inputs(examples: Examples, *splits: str) -> list[str]:
    return [example.input for part in splits for example in examples.splits[part]]


# --- the right answers, found in another way ------------------------------------------------------------------------


def check_copy(pair: TextPair, difficulty: int) -> None:
    words = pair.source.split(" ")
    assert pair.target.split(" ") == words
    assert 1 <= len(words) <= difficulty and set(words) <= set("abcdefghijklmnop")


def check_reverse(pair: TextPair, difficulty: int) -> None:
    assert pair.target == pair.source[::-1]  # each word is one letter
    check_copy(TextPair(pair.source, pair.source), difficulty)


def check_parity(tagged: TaggedSentence, difficulty: int) -> None:
    odd = False
    for word, tag in zip(tagged.words, tagged.tags, strict=True):
        odd = odd != {"0": False, "1": True}[word]
        assert tag == ("odd" if odd else "even")
    assert 1 <= len(tagged.words) <= difficulty


def check_brackets(tagged: TaggedSentence, difficulty: int) -> None:
    partner = {"(": ")", "[": "]", "{": "}", "<": ">"}
    due = ""
    for word, tag in zip(tagged.words, tagged.tags, strict=True):
        if word in partner:
            due = partner[word] + due
        else:
            assert due[:1] == word
            due = due[1:]
        assert tag == (due[:1] or "none")
        assert len(due) <= difficulty
    assert 4 * difficulty <= len(tagged.words) <= 8 * difficulty


def check_recall(tagged: TaggedSentence, difficulty: int) -> None:
    told, asked = tagged.words[:difficulty], tagged.words[difficulty:]
    value_of = dict(word.split("=") for word in told)
    assert len(value_of) == difficulty
    assert all(re.fullmatch(r"k\d+=v\d+", word) for word in told)
    assert sorted(asked) == sorted(value_of)
    assert tagged.tags == (*[UNSCORED] * difficulty, *[value_of[key] for key in asked])


def check_adding(labelled: LabeledText, difficulty: int) -> None:
    words = labelled.text.split(" ")
    assert len(words) == difficulty
    assert all(re.fullmatch(r"\d\*?", word) for word in words)
    first, second = (place for place, word in enumerate(words) if word.endswith("*"))
    assert first < difficulty // 2 <= second
    assert labelled.label == str(int(words[first][0]) + int(words[second][0]))


UNITS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
TEENS = ["thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"]
DAY_WORDS = [*UNITS, "tenth", "eleventh", "twelfth", *TEENS, "twentieth", *(f"twenty-{one}" for one in UNITS)]
DAY_WORDS += ["thirtieth", "thirty-first"]


def read_date(text: str) -> date:
    """Slashes have the month first, dots the day; a year of two digits lies in 1970 to 2030."""
    text = text.lower()
    if result := re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})", text):
        return date(int(result[3]), int(result[1]), int(result[2]))
    if result := re.fullmatch(r"([1-9]\d?)\.([1-9]\d?)\.(\d{4})", text):
        return date(int(result[3]), int(result[2]), int(result[1]))
    day = month = year = weekday = None
    for token in re.findall(r"'?\d+(?:st|nd|rd|th)?|[a-z]+(?:-[a-z]+)?", text):
        if token in ("the", "of"):
            continue
        if token[0].isalpha():
            if token in DAY_WORDS:
                day = DAY_WORDS.index(token) + 1
            elif (number := named(token, calendar.month_name)) is not None:
                month = number
            else:
                weekday = named(token, calendar.day_name)
                assert weekday is not None, token
        elif token.isdigit() and len(token) == 4:
            year = int(token)
        elif token[0] == "'" or (day is not None and len(token) == 2):
            year = 1900 + int(token[-2:]) if int(token[-2:]) >= 70 else 2000 + int(token[-2:])
            assert 1970 <= year <= 2030
        else:
            day = int(re.sub(r"\D", "", token))
            endings = "th" if 10 < day < 20 else ("th st nd rd" + " th" * 6).split()[day % 10]
            assert token[-2:] == endings or token.isdigit()
    assert day and month and year
    read = date(year, month, day)
    assert weekday in (None, read.weekday())
    return read


def named(token: str, names: Any) -> int | None:
    """The number of a name, written in full or by three letters."""
    result = [number for number, name in enumerate(names) if name and token in (name.lower(), name.lower()[:3])]
    return result[0] if result else None


def check_dates(pair: TextPair, difficulty: int) -> None:
    read = read_date(pair.source)
    assert pair.target == f"{read.year:04}-{read.month:02}-{read.day:02}"
    assert 1930 <= read.year <= 2049


CHECKS: dict[str, Callable[[Any, int], None]] = {
    "copy": check_copy,
    "reverse": check_reverse,
    "parity": check_parity,
    "brackets": check_brackets,
    "recall": check_recall,
    "dates": check_dates,
    "adding": check_adding,
}


@every_end
def test_every_answer_is_right_at_every_difficulty(name: str, difficulty: int) -> None:
    for part in made(name, difficulty).splits.values():
        for example in some_of(part):
            CHECKS[name](example, difficulty)


# --- the same for everybody -----------------------------------------------------------------------------------------


@every_task
def test_the_same_arguments_give_the_same_examples_at_once(name: str) -> None:
    np.random.seed(1)
    random.seed(1)
    state = repr(np.random.get_state()), random.getstate()
    began = time.process_time()
    again = TASKS[name]()
    assert time.process_time() - began < 2
    assert (repr(np.random.get_state()), random.getstate()) == state
    assert again == made(name)


@every_task
def test_other_arguments_give_other_examples(name: str) -> None:
    usual, otherwise = made(name), (made(name, seed=1), made(name, DIFFICULTIES[name][0]))
    for other in otherwise:
        for part in ("train", "validation", "test"):
            same = set(inputs(usual, part)) & set(inputs(other, part))
            assert len(same) < 0.5 * len(usual.splits[part])


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("copy", "abad7eeef58eecc9"),
        ("reverse", "1882cf7b9eab7ce0"),
        ("parity", "79d6ec5a72571ac2"),
        ("brackets", "04e68cd9a870ebb7"),
        ("recall", "a69e517ee5e8657e"),
        ("dates", "1c0dfb2a2351f64a"),
        ("adding", "ebd00df70e583c1d"),
    ],
)
def test_the_examples_are_the_same_on_every_machine(name: str, begins: str) -> None:
    """The parts are drawn together, so that one tells of all. Where this fails, results told of the corpus are void."""
    last = replace(made(name), splits={"test": split_of(name, "test")})
    assert last.fingerprint.startswith(begins)


# --- parts ----------------------------------------------------------------------------------------------------------


@every_end
def test_no_input_comes_twice(name: str, difficulty: int) -> None:
    result = Counter(inputs(made(name, difficulty), "train", "validation", "test"))
    assert max(result.values()) == 1


@every_task
def test_what_one_corpus_holds_out_no_other_of_the_task_trains_on(name: str) -> None:
    least, usual, _ = DIFFICULTIES[name]
    ways = [(usual, 0), (usual, 1), (least, 0)]
    held_out = {text for way in ways for text in inputs(made(name, *way), "validation", "test")}
    trained_on = {text for way in ways for text in inputs(made(name, *way), "train")}
    assert not held_out & trained_on


def test_a_day_that_is_held_out_is_trained_on_in_no_form() -> None:
    days = {part: {pair.target for pair in split_of("dates", part)} for part in ("train", "validation", "test")}
    assert not days["train"] & (days["validation"] | days["test"])
    assert not days["validation"] & days["test"]


@every_end
def test_every_part_is_large_enough_to_score(name: str, difficulty: int) -> None:
    sizes = {part: len(examples) for part, examples in made(name, difficulty).splits.items()}
    assert list(sizes) == ["train", "validation", "test"]
    usual = difficulty > DIFFICULTIES[name][0] or name in ("adding", "dates", "recall")
    assert sizes == {"train": 12_000, "validation": 500, "test": 1000} if usual else min(sizes.values()) >= 20
    assert sizes["train"] > 2 * (sizes["validation"] + sizes["test"])


def vocab_size(*splits: Sequence[Any]) -> tuple[set[str], set[str]]:
    """All words that are read, and all answers; letters of pairs."""
    words: set[str] = set()
    answers: set[str] = set()
    for example in (one for part in splits for one in part):
        match example:
            case TaggedSentence():
                words.update(example.words)
                answers.update(example.tags)
            case LabeledText():
                words.update(example.text.split())
                answers.add(example.label)
            case TextPair():
                words.update(example.source)
                answers.update(example.target)
    return words, answers


@every_end
def test_training_meets_every_word_and_every_answer(name: str, difficulty: int) -> None:
    splits = made(name, difficulty).splits
    words, answers = vocab_size(splits["train"])
    words_held_out, answers_held_out = vocab_size(splits["validation"], splits["test"])
    assert words_held_out <= words and answers_held_out <= answers


@every_task
def test_no_single_answer_scores_well(name: str) -> None:
    """A model that always says the same stays far below the right answers."""
    answers: Counter[str] = Counter()
    for example in split_of(name, "test"):
        match example:
            case TaggedSentence(_, tags):
                answers.update(tag for tag in tags if tag != UNSCORED)
            case LabeledText(_, label):
                answers[label] += 1
            case TextPair(_, target):
                answers[target] += 1
    most = {"parity": 0.52, "brackets": 0.3, "adding": 0.15, "recall": 0.08}.get(name, 0.05)
    assert max(answers.values()) / answers.total() < most


# --- what each is made of -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["copy", "reverse"])
def test_every_length_is_scored_and_trained_on(name: str) -> None:
    for part, few in (("train", 400), ("test", 25)):
        lengths = Counter(len(text.split()) for text in inputs(made(name), part))
        assert set(lengths) == set(range(1, 21))
        assert min(lengths[length] for length in range(3, 21)) >= few
        assert max(lengths.values()) < 2 * few + 50


def test_parity_is_held_out_at_the_longer_half_of_the_lengths() -> None:
    lengths = {
        part: {len(sentence.words) for sentence in split_of("parity", part)} for part in ("train", "validation", "test")
    }
    assert lengths["train"] == set(range(1, 65))
    assert lengths["validation"] == lengths["test"] == set(range(32, 65))


def test_brackets_reach_their_depth_in_all_kinds_and_are_left_open() -> None:
    depths: Counter[int] = Counter()
    ends: Counter[str] = Counter()
    for tagged in split_of("brackets", "test"):
        steps = [1 if word in "([{<" else -1 for word in tagged.words]
        depths[int(np.cumsum(steps).max())] += 1
        ends[tagged.tags[-1]] += 1
    kinds = Counter(word for tagged in split_of("brackets", "train") for word in tagged.words if word in "([{<")
    assert max(kinds.values()) < 1.05 * min(kinds.values())
    assert max(depths) == 8 and depths[8] > 200
    assert set(ends) == {"none", ")", "]", "}", ">"} and min(ends.values()) > 50


def test_recall_draws_pairs_and_asks_in_any_order() -> None:
    places: Counter[tuple[int, int]] = Counter()
    keys: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for tagged in split_of("recall", "test"):
        told = [word.split("=") for word in tagged.words[:24]]
        keys.update(key for key, _ in told)
        values.update(value for _, value in told)
        result = {key: place for place, (key, _) in enumerate(told)}
        places.update((place, result[key]) for place, key in enumerate(tagged.words[24:]))
    assert len(places) == 24 * 24 and max(places.values()) < 80  # 42 each if any order is as likely
    assert len(keys) == 64 and max(keys.values()) < 1.5 * min(keys.values())
    assert len(values) == 16 and max(values.values()) < 1.5 * min(values.values())


def test_the_marks_of_adding_stand_anywhere_in_their_half() -> None:
    places: Counter[int] = Counter()
    for labelled in split_of("adding", "test"):
        places.update(place for place, word in enumerate(labelled.text.split()) if "*" in word)
    assert set(places) == set(range(50)) and max(places.values()) < 90
    assert {labelled.label for labelled in split_of("adding", "train")} == {str(number) for number in range(19)}


SHAPES = [
    "D Month Y",
    "Month D, Y",
    "Nth of Month, Y",
    "Mon D Y",
    "Weekday, D Month Y",
    "DD/DD/Y",
    "D.D.Y",
    "Mon D YY",
    "Wkd DD-Mon-Y",
    "Y, Month Nth",
    "the Nth of Month 'YY",
    "the Word of Month, Y",
]


def shape(text: str) -> str:
    """A date with its day, month, year and weekday made anonymous; one letter for numbers without a leading zero."""
    text = re.sub(r"\d{4}", "Y", text.lower())
    text = re.sub(r"\d+(st|nd|rd|th)", "Nth", text)
    text = re.sub(r"(?<=[' ])\d\d$", "YY", text)
    text = re.sub(r"\d\d(?=[/-])", "DD", text)
    text = re.sub(r"\b\d{1,2}\b", "D", text)
    text = re.sub("|".join(sorted(DAY_WORDS, key=len, reverse=True)), "Word", text)
    for name, names in (("Month", calendar.month_name), ("Weekday", calendar.day_name)):
        text = re.sub("|".join(word.lower() for word in names if word), name, text)
    for name, names in (("Mon", calendar.month_abbr), ("Wkd", calendar.day_abbr)):
        text = re.sub(r"\b(" + "|".join(one.lower() for one in names if one) + r")\b", name, text)
    return text


@pytest.mark.parametrize("forms", [1, 12])
def test_dates_come_in_as_many_forms_as_are_asked_for(forms: int) -> None:
    shapes = Counter(shape(text) for text in inputs(made("dates", forms), "test") if "may" not in text.lower())
    assert set(shapes) == set(SHAPES[:forms])
    assert min(shapes.values()) > 0.5 * max(shapes.values())


def test_dates_come_in_capital_and_in_small_letters_and_from_all_years() -> None:
    worded = [text for text in inputs(made("dates"), "test") if re.search("[a-zA-Z]{3}", text)]
    cases = Counter("small" if one.islower() else "capital" if one.isupper() else "mixed" for one in worded)
    assert cases["mixed"] > cases["small"] > 100 and cases["capital"] > 100
    assert {int(pair.target[:4]) for pair in split_of("dates", "train")} == set(range(1930, 2050))


# --- what is said ---------------------------------------------------------------------------------------------------


@every_end
def test_each_tells_its_name_difficulty_and_rule(name: str, difficulty: int) -> None:
    examples = made(name, difficulty)
    assert examples.name == name
    assert re.search(rf"\b{difficulty}\b", examples.about)
    assert "to training (six in eight)" in examples.rule


@every_task
def test_a_difficulty_that_cannot_be_is_refused_with_those_that_can(name: str) -> None:
    least, usual, most = DIFFICULTIES[name]
    for absurd in (least - 1, most + 1, 0, -5, 10**9):
        with pytest.raises(
            UsageError, match=rf"'{name}', .* {absurd}: .*{least} to {most}, or leave it out for {usual}"
        ):
            TASKS[name](absurd)
    with pytest.raises(UsageError, match=f"the seed of '{name}' cannot be -1: choose 0 or more"):
        TASKS[name](None, -1)
