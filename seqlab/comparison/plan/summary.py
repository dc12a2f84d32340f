"""The plan in words: sizes, steps, trials, and the estimated time."""

from pathlib import Path

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.estimate import jobs_of
from seqlab.comparison.plan.matching import total_parameters
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.comparison.plan.trials import is_extensible
from seqlab.text_table import aligned_table
from seqlab.tokenization.vocabulary import vocabulary_in_words
from seqlab.training.progress import clock
from seqlab.wording import counted


def plan_summary(plan: Plan, request: ComparisonRequest, data: ComparisonData, directory: Path) -> str:
    dataset = data.dataset
    splits = ", ".join(f"{len(split):,} {name}" for name, split in dataset.splits.items())
    if data.left_out:
        trained = len(dataset.splits["train"]) - data.left_out
        splits += f"; models and baselines learn from {trained:,} of the training examples, the others are too long"
    unit = "examples" if "examples" in dataset.facts() else "tokens"
    parallel = f"{jobs_of(request)} at a time, {counted(plan.threads, 'thread')} each"
    rows = [["", "core parameters", "all parameters", "steps", "tokens", "TFLOPs", "ms per step", "seconds per run"]]
    rows += [
        [model.name, f"{model.core:,}", f"{total_parameters(model.run_settings, plan.vocab_sizes):,}",
         f"{model.steps:,}", f"{model.tokens:,}", f"{model.flops / 1e12:,.2f}",
         _milliseconds(model), f"{model.seconds:.0f}"]
        for model in plan.models
    ]  # fmt: skip
    lines = [
        f"{dataset.name}: {data.size_in_words}, "
        f"{vocabulary_in_words(dataset.vocabulary, data.shared.tokenizer.settings)}; {unit}: {splits}",
        *("  " + line for line in aligned_table(rows).splitlines()),
        f"{counted(len(plan.seeds), 'seed')} each, {parallel}; verdicts on the {data.deciding_split} split",
    ]
    if plan.trials:
        trials = f"{counted(len(plan.trials), 'trial')} each"
        if plan.horizon < 1:
            trials = f"{counted(len(plan.trials), 'short trial')} each ({plan.horizon:.0%} of the steps)"
        refined = ", then two more beside the best" if is_extensible(request.comparison) else ""
        lines.append(f"first, {trials}: {_trials_in_words(plan)}{refined}")
    lines += [f"warning: {warning}" for warning in plan.warnings]
    lines += [f"note: {note}" for note in plan.notes]
    lines.append(f"about {clock(plan.estimate)} for everything, in {directory}")
    return "\n".join(lines)


def _milliseconds(model: PlannedModel) -> str:
    return f"{1e3 * model.step_seconds:.1f} ± {1e3 * model.step_spread * model.step_seconds:.1f}"


def _trials_in_words(plan: Plan) -> str:
    if all(list(trial) == ["train.lr"] for trial in plan.trials):
        return "learning rates " + ", ".join(f"{trial['train.lr']:g}" for trial in plan.trials)
    return "; ".join(", ".join(f"{key} {value:g}" for key, value in trial.items()) for trial in plan.trials)
