"""Dates: from the ways in which people write them to ISO 8601. Small translation: parts move, names become numbers.

Names are written out here, since those of `calendar` follow the machine's language.
"""

from datetime import date, timedelta

import numpy as np

from seqlab.data.examples.example import Examples, Pair
from seqlab.data.examples.synthetic.sampling import Difficulty, deal

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COUNTED = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
    *("nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth"),
    *("twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
)
FORMS = (
    "{day} {month} {year}",  # 3 March 1998
    "{month} {day}, {year}",  # March 3, 1998
    "{nth} of {month}, {year}",  # 3rd of March, 1998
    "{mon} {day} {year}",  # Mar 3 1998
    "{weekday}, {day} {month} {year}",  # Tuesday, 3 March 1998
    "{mm}/{dd}/{year}",  # 03/03/1998, the month first
    "{day}.{m}.{year}",  # 3.3.1998, the day first
    "{mon} {day} {yy}",  # Mar 3 98
    "{wkd} {dd}-{mon}-{year}",  # Tue 03-Mar-1998
    "{year}, {month} {nth}",  # 1998, March 3rd
    "the {nth} of {month} '{yy}",  # the 3rd of March '98
    "the {counted} of {month}, {year}",  # the third of March, 1998
)
CASES = (str, str, str.lower, str.upper)  # half of the dates stay as they are
FIRST, LAST = date(1930, 1, 1), date(2049, 12, 31)
FIRST_OF_TWO_DIGITS, LAST_OF_TWO_DIGITS = date(1970, 1, 1), date(2030, 12, 31)
DIFFICULTY = Difficulty("dates", "number of forms", usual=len(FORMS), least=1, most=len(FORMS))


def dates(difficulty: int | None = None, seed: int = 0) -> Examples:
    """English dates in the first `difficulty` forms, and as year-month-day; by characters."""
    forms = FORMS[: DIFFICULTY.chosen(difficulty)]
    numbers = DIFFICULTY.numbers(len(forms), seed)

    def draw() -> Pair:
        form = forms[numbers.integers(len(forms))]
        case = CASES[numbers.integers(len(CASES))]
        day = any_day(numbers, two_digits="{yy}" in form)
        return Pair(case(written(day, form)), day.isoformat())

    return Examples(
        name="dates",
        splits=deal(draw, held=lambda pair: pair.target),
        rule=(
            f"days from {FIRST.year} to {LAST.year} drawn at random, none twice in the same writing; the hash of a day "
            "says whether it is for training (six in eight) or held out, in whatever form. Slashes have the month "
            f"first, dots the day; years of two digits are {FIRST_OF_TWO_DIGITS.year} to {LAST_OF_TWO_DIGITS.year}"
        ),
        about=f"dates in {len(forms)} {'forms' if len(forms) > 1 else 'form'}, to be written as year-month-day",
    )


def any_day(numbers: np.random.Generator, two_digits: bool) -> date:
    """Years of two digits come from a stretch in which they name one year only."""
    first, last = (FIRST_OF_TWO_DIGITS, LAST_OF_TWO_DIGITS) if two_digits else (FIRST, LAST)
    return first + timedelta(days=int(numbers.integers((last - first).days + 1)))


def written(day: date, form: str) -> str:
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    return form.format(
        day=day.day,
        dd=f"{day.day:02}",
        nth=f"{day.day}{_ending(day.day)}",
        counted=COUNTED[day.day - 1],
        weekday=weekday,
        wkd=weekday[:3],
        month=month,
        mon=month[:3],
        m=day.month,
        mm=f"{day.month:02}",
        year=day.year,
        yy=f"{day.year % 100:02}",
    )


def _ending(number: int) -> str:
    if number in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
