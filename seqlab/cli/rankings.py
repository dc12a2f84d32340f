"""How seqlab evaluate prints rankings: figures on all, seen and unseen queries, and the verdicts."""

from seqlab.cli.show import console, table
from seqlab.retrieval.evaluation import METRICS, Evaluation, Measured
from seqlab.wording import counted, ended

SEEN = "seen: a relevant document is also relevant for a training query; remembering wins there"


def print_evaluation(found: Evaluation, as_json: bool) -> None:
    if as_json:
        console.print_json(data=found.as_dict())
        return
    first, *others = [metric.description for metric in METRICS]
    sizes = {name: int(part_Q.sum()) for name, part_Q in found.parts.items()}
    rows = [
        [name, *(_with_interval(found.value(name, first.key, part)) for part in found.parts)] for name in found.sums
    ]
    headings = [f"{part} ({size:,})" for part, size in sizes.items()]
    table(f"{first.label} on {counted(len(found.queries), 'query', 'queries')}, 95% intervals", ["", *headings], rows)
    console.print()
    rows = [[name, *(_by_part(found, name, metric.key) for metric in others)] for name in found.sums]
    table(" / ".join(found.parts), ["", *(metric.label for metric in others)], rows)
    console.print()
    if found.seen_Q is not None:
        console.print(f"{SEEN[0].upper()}{SEEN[1:]}.", soft_wrap=True)
    for pair in found.pairs:
        size = sizes[found.deciding]
        shown = f"{found.deciding} queries ({size:,}): {pair.sentence}"
        able = f"so many queries show a difference of {found.detectable(pair):.3f} at 80% power"
        console.print(f"On {shown}; {able}.", markup=False, soft_wrap=True)
    for name, about in found.about.items():
        console.print(f"{name}: {about}.", style="dim", markup=False, soft_wrap=True)
    for note in found.notes:
        console.print(f"Note: {ended(note)}", markup=False, soft_wrap=True)


def _by_part(found: Evaluation, ranker: str, metric: str) -> str:
    return " / ".join(f"{found.value(ranker, metric, part).value:.3f}" for part in found.parts)


def _with_interval(measured: Measured) -> str:
    if measured.low is None or measured.high is None:
        return f"{measured.value:.4f}"
    return f"{measured.value:.4f} [{measured.low:.3f}, {measured.high:.3f}]"
