"""Comparisons kept beside the records: in `comparisons` a folder each, with the results.json of a finished one."""

from pathlib import Path

from seqlab.comparison.report.table import markdown_rows, table
from seqlab.comparison.results import NAME, Results, read_comparison

FOLDER = "comparisons"


def read_comparisons(folder: Path) -> dict[str, Results]:
    """By the name of their folder."""
    return {path.parent.name: read_comparison(path.parent) for path in sorted(folder.glob(f"{FOLDER}/*/{NAME}"))}


def comparison_part(name: str, results: Results) -> str:
    """What was compared and how, the table, and what can be said."""
    said = [advice.sentence for advice in results.recommendation if advice.lens == "quality"]
    said += [pair.sentence for pair in results.pairs] + results.warnings
    sentences = "\n".join(f"- {sentence}" for sentence in said)
    parts = [
        f"## {name}",
        f"A comparison on {results.corpus['name']}, judged on its {results.protocol['part']} part:",
        f"~~~text\n{results.command}\n~~~",
        markdown_rows(table(results, brief=True)),
        sentences,
        f"Machine: {results.machine}. {results.date[:10]}.",
    ]
    return "\n\n".join(parts) + "\n"
