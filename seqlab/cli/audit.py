"""seqlab audit: whether a run's model knows only what it may, and its score is honest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

if TYPE_CHECKING:
    from seqlab.audit.result import CheckResult

EXAMPLES = ("seqlab audit runs/my-gru-1", "seqlab audit runs/my --json")


def audit(
    run: Annotated[Path, Argument(help="Folder of the run.")],
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a run for leaks and mistakes: causality, carried state, KV cache, padding, splits, seeds, token counts."""
    import json
    from dataclasses import asdict

    from rich.console import Console

    from seqlab import api
    from seqlab.audit.audit import audit as all_checks
    from seqlab.cli.show import out

    with Console(stderr=True).status("checking ..."):
        results = all_checks(api.load(run))
    if as_json:
        out.print_json(json.dumps([asdict(result) for result in results]))
    else:
        _show(results)
    if not all(result.passed for result in results):
        raise Exit(1)


def _show(results: "list[CheckResult]") -> None:
    from rich.text import Text

    from seqlab.cli.show import out

    width = max(len(result.name) for result in results)
    for result in results:
        word = ("pass", "green") if result.passed else ("FAIL", "bold red")
        # one line each, however long: programs read this
        out.print(Text.assemble(word, f"  {result.name:<{width}}  {result.detail}"), soft_wrap=True)
    failed = [result.name for result in results if not result.passed]
    if failed:
        out.print(f"\n{len(failed)} of {len(results)} checks failed: {'; '.join(failed)}.", markup=False)
    else:
        out.print(f"\nAll {len(results)} checks passed.")
