"""seqlab generate: text from a trained language model."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

if TYPE_CHECKING:
    from seqlab.runs.run import Run

EXAMPLES = (
    'seqlab generate runs/my-gru-1 --prompt "The " --temperature 0.8',
    'seqlab generate runs/my-gru-1 --prompt "The " --samples 5 --length 100 --json',
    'seqlab generate runs/my-gru-1 --prompt "The " --beam 5',
)

Sampling = partial(Option, rich_help_panel="Sampling")
Beam = partial(Option, rich_help_panel="Beam search")


def generate(
    run: Annotated[Path, Argument(help="Folder of the run.")],
    prompt: Annotated[str, Option("--prompt", "-p", help="Text to continue.")] = "",
    length: Annotated[int, Option("--length", "-l", help="Maximum number of new tokens.", min=0)] = 300,
    samples: Annotated[int | None, Option("--samples", "-n", help="Number of texts.", min=1)] = None,
    stop: Annotated[list[str] | None, Option(help="Stop before this string; may be repeated.")] = None,
    temperature: Annotated[float, Sampling(help="Softmax temperature; 0 is greedy.")] = 1.0,
    top_k: Annotated[int | None, Sampling(help="Sample from the k most probable tokens.")] = None,
    top_p: Annotated[float | None, Sampling(help="Nucleus sampling: tokens with total probability p.")] = None,
    repetition_penalty: Annotated[float, Sampling(help="Above 1 makes repeated tokens less likely.")] = 1.0,
    seed: Annotated[int, Sampling(help="Same seed and engine, same text.")] = 0,
    beam: Annotated[int | None, Beam(help="Beam search with this beam size instead of sampling.")] = None,
    length_penalty: Annotated[float, Beam(help="Divide log-probabilities by length to this power.")] = 0.0,
    n_best: Annotated[int, Beam(help="Number of results.")] = 1,
    engine: Annotated[
        str, Option(help="plain (torch), compiled (compiled once, then fast), or auto: what finishes sooner.")
    ] = "auto",
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Generate text by sampling or beam search, streamed to the terminal."""
    from seqlab import api

    loaded = api.load(run)
    sampling = {
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "repetition_penalty": repetition_penalty,
        "seed": seed,
        "engine": engine,
    }
    if beam is not None:
        _search(
            loaded,
            prompt,
            length,
            as_json,
            {"width": beam, "length_penalty": length_penalty, "n_best": n_best, "engine": engine},
        )
    elif as_json or loaded.tokenizer.documents or (samples or 1) > 1:
        _several(loaded, prompt, length, as_json, samples, stop or [], sampling)
    else:
        _stream(loaded, prompt, length, stop or [], sampling)


def _stream(run: "Run", prompt: str, length: int, stop: list[str], sampling: dict[str, Any]) -> None:
    """Each bit of text as soon as it is certain, after the prompt."""
    bits = run.stream(prompt, length, stop=stop, **sampling)
    _write(prompt)
    for bit in bits:
        _write(bit)
    _write("\n")


def _search(run: "Run", prompt: str, length: int, as_json: bool, how: dict[str, Any]) -> None:
    found = run.search(prompt, length, **how)
    if as_json:
        _json([vars(one) for one in found])
        return
    for number, one in enumerate(found, 1):
        if len(found) > 1:
            _write(f"--- {number}: log-probability {one.logprob:.3f}, score {one.score:.3f}\n")
        _write(prompt + one.text + "\n")


def _several(
    run: "Run", prompt: str, length: int, as_json: bool, samples: int | None, stop: list[str], sampling: dict[str, Any]
) -> None:
    documents = run.tokenizer.documents
    written = run.generate(prompt, length, samples=samples or (10 if documents else 1), stop=stop, **sampling)
    texts = [prompt + text for text in written.texts]
    known: list[bool | None] = [*run.known(texts)] if documents else [None] * len(texts)
    if as_json:
        logprobs = [sum(row) for row in written.generation.logprobs]
        keys = ("text", "logprob", "in_training_text")
        _json([dict(zip(keys, row, strict=True)) for row in zip(texts, logprobs, known, strict=True)])
    elif documents:
        for text, old in zip(texts, known, strict=True):
            _write(f"{text}{'' if not old else '    (stands in the training text)'}\n")
        new = known.count(False)
        _write(f"\n{new} of {len(texts)} are new; the others stand in the training text.\n")
    else:
        for number, text in enumerate(texts, 1):
            _write(f"--- {number}\n{text}\n")


def _json(content: list[dict[str, Any]]) -> None:
    import json

    _write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _write(text: str) -> None:
    """Straight to standard output: text of a model is no markup, and what a terminal cannot spell is escaped."""
    import sys

    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
