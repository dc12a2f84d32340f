"""Dates: from the formats that people use to ISO 8601. A small translation task: fields move, names become numbers.

The names are listed here because those of `calendar` depend on the locale.
"""

from datetime import date, timedelta

import numpy as np

from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.examples.synthetic.sampling import Difficulty, draw_splits

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
    *("nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth"),
    *("twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
)
FORMATS = (
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
    "the {ordinal} of {month}, {year}",  # the third of March, 1998
)
CASES = (str, str, str.lower, str.upper)  # half of the dates keep their case
FIRST, LAST = date(1930, 1, 1), date(2049, 12, 31)
FIRST_OF_TWO_DIGITS, LAST_OF_TWO_DIGITS = date(1970, 1, 1), date(2030, 12, 31)
DIFFICULTY = Difficulty("dates", "number of formats", default=len(FORMATS), minimum=1, maximum=len(FORMATS))


def dates(difficulty: int | None = None, seed: int = 0) -> Examples:
    """English dates in the first `difficulty` formats, and as year-month-day."""
    count, rng = DIFFICULTY.start(difficulty, seed)
    formats = FORMATS[:count]

    def draw() -> TextPair:
        pattern = formats[rng.integers(len(formats))]
        case = CASES[rng.integers(len(CASES))]
        day = draw_day(rng, two_digits="{yy}" in pattern)
        return TextPair(case(write_date(day, pattern)), day.isoformat())

    return Examples(
        name="dates",
        splits=draw_splits(draw, content=lambda pair: pair.target),
        rule=(
            f"days from {FIRST.year} to {LAST.year} drawn at random without repeats; the hash of a day assigns it, in "
            "every format, to training (six in eight) or held-out data. Slashes put the month first, dots the day; "
            f"years of two digits are {FIRST_OF_TWO_DIGITS.year} to {LAST_OF_TWO_DIGITS.year}"
        ),
        about=f"dates in {len(formats)} {'formats' if len(formats) > 1 else 'format'}, to be written as year-month-day",
    )


def draw_day(rng: np.random.Generator, two_digits: bool) -> date:
    """Years of two digits come from a range in which they are unambiguous."""
    first, last = (FIRST_OF_TWO_DIGITS, LAST_OF_TWO_DIGITS) if two_digits else (FIRST, LAST)
    return first + timedelta(days=int(rng.integers((last - first).days + 1)))


def write_date(day: date, pattern: str) -> str:
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    return pattern.format(
        day=day.day,
        dd=f"{day.day:02}",
        nth=f"{day.day}{_ending(day.day)}",
        ordinal=ORDINALS[day.day - 1],
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
