"""seqlab audit: whether a run's model knows only what it may, and its score is honest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

if TYPE_CHECKING:
    from seqlab.audit.result import CheckResult


def audit(
    run: Annotated[Path, Argument(help="The run's folder.")],
    as_json: Annotated[bool, Option("--json", help="As JSON.")] = False,
) -> None:
    """Look for leaks and mistakes: the future, the state, the cache, padding, the vocabulary, splits, seeds, counts."""
    import json
    from dataclasses import asdict

    from rich.console import Console

    from seqlab import api
    from seqlab.audit.audit import audit as all_checks
    from seqlab.cli.show import out

    with Console(stderr=True).status("checking ..."):
        found = all_checks(api.load(run))
    if as_json:
        out.print_json(json.dumps([asdict(one) for one in found]))
    else:
        _show(found)
    if not all(one.passed for one in found):
        raise Exit(1)


def _show(found: "list[CheckResult]") -> None:
    from rich.text import Text

    from seqlab.cli.show import out

    width = max(len(one.name) for one in found)
    for one in found:
        word = ("pass", "green") if one.passed else ("FAIL", "bold red")
        # one line each, however long: what is read by a program must not be folded
        out.print(Text.assemble(word, f"  {one.name:<{width}}  {one.found}"), soft_wrap=True)
    failed = [one.name for one in found if not one.passed]
    if failed:
        out.print(f"\n{len(failed)} of {len(found)} checks failed: {'; '.join(failed)}.", markup=False)
    else:
        out.print(f"\nAll {len(found)} checks passed.")
