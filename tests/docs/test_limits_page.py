"""docs/limits.md names every limit in the code, with its value."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
LIMIT = re.compile(
    r"(^|_)(MAX|MOST|LIMIT|LARGEST|LONGEST|WIDEST|SEARCHED)(_|$)|^(FIT|EVALUATED|FINAL)_TOKENS$|^TRAIN_BYTES$"
)
# Not limits of what a user gives or gets: how work is divided, how a check or a search is designed.
INTERNAL = {
    ("data/overlap.py", "MAX_OVERLAP"),  # a share that the audit allows
    ("data/text/permutation.py", "LONGEST_LENGTH"),  # more windows than any disk holds
    ("audit/looks.py", "MAX_LOOKS"),  # a number that the audit allows
    ("data/examples/groups.py", "MAX_SHARE"),  # what a column of groups looks like, where nobody says it is one
    ("analysis/suggestion.py", "MAX_DISTINCT"),  # from which another tokenizer is suggested, and why
    ("analysis/suggestion.py", "MAX_CHARACTERS"),
    ("audit/examples.py", "MAX_TOKENS"),  # sizes of the audit's own inputs
    ("audit/model.py", "MAX_LENGTH"),
    ("audit/lengths.py", "MAX_CUT"),
    ("baselines/frequent_tags.py", "MAX_SUFFIX"),  # the definition of the baseline
    ("comparison/judgment/statistics.py", "MOST_GROUPS"),  # a step of the estimate: no unit is left out
    ("data/file_layout.py", "MAX_COLUMNS"),  # what a table looks like, where nobody says it is one
    ("data/text/scatter.py", "MAX_GAP"),  # the definition of the split
    ("data/text/scatter.py", "MAX_STRETCHES"),
    ("comparison/plan/trials.py", "MOST_EXTENSIONS"),  # the definition of the search
    ("data/examples/encoded.py", "MAX_SCORED_ROWS"),  # the size of a batch
    ("kernels/elementary.py", "LARGEST"),
    ("models/int8.py", "LARGEST"),
    ("testing/tokenizer.py", "MAX_SLOWDOWN"),
    ("training/budget.py", "MAX_EPOCHS"),  # the default of a setting
}


def constants() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "seqlab").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            names = [
                name for target in targets for name in (target.elts if isinstance(target, ast.Tuple) else [target])
            ]
            for name in names:
                if isinstance(name, ast.Name) and name.id.isupper() and LIMIT.search(name.id):
                    yield str(path.relative_to(ROOT / "seqlab")), name.id


def value(path: str, name: str) -> object:
    return getattr(import_module("seqlab." + path.removesuffix(".py").replace("/", ".")), name)


LIMITS = [
    (path, name)
    for path, name in constants()
    if (path, name) not in INTERNAL and isinstance(value(path, name), int) and not path.startswith("testing/")
]


@pytest.mark.parametrize(("path", "name"), LIMITS, ids=lambda part: str(part))
def test_every_limit_is_on_the_page_with_its_value(path: str, name: str) -> None:
    rows = [line for line in PAGE.splitlines() if line.endswith(f"| `{path}` `{name}` |")]
    assert len(rows) == 1, f"docs/limits.md has {len(rows)} rows that end in | `{path}` `{name}` |"
    assert re.search(rf"(?<![\d,]){value(path, name):,}(?!,?\d)", rows[0]), (
        f"{rows[0]}\nthe value is {value(path, name):,}"
    )


def test_every_constant_on_the_page_exists() -> None:
    named = re.findall(r"\| `([a-z_/]+\.py)` `([A-Z_]+)` \|$", PAGE, flags=re.MULTILINE)
    assert set(named) == set(LIMITS) and len(LIMITS) > 40


def test_a_row_without_a_message_says_why() -> None:
    assert "| none |" not in PAGE and "| none: |" not in PAGE


def test_nothing_is_called_internal_that_is_gone() -> None:
    assert set(constants()) >= INTERNAL
