"""The data doctor: a report on data before training.

`diagnose` finds out what training would take it for. Examples are examined in example_doctor.py. Of running text,
`examine` scans everything (scan.py), compares held-out with training text (overlap.py), scores the baselines, and
suggests settings with an estimate of their training time (suggestion.py).
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seqlab.analysis.diagnosis import Diagnosis
from seqlab.analysis.example_doctor import ExampleDiagnosis, examine_examples
from seqlab.analysis.scan import TextScan, scan_text
from seqlab.analysis.suggestion import SuggestedSettings, estimate_training, suggest_settings
from seqlab.config import CorpusSettings, build_settings, checked, each_once, parse_assignment
from seqlab.data.boilerplate import boilerplate_notes
from seqlab.data.corpora.large_text import open_large
from seqlab.data.corpora.when_sharded import is_sharded, unread_rows
from seqlab.data.double_encoding import double_encoding_notes
from seqlab.data.foreign import Foreign
from seqlab.data.invisible import show_invisible
from seqlab.data.overlap import Overlap, measure_overlap
from seqlab.data.split_records import split_record_notes
from seqlab.data.subwords import CutText
from seqlab.data.text.corpus import Corpus, corpus_from_text, open_corpus
from seqlab.data.text.held_out_files import held_out_notes
from seqlab.data.text.split import SplitText, join_notes, slice_text, split_text
from seqlab.errors import DataError, SeqlabWarning, UsageError
from seqlab.models.parameter_count import refuse_absurd, refuse_unfit
from seqlab.runs.reopen import make_task
from seqlab.runs.results import ValidationBaseline
from seqlab.tasks.dataset import text_dataset
from seqlab.tasks.text import one_unit
from seqlab.training.baselines import measure_baselines
from seqlab.training.request import least_sizes, settings_from_request

MAX_BASELINE_CHARACTERS = 2_000_000  # baselines of a longer text are scored on a sample
TIMED_CHARACTERS = 500_000  # of the sample that steps are timed on
TEXT_SETTINGS = ("corpus.text_column", "corpus.skip_limit")  # of the rows that a running text is read from
BEGINNING = 80  # characters of a text that are shown


@dataclass(frozen=True, kw_only=True)
class TextDiagnosis(Diagnosis):
    """The result of `examine`."""

    documents: str
    scan: TextScan
    overlap: Overlap | None = None

    def as_dict(self) -> dict[str, Any]:
        content = super().as_dict()
        if self.overlap:
            content["overlap"] |= {"share": self.overlap.share, "sentence": str(self.overlap)}
        return content


def diagnose(
    source: Sequence[str],
    documents: str | None = None,
    task: str | None = None,
    validation: Sequence[str] = (),
    test: Sequence[str] = (),
    assignments: Sequence[str] = (),
    log: Callable[[str], None] = lambda _: None,
) -> TextDiagnosis | ExampleDiagnosis:
    """Examine examples or a text, whichever training would take the source for, with these options of `train`.

    `log` is told what begins."""
    settings = each_once("--set", map(parse_assignment, assignments))
    for key in settings:
        if not key.startswith(("corpus.", "task.")):
            raise UsageError(f"--set {key}: the doctor takes settings of corpus and task, and suggests the others.")
    notes: list[str] = []
    held_out = {name: list(files) for name, files in (("validation", validation), ("test", test)) if files}
    short = {"documents": documents, "task": task, **held_out}
    resolved = settings_from_request(list(source), {}, settings, short, log=notes.append)
    options = {**held_out, **({"set": list(assignments)} if assignments else {})}
    if resolved.task.settings.examples == "documents":
        train = SuggestedSettings({"task": resolved.task.name, **options}, []).command(source)
        raise UsageError(
            f"the doctor examines running text and examples, and --task {resolved.task.name} trains on documents. Two "
            f"other commands examine those:\n  {train}   # says what it reads, and trains\n"
            f"  seqlab audit RUN   # says what the splits of a run share"
        )
    if resolved.task.settings.examples is not None:
        refuse_unfit(resolved)
        refuse_absurd(resolved, least_sizes(resolved))
        return examine_examples(source, resolved, options, notes, log)
    others = [key for key in settings if key not in TEXT_SETTINGS]
    if others or resolved.task.name != "language":
        what = f"--set {others[0]}" if others else f"--task {resolved.task.name}"
        raise UsageError(f"{what}: of a running text, the doctor examines what --task language reads. Leave it out.")
    if resolved.corpus.validation or resolved.corpus.test:
        notes.append("held-out files are not examined: the training text is, with a split 90/10 of its own")
    read_as = resolved.corpus.model_dump(include={"text_column", "skip_limit"})
    found = examine(resolved.corpus.source, resolved.corpus.documents, log, **read_as)
    found = replace(found, source=tuple(source), notes=[*notes, *found.notes])
    if not found.suggestion:
        return found
    chosen = {**({"task": task} if task else {}), **found.suggestion.settings, **options}
    return replace(found, suggestion=replace(found.suggestion, settings=chosen))


def examine(
    source: Sequence[str],
    documents: str = "stream",
    log: Callable[[str], None] = lambda _: None,
    **read_as: Any,
) -> TextDiagnosis:
    """Examine the text at paths, a built-in name or '-'; a text with faults is examined as far as possible.

    `log` is told what begins; `read_as` are other settings of the corpus, on its rows."""
    given = {"source": tuple(source), "documents": documents, **read_as}
    settings = checked(CorpusSettings, given, "corpus")
    if is_sharded(settings):
        corpus = _open_large(settings)
    else:
        corpus = open_corpus(settings.source, left_out=unread_rows(settings))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeqlabWarning)  # characters that the samples lack
            return _examine(corpus, settings, log)
    finally:
        if corpus.stdin_copy is not None:
            corpus.stdin_copy.unlink(missing_ok=True)


def _open_large(settings: CorpusSettings) -> Corpus:
    """The documents of a large corpus, or of rows, as one text."""
    text = open_large(settings)
    corpus = text.corpus
    corpus.fixes.remarks += text.check_rows()
    corpus.fixes.remarks.append("training splits this text by documents; here, its end is held out")
    return replace(corpus, paths=())  # whose bytes are not the text


def _examine(corpus: Corpus, settings: CorpusSettings, log: Callable[[str], None]) -> TextDiagnosis:
    log("reading the text")
    scan = scan_text(corpus)
    about = {"name": corpus.name, "source": settings.source, "documents": settings.documents, "scan": scan}
    joined = join_notes(corpus.paths, scan.added_newlines)
    characters = scan.character_stats.notes if scan.is_decoded else []
    notes = [*corpus.fixes.source_notes, *corpus.fixes.remarks, *joined, *characters]
    about["notes"] = notes
    try:
        text = split_text(corpus, settings)
        beginning = show_invisible("".join(slice_text(corpus.blocks(), 0, BEGINNING)))
        pieces = CutText()
        notes += [
            *held_out_notes(text),
            *split_record_notes(text),
            f"the text begins: {beginning}",
            *boilerplate_notes(text.corpus),
        ]
        notes += [*double_encoding_notes(pieces.watch(text.corpus.blocks())), *pieces.notes()]
        log("scoring baselines")
        baselines, baselines_on = _score_baselines(text)
        suggestion = suggest_settings(scan, settings.documents, is_sharded(settings))
        log("timing training steps")
        suggestion, estimate = estimate_training(suggestion, scan, _sample(text, TIMED_CHARACTERS)[0])
        log("comparing held-out with training text")
        return TextDiagnosis(
            **about,
            overlap=measure_overlap(text),
            baselines=baselines,
            baselines_on=baselines_on,
            suggestion=suggestion,
            estimate=estimate,
        )
    except DataError as error:
        if not scan.bytes or isinstance(error, Foreign):  # a report on what is no text would hide that
            raise
        return TextDiagnosis(**about, refusal=str(error))


def _score_baselines(text: SplitText) -> tuple[list[ValidationBaseline], str]:
    """With the character tokenizer, whatever is suggested: the results are in bits per character."""
    sample, which = _sample(text, MAX_BASELINE_CHARACTERS)
    settings = build_settings({"corpus": text.settings.model_dump()}, [("tokenizer.name", "char")])
    sampled = split_text(sample, settings.corpus)
    dataset = text_dataset(sampled, settings)
    task = make_task(settings, dataset)
    return measure_baselines(
        settings, dataset, task, one_unit(dataset.splits["validation"])
    ), f"the held-out tenth of {which}"


def _sample(text: SplitText, size: int) -> tuple[Corpus, str]:
    """At most `size` characters, and a description. The sample of a stream is split where the whole text is."""
    total, corpus = text.stats.characters, text.corpus
    if total <= size:
        return corpus, "the whole text"
    if text.by_lines:
        sample = "".join(slice_text(corpus.blocks(), 0, size))
        sample = sample[: sample.rfind("\n") + 1] or sample
        return corpus_from_text(sample, corpus.name), f"the first {size:,} characters"
    first = total * 9 // 10 - size * 9 // 10
    sample = "".join(slice_text(corpus.blocks(), first, first + size))
    return corpus_from_text(sample, corpus.name), f"the {size:,} characters around the start of the held-out split"
