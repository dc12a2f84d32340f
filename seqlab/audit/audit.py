"""All checks of one run, on its own model, task, tokenizer and data."""

from seqlab.audit import data, examples, lengths, looks, metric, model, origins, retrieval, scoring, training
from seqlab.audit.result import CheckResult
from seqlab.data.text.tokens import TokenSplit
from seqlab.runs.reopen import make_task
from seqlab.runs.run import Run
from seqlab.tasks.dataset import AnyDataset
from seqlab.tasks.embed import EmbedTask
from seqlab.tasks.examples import ExampleTask
from seqlab.tasks.text import TextTask
from seqlab.tasks.translate import TranslateTask

NO_GENERATION = "the model does not generate text"
NO_COUNTS = "the model is not mixed with counts"
BIDIRECTIONAL = "the model is bidirectional"


def audit(run: Run) -> list[CheckResult]:
    """One result per check, always in the same order. The run is not changed."""
    dataset = run.dataset()
    task = make_task(run.settings, dataset)
    if isinstance(task, ExampleTask):
        return _audit_examples(run, task, dataset)
    if isinstance(task, EmbedTask):
        return _audit_retrieval(run, task, dataset)
    assert isinstance(task, TextTask)
    return [
        *_audit_language_model(run, task.splits["validation"]),
        training.carried_state(task, run.model),
        data.vocabulary(run, dataset.data),
        data.counts(run, dataset) if getattr(run.model, "mixture", None) else data.counts.skip(NO_COUNTS),
        data.split_overlap(dataset.data),
        data.near_copied(dataset.data),
        origins.origins(run, dataset),
        looks.test_looks(run, dataset),
        training.same_seed(run.settings, run.vocabulary, task),
        scoring.scored_twice(task, run.model),
        scoring.counted_once(task, run.model),
        scoring.recount(task, run.model),
        scoring.metric(task, run.model, dataset.data),
    ]


def _audit_examples(run: Run, task: ExampleTask, dataset: AnyDataset) -> list[CheckResult]:
    translation = task if isinstance(task, TranslateTask) else None
    decoding = (examples.causality, examples.steps, examples.generation)
    return [
        *(check(translation, run.model) if translation else check.skip(NO_GENERATION) for check in decoding),
        lengths.cut_off(run, translation) if translation else lengths.cut_off.skip(NO_GENERATION),
        examples.padding(task, run.model),
        examples.vocabulary(run, dataset),
        examples.split_overlap(dataset),
        examples.near_copied(dataset),
        examples.shared_groups(dataset),
        examples.given_away(dataset),
        origins.origins(run, dataset),
        looks.test_looks(run, dataset),
        training.same_seed(run.settings, run.vocabulary, task),
        scoring.scored_twice(task, run.model),
        examples.counted_once(task, run.model),
        examples.recount(task, run.model),
        metric.metric(run, task, dataset),
    ]


def _audit_retrieval(run: Run, task: EmbedTask, dataset: AnyDataset) -> list[CheckResult]:
    return [
        retrieval.padding(task, run.model),
        retrieval.vocabulary(run, dataset),
        examples.split_overlap(dataset),
        examples.near_copied(dataset),
        retrieval.own_documents(dataset),
        origins.origins(run, dataset),
        looks.test_looks(run, dataset),
        training.same_seed(run.settings, run.vocabulary, task),
        scoring.scored_twice(task, run.model),
        retrieval.metric(task, run.model),
    ]


def _audit_language_model(run: Run, tokens: TokenSplit) -> list[CheckResult]:
    tokens_BT = model.held_out_rows(run.model, tokens)
    padding = model.padding(run.model, tokens_BT, run.generates)
    if not run.generates:
        causal = (model.causality, model.steps, model.chunks, model.generation)
        return [*(check.skip(BIDIRECTIONAL) for check in causal), padding]
    return [
        model.causality(run.model, tokens_BT),
        model.steps(run.model, tokens_BT),
        model.chunks(run.model, tokens_BT),
        model.generation(run.model, tokens_BT.flatten().tolist(), run.tokenizer.never_sampled),
        padding,
    ]
