"""The fairness ledger: what was the same for all entrants, and what was not."""

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.results import Ledger
from seqlab.config import VocabSizes
from seqlab.models.parameter_count import parameters


def ledger(plan: Plan, data: ComparisonData) -> Ledger:
    equal = _shared_facts(plan, data)
    unequal: dict[str, dict[str, str]] = {}
    facts = {model.name: _facts(model, plan.vocab_sizes) for model in plan.models}
    for aspect in next(iter(facts.values())):
        values = {name: model_facts[aspect] for name, model_facts in facts.items()}
        if len(set(values.values())) == 1:
            equal[aspect] = next(iter(values.values()))
        else:
            unequal[aspect] = values
    return Ledger(equal, unequal)


def _shared_facts(plan: Plan, data: ComparisonData) -> dict[str, str]:
    dataset, settings = data.dataset, plan.models[0].run_settings
    symbols = f"{dataset.vocabulary.tokenizer.vocab_size:,} symbols"
    trials = sum(trial.name == plan.models[0].name for trial in plan.trial_results)
    return {
        "text": f"{dataset.name}, {data.size_in_words}, SHA-256 {dataset.fingerprint[:12]}",
        "split": dataset.data.rule,
        "tokenizer": f"{settings.tokenizer.name}, {symbols}, trained on the training split",
        "data order": "the same batches in the same order for the same seed",
        "evaluation": settings.evaluation,
        "checkpoint": "the best on validation",
        "verdict": f"on the {data.deciding_split} split, scored once",
        "seeds": ", ".join(map(str, plan.seeds)),
        "trials": f"{trials} each, at {plan.horizon:.0%} of the steps" if trials else "none: learning rates as set",
        "threads": str(plan.threads),
    }


def _facts(model: PlannedModel, sizes: VocabSizes) -> dict[str, str]:
    settings = model.run_settings
    backbone, train = settings.backbone.settings, settings.train
    count = parameters(settings, sizes)
    return {
        "core parameters": f"{count.core:,}",
        "output parameters": f"{count.output:,}" + (", tied to the embedding" if settings.model.tie_embeddings else ""),
        "total parameters": f"{count.total:,}",
        "embedding": str(settings.model.embedding),
        "width and layers": f"{backbone.hidden} × {backbone.layers}",
        "steps": f"{model.steps:,}",
        "tokens": f"{model.tokens:,}",
        "FLOPs": f"{model.flops:.3g}",
        "training seconds": f"{model.seconds:.0f}",
        "batch_size": str(settings.task.settings.batch_tokens_or_size),
        "optimizer": f"{train.optimizer}, weight decay {train.weight_decay:g}, clipped at {train.clip_norm}",
        "schedule": f"{train.schedule}, {train.warmup} steps of warm-up",
        "learning rate": f"{train.lr:g}",
        "precision": train.precision,
        "dropout": f"{backbone.dropout_rate:g}, embedding {settings.model.embedding_dropout or 0:g}, "
        f"output {settings.model.output_dropout or 0:g}",
        "mixed with": "the counts of the training text"
        if settings.task.settings.option("mix", "none") == "counts"
        else "nothing",
        "reads": "left to right" if backbone.causal else "in both directions",
        "runs as": model.implementation,
    }
