"""The plan in words: what will be done, at which sizes, and how long it will take."""

from pathlib import Path

from seqlab.comparison.judgment.ledger import amount
from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.plan import Plan
from seqlab.comparison.plan.planning import jobs_of
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.text_table import aligned_table
from seqlab.training.progress import clock


def plan_summary(plan: Plan, request: ComparisonRequest, data: ComparisonData, directory: Path) -> str:
    dataset = data.dataset
    one = plan.models[0].run_settings
    parts = ", ".join(f"{len(part):,} {name}" for name, part in dataset.splits.items())
    unit = "examples" if "rule" in dataset.facts() else "tokens"
    seeds = "seed" if len(plan.seeds) == 1 else "seeds"
    jobs = jobs_of(request)
    at_a_time = f"{jobs} at a time, {plan.threads} {'thread' if plan.threads == 1 else 'threads'} each"
    lines = [
        f"{dataset.name}: {amount(dataset)}, {one.tokenizer.name} vocabulary of "
        f"{dataset.vocabulary.tokenizer.vocab_size:,}; {unit}: {parts}",
        *_table(plan),
        f"{len(plan.seeds)} {seeds} of each, {at_a_time}; verdicts on the {data.deciding_split} part",
    ]
    if plan.trials:
        tried = _trials(plan)
        lines.append(f"before that each has {len(plan.trials)} short trials ({plan.horizon:.0%} of the steps): {tried}")
    lines += [f"note: {note}" for note in plan.notes]
    lines.append(f"about {clock(plan.estimate)} from the beginning, into {directory}")
    return "\n".join(lines)


def _table(plan: Plan) -> list[str]:
    rows = [["", "core parameters", "steps", "tokens", "TFLOPs", "ms a step", "seconds a run"]]
    for model in plan.models:
        tokens, flops = model.steps * model.tokens_per_step, model.steps * model.flops_per_step
        rows.append(
            [
                model.name,
                f"{model.core:,}",
                f"{model.steps:,}",
                f"{tokens:,}",
                f"{flops / 1e12:,.2f}",
                f"{1e3 * model.step_seconds:.1f}",
                f"{model.seconds:.0f}",
            ]
        )
    return ["  " + line for line in aligned_table(rows).splitlines()]


def _trials(plan: Plan) -> str:
    if all(list(tried) == ["train.lr"] for tried in plan.trials):
        return "learning rates " + ", ".join(f"{tried['train.lr']:g}" for tried in plan.trials)
    return "; ".join(", ".join(f"{key} {value:g}" for key, value in tried.items()) for tried in plan.trials)
