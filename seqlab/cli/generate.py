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

Sampling = partial(Option, rich_help_panel="Sampling")
Beam = partial(Option, rich_help_panel="Beam search")


def generate(
    run: options.RunFolder,
    prompt: Annotated[str, Option("--prompt", "-p", help="Text to continue.")] = "",
    length: Annotated[
        int, Option("--length", "-l", help="Maximum number of new tokens.", min=0, max=MAX_NEW_TOKENS)
    ] = 300,
    samples: Annotated[int | None, Option("--samples", "-n", help="Number of texts.", min=1, max=MAX_SAMPLES)] = None,
    stop: Annotated[list[str] | None, Option(help="Stop before this string; may be repeated.")] = None,
    temperature: Annotated[float, Sampling(help="Softmax temperature; 0 is greedy.")] = 1.0,
    top_k: Annotated[int | None, Sampling(help="Sample from the k most probable tokens.")] = None,
    top_p: Annotated[float | None, Sampling(help="Nucleus sampling: tokens with total probability p.")] = None,
    repetition_penalty: Annotated[float, Sampling(help="Above 1 makes repeated tokens less likely.")] = 1.0,
    seed: Annotated[int, Sampling(help="Same seed and engine, same text.")] = 0,
    beam: Annotated[
        int | None, Beam(help="Beam search with this beam size instead of sampling.", min=1, max=MAX_BEAM)
    ] = None,
    length_penalty: Annotated[float, Beam(help="Divide log-probabilities by length to this power.")] = 0.0,
    n_best: Annotated[int, Beam(help="Number of results.", min=1, max=MAX_BEAM)] = 1,
    engine: Annotated[
        str, Option(help="plain (torch), compiled (compiled once, then fast), or auto: what finishes sooner.")
    ] = "auto",
    as_json: options.Json = False,
) -> None:
    """Generate text by sampling or beam search, streamed to the terminal."""
    from seqlab import api

    loaded = api.load(run)
    if beam is not None:
        results = loaded.search(prompt, length, width=beam, length_penalty=length_penalty, n_best=n_best, engine=engine)
        _show_search(results, prompt, as_json)
        return
    sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "repetition_penalty": repetition_penalty}
    choices = {**sampling, "seed": seed, "engine": engine, "stop": stop or []}
    if as_json or loaded.tokenizer.documents or (samples or 1) > 1:
        samples = samples or (10 if loaded.tokenizer.documents else 1)
        _show_samples(loaded, prompt, loaded.generate(prompt, length, samples=samples, **choices), as_json)
        return
    pieces = loaded.stream(prompt, length, **choices)
    _write(prompt)
    for piece in pieces:
        _write(piece)
    _write("\n")


def _show_search(results: "list[BeamResult]", prompt: str, as_json: bool) -> None:
    if as_json:
        _write_json([vars(result) for result in results])
        return
    for number, result in enumerate(results, 1):
        if len(results) > 1:
            _write(f"--- {number}: log-probability {result.logprob:.3f}, score {result.score:.3f}\n")
        _write(prompt + result.text + "\n")


def _show_samples(run: "Run", prompt: str, generated: "GeneratedText", as_json: bool) -> None:
    documents = run.tokenizer.documents
    texts = [prompt + text for text in generated.texts]
    known: list[bool | None] = [*run.known(texts)] if documents else [None] * len(texts)
    if as_json:
        logprobs = [sum(row) for row in generated.generation.logprobs]
        keys = ("text", "logprob", "in_training_text")
        _write_json([dict(zip(keys, row, strict=True)) for row in zip(texts, logprobs, known, strict=True)])
    elif documents:
        for text, is_known in zip(texts, known, strict=True):
            _write(f"{text}{'    (in the training text)' if is_known else ''}\n")
        new = known.count(False)
        _write(f"\n{new} of {len(texts)} are new; the others are in the training text.\n")
    else:
        for number, text in enumerate(texts, 1):
            _write(f"--- {number}\n{text}\n")


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
