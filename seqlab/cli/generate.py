"""seqlab generate: text from a trained language model."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from seqlab.cli import options
from seqlab.decode.limits import MAX_BEAM, MAX_NEW_TOKENS, MAX_SAMPLES

if TYPE_CHECKING:
    from seqlab.decode.text_generator import BeamResult, GeneratedText
    from seqlab.runs.run import Run

EXAMPLES = (
    'seqlab generate runs/my-gru-1 --prompt "The " --temperature 0.8',
    'seqlab generate runs/my-gru-1 --prompt "The " --samples 5 --length 100 --json',
    'seqlab generate runs/my-gru-1 --prompt "The " --beam 5',
)

CUT = "    (cut at --length)"  # a line that did not end
STOPPED = "    (cut at --stop)"

Sampling = partial(Option, rich_help_panel="Sampling")
Beam = partial(Option, rich_help_panel="Beam search")


def generate(
    run: options.RunFolder,
    prompt: Annotated[str, Option("--prompt", "-p", help="Text to continue.")] = "",
    length: Annotated[
        int, Option("--length", "-l", help="Maximum number of new tokens.", min=0, max=MAX_NEW_TOKENS)
    ] = 300,
    samples: Annotated[
        int | None,
        Option(
            "--samples", "-n", help="Number of texts; default 1, or 10 from a model of lines.", min=1, max=MAX_SAMPLES
        ),
    ] = None,
    stop: Annotated[list[str] | None, Option(help="Stop before this string; may be repeated.")] = None,
    temperature: Annotated[float | None, Sampling(help="Softmax temperature; default 1, 0 is greedy.")] = None,
    top_k: Annotated[int | None, Sampling(help="Sample from the k most probable tokens.")] = None,
    top_p: Annotated[float | None, Sampling(help="Nucleus sampling: tokens with total probability p.")] = None,
    repetition_penalty: Annotated[float | None, Sampling(help="Above 1 makes repeated tokens less likely.")] = None,
    seed: Annotated[int | None, Sampling(help="Same seed and engine, same text; default 0.")] = None,
    beam: Annotated[
        int | None, Beam(help="Beam search with this beam size instead of sampling.", min=1, max=MAX_BEAM)
    ] = None,
    length_penalty: Annotated[float | None, Beam(help="Divide log-probabilities by length to this power.")] = None,
    n_best: Annotated[int | None, Beam(help="Number of results; default 1.", min=1, max=MAX_BEAM)] = None,
    engine: Annotated[
        str, Option(help="plain (torch), compiled (compiled once, then fast), or auto: what finishes sooner.")
    ] = "auto",
    as_json: options.Json = False,
) -> None:
    """Generate text by sampling or beam search, streamed to the terminal."""
    from seqlab import api
    from seqlab.errors import refuse_given

    sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "repetition_penalty": repetition_penalty}
    sampling = _given({**sampling, "seed": seed})
    searching = _given({"length_penalty": length_penalty, "n_best": n_best})
    if beam is None:
        refuse_given(_as_options(searching), "without beam search, --beam")
    else:
        refuse_given(_as_options({**sampling, "samples": samples, "stop": stop}), "in beam search, --beam")
    if beam == 1:
        refuse_given({"--length-penalty": length_penalty}, "with a beam of 1")
    loaded = api.load(run)
    if beam is not None:
        found = loaded.search(prompt, length, width=beam, engine=engine, **searching)
        _show_search(found, prompt, as_json, loaded.tokenizer.documents)
        return
    choices = {**sampling, "engine": engine, "stop": stop or []}
    if as_json or loaded.tokenizer.documents or (samples or 1) > 1:
        greedy = temperature == 0 or top_k == 1
        samples = samples or (10 if loaded.tokenizer.documents and not greedy else 1)
        _show_samples(loaded, prompt, loaded.generate(prompt, length, samples=samples, **choices), as_json)
        return
    pieces = loaded.stream(prompt, length, **choices)
    _write(prompt)
    for piece in pieces:
        _write(piece)
    _write("\n")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _as_options(words: dict[str, Any]) -> dict[str, Any]:
    return {f"--{word.replace('_', '-')}": value for word, value in words.items()}


def _show_search(results: "list[BeamResult]", prompt: str, as_json: bool, documents: bool) -> None:
    if as_json:
        _write_json([vars(result) | {"text": prompt + result.text} for result in results])
        return
    for number, result in enumerate(results, 1):
        if len(results) > 1:
            _write(f"--- {number}: log-probability {result.logprob:.3f}, score {result.score:.3f}\n")
        _write(f"{prompt}{result.text}{CUT if documents and not result.finished else ''}\n")


def _show_samples(run: "Run", prompt: str, generated: "GeneratedText", as_json: bool) -> None:
    documents = run.tokenizer.documents
    texts = [prompt + text for text in generated.texts]
    finished = generated.generation.finished
    whole = [tokens[-1:] == [run.tokenizer.end] for tokens in generated.tokens]  # a line that the model itself ended
    stopped = [ended and documents and not alone for ended, alone in zip(finished, whole, strict=True)]
    known: list[bool | None] = [*run.known(texts)] if documents else [None] * len(texts)
    known = [one if ended else None for one, ended in zip(known, whole, strict=True)]  # part of a line is none
    if as_json:
        logprobs = [sum(row) for row in generated.generation.logprobs]
        keys, ended = ("text", "logprob", "in_training_text", "finished"), whole if documents else finished
        _write_json([dict(zip(keys, row, strict=True)) for row in zip(texts, logprobs, known, ended, strict=True)])
    elif documents:
        for text, is_known, ended, at_stop in zip(texts, known, finished, stopped, strict=True):
            cut = STOPPED if at_stop else "" if ended else CUT
            _write(f"{text}{'    (in the training text)' if is_known else ''}{cut}\n")
        _write(f"\n{_counts(known, stopped.count(True), finished.count(False))}.\n")
    else:
        for number, text in enumerate(texts, 1):
            _write(f"--- {number}\n{text}\n")


def _counts(known: "list[bool | None]", stopped: int, cut: int) -> str:
    """How many lines are new, of those that neither --stop nor --length cut (None)."""
    compared, new = len(known) - known.count(None), known.count(False)
    parts = [f"{stopped} cut at --stop"] if stopped else []
    if compared:
        others = "; the others are in the training text" if new < compared else ""
        whole = " whole lines" if cut else " of the others" if stopped else ""
        parts.append(f"{new} of {compared}{whole} are new{others}")
    return "; ".join([*parts, f"{cut} did not end: --length allows more"] if cut else parts)


def _write_json(content: list[dict[str, Any]]) -> None:
    import json

    from seqlab.cli.show import without_nan

    _write(json.dumps(without_nan(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _write(text: str) -> None:
    """Write without markup, and escape what the terminal cannot show."""
    import sys

    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
