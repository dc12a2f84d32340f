"""What a comparison left out because there was too much of it: cut-off outputs, unscored and unsearched text."""

from collections.abc import Sequence

from seqlab.comparison.execution.scores import RunScores
from seqlab.comparison.judgment.memorization import SEARCHED
from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.results import RunResult
from seqlab.data.documents.pairs import RetrievalExamples
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.text.tokens import TokenSplit


def cap_warnings(runs: Sequence[RunResult], data: ComparisonData, scored: RunScores) -> list[str]:
    """One sentence with numbers for each limit that was reached."""
    name = data.deciding_split
    split = data.dataset.splits[name]
    if isinstance(split, ExampleSplit):
        counted, total, unit = len(scored.tokens_U), len(split), "examples"
    else:
        counted, total, unit = sum(scored.tokens_U), split.stats.scored_tokens, "tokens"
    warnings = []
    if counted < total and isinstance(data.dataset.data, RetrievalExamples):
        unseen = "the others ask for documents that a training query has, too"
        warnings.append(f"Verdicts are on {counted:,} of the {total:,} {name} queries: {unseen}.")
    elif counted < total:
        warnings.append(f"Only the first {counted:,} of the {total:,} {name} {unit} were scored.")
    train = data.dataset.splits["train"]
    if isinstance(train, TokenSplit) and (length := train.stats.characters) > SEARCHED:
        warnings.append(f"Copies were searched in the first {SEARCHED:,} of {length:,} training characters.")
    for model in dict.fromkeys(run.name for run in runs):
        metrics = [run.metrics for run in runs if run.name == model]
        if cut := round(sum(values.get("truncated", 0) for values in metrics)):
            count = round(sum(values["sentences"] for values in metrics))
            warnings.append(f"{cut:,} of the {count:,} outputs of {model} were cut off at the longest allowed length.")
    return warnings
