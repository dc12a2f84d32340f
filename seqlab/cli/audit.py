"""seqlab audit: whether a run's model knows only what it may, and its score is honest."""

from typing import TYPE_CHECKING

from typer import Exit

from seqlab.cli import options

if TYPE_CHECKING:
    from seqlab.audit.result import CheckResult

EXAMPLES = ("seqlab audit runs/my-gru-1", "seqlab audit runs/my --json")
WORDS = {True: ("pass", "green"), False: ("FAIL", "bold red"), None: ("n/a ", "dim")}


def audit(run: options.RunFolder, as_json: options.Json = False) -> None:
    """Check a run for leaks and mistakes: causality, carried state, KV cache, padding, splits, seeds, token counts."""
    from dataclasses import asdict

    from rich.console import Console

    from seqlab import api
    from seqlab.audit.audit import audit as all_checks
    from seqlab.cli.show import console

    with Console(stderr=True).status("checking ..."):
        results = all_checks(api.load(run))
    if as_json:
        console.print_json(data=[asdict(result) for result in results])
    else:
        _show(results)
    if any(result.failed for result in results):
        raise Exit(1)


def _show(results: "list[CheckResult]") -> None:
    from rich.text import Text

    from seqlab.cli.show import console

    width = max(len(result.name) for result in results)
    for result in results:
        word = WORDS[result.passed]
        # one line each, however long: programs read this
        console.print(Text.assemble(word, f"  {result.name:<{width}}  {result.detail}"), soft_wrap=True)
    failed = [result.name for result in results if result.failed]
    applied = sum(result.passed is not None for result in results)
    rest = f" {len(results) - applied} not applicable." if applied < len(results) else ""
    if failed:
        console.print(f"\n{len(failed)} of {applied} checks failed: {'; '.join(failed)}.{rest}", markup=False)
    else:
        console.print(f"\nAll {applied} checks passed.{rest}")
