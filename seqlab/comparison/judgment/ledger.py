"""The fairness ledger: what was the same for all entrants, and what was not."""

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.results import Ledger
from seqlab.config import RunSettings
from seqlab.data.text.split import SplitText
from seqlab.tasks.dataset import Dataset


def ledger(plan: Plan, data: ComparisonData) -> Ledger:
    """Facts of each entrant, put on one side or the other by whether they agree."""
    equal = _shared(plan, data)
    unequal: dict[str, dict[str, str]] = {}
    facts = {model.name: _facts(model) for model in plan.models}
    for what in next(iter(facts.values())):
        values = {name: own[what] for name, own in facts.items()}
        if len(set(values.values())) == 1:
            equal[what] = next(iter(values.values()))
        else:
            unequal[what] = values
    return Ledger(equal, unequal)


def _shared(plan: Plan, data: ComparisonData) -> dict[str, str]:
    dataset = data.dataset
    one = plan.models[0].run_settings
    symbols = f"{dataset.vocabulary.tokenizer.vocab_size:,} symbols"
    trials = len(plan.trials)
    return {
        "text": f"{dataset.name}, {amount(dataset)}, SHA-256 {dataset.fingerprint[:12]}",
        "split": split_in_words(dataset),
        "tokenizer": f"{one.tokenizer.name}, {symbols}, learnt from the training part",
        "data order": "the same batches in the same order for the same seed",
        "evaluation": evaluation(one),
        "checkpoint": "the best on validation",
        "verdict": f"on the {data.deciding_split} part, scored once",
        "seeds": ", ".join(map(str, plan.seeds)),
        "trials": f"{trials} each, at {plan.horizon:.0%} of the steps" if trials else "none: rates as set",
        "threads": str(plan.threads),
    }


def amount(dataset: Dataset) -> str:
    facts = dataset.facts()
    return f"{facts['examples']['train']:,} examples" if "examples" in facts else f"{facts['characters']:,} characters"


def split_in_words(dataset: Dataset) -> str:
    if isinstance(dataset.data, SplitText):
        return f"{dataset.data.settings.split_ratios}, {'by lines' if dataset.data.by_lines else 'contiguous'}"
    return dataset.data.rule


def evaluation(settings: RunSettings) -> str:
    return settings.task.settings.evaluation


def _facts(model: PlannedModel) -> dict[str, str]:
    settings = model.run_settings
    own, train = settings.backbone.settings, settings.train
    return {
        "core parameters": f"{model.core:,}",
        "embedding": str(settings.model.embedding),
        "width and layers": f"{own.hidden} × {own.layers}",
        "steps": f"{model.steps:,}",
        "tokens": f"{model.steps * model.tokens_per_step:,}",
        "FLOPs": f"{model.steps * model.flops_per_step:.3g}",
        "training seconds": f"{model.seconds:.0f}",
        "batch_size": str(settings.task.settings.batch_tokens_or_size),
        "optimizer": f"{train.optimizer}, weight decay {train.weight_decay:g}, clipped at {train.clip_norm}",
        "schedule": f"{train.schedule}, {train.warmup} steps of warm-up",
        "learning rate": f"{train.lr:g}",
        "dropout": f"{own.dropout_rate:g}",
        "runs as": model.implementation,
    }
