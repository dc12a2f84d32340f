"""Commands drawn from the options' own declarations: plausible, extreme, missing and contradictory values."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from drawn_files import GOOD, ODD, RUNS
from typer.main import get_command

from seqlab.cli.app import app
from seqlab.config import CorpusSettings, ModelSettings, TrainSettings
from seqlab.registry import BACKBONES, TASKS, TOKENIZERS, VIEWS

HUGE = "99999999999999999999"
SMALL = {"int": ("1", "2", "3", "7"), "float": ("0.01", "0.5", "1", "2")}
NUMBERS = ("0", "-1", "0.5", "1e-30", "1000", "100000", HUGE, "nan", "-inf", "1e400", "x", "", "٣", "1_0")
# these say how long a command works: a large number is a wish that is granted, so none is drawn but an absurd one
SHORT_NUMBERS = ("0", "-1", HUGE, "-inf", "nan", "x", "")
LONG_WORK = {"steps", "epochs", "seconds", "minutes", "more", "length", "samples", "seeds", "tune", "jobs", "threads",
             "difficulty", "accumulate", "sample_tokens", "max_target", "decay_steps"}  # fmt: skip
WORDS = ("", " ", "none", "null", "-", "--", "\x1b[31m", "é" * 300, "\udcff", "no:where", "0", "{}", "[1]", "a,b", "=",
         "a" * 5000, "../..", "%s", "'; ls")  # fmt: skip
PLACES = (*GOOD, *ODD, *(f"runs/{name}" for name in RUNS), "runs/comparison", "runs/index", "runs", "foreign",
          "planned", "splits", "nothere", "nothere/deeper", "text.txt/inside", "", ".", "/dev/null", "pipe", "loop",
          "drawn.txt", "-", "toy-words", "parity", "\udcff", "x" * 300)  # fmt: skip
TEXTS = (
    "text.txt",
    "text.txt",
    "other.txt",
    "table.tsv",
    "tags.conll",
    "pairs.tsv",
    "drawn.txt",
    "splits",
    "toy-words",
)
NEW_PLACES = ("new", "runs/new", "new/deeper", "runs/writer", "text.txt", "", ".", "/dev/null/x", "x" * 300)
# values that make sense, for every option that takes a word; numbers and folders of runs need none
SENSIBLE: dict[str, tuple[str, ...]] = {
    "task": (*TASKS,),
    "tokenizer": (*TOKENIZERS,),
    "arch": (*BACKBONES,),
    "archs": ("rnn", "rnn,gru", "rnn+counts", "lstm,lstm", "transformer", "rnn,", ",", "gru,transformer-encoder"),
    "encoder": (*BACKBONES,),
    "decoder": (*BACKBONES,),
    "kind": ("archs", "corpora", "tokenizers", "tasks", "measures", "recipes"),
    "split_ratios": ("90/10", "80/10/10", "whole", "1/0"),
    "split": ("contiguous", "scattered", "train", "validation", "test"),
    "documents": ("stream", "lines"),
    "batching": ("windows", "stream"),
    "optimizer": ("adam", "adamw", "sgd", "rmsprop"),
    "schedule": ("constant", "cosine", "linear", "plateau"),
    "match": ("params=500", "total=2k", "non-embedding=1000", "flops=1000", "none", "params", "params=", "params=-1"),
    "budget": (
        "steps=1",
        "tokens=100",
        "flops=1e6",
        "seconds=0.1",
        "steps=0",
        "steps=",
        f"steps={HUGE}",
        "seconds=nan",
    ),
    "launcher": ("local", "ray"),  # with `jobs`, which is always said, ray is refused
    "address": ("auto", "127.0.0.1:6379", "ray://nowhere"),
    "tune_over": ("lr", "batch_size", "lr,layers", "lr,lr"),
    "mode": ("window", "carry"),
    "how": ("mean", "zero"),
    "target": ("red fish", "n7", "日", "one"),
    "span": ("1:3", "3:1", "2", "1:99"),
    "word": ("fish", "n7", "nothere"),
    "color": ("token", "position", "nothere"),
    "lesson": ("1", "window", "99", "nothere"),
    "check": ("text.txt", "good.toml", "nothere.py"),
    "notebook": ("new.ipynb", "new.txt", "text.txt"),
    "follow": ("quotes", "line", "indentation", "capitals", "text.txt"),
    "view": (*VIEWS, "nothere"),
    "engine": ("plain", "compiled", "auto", "exact", "hnsw"),
    "format": ("onnx", "transformers", "npy", "safetensors"),
    "prompt": ("the ", "n7", "fish\n", "日"),
    "mix": ("counts", "none"),
    "precision": ("float32", "bf16", "auto"),
    "stop": ("\n", "fish", "a"),
    "column": ("text", "label", "1", "0", "nothere"),
    "texts": ("red fish", "n7 stone", "a", "日本"),
    "recipe": ("char-rnn", "nothere", "good.toml", "broken.toml", "demo/nothere", "evolution"),
    "index": ("runs/index", "runs/index", "runs/writer"),
    "query": ("red fish", "n7", "日", "-"),
    "by": ("hybrid", "bm25", "dense"),
    "pooling": ("mean", "last", "max", "attention", "sif"),
    "reduce": ("truncate", "pca"),
    "method": ("pca", "tsne"),
    "neighbors": ("fish", "stone 3", "d3", "nothere"),
    "queries": ("queries.jsonl", "documents.jsonl", "nothere"),
    "qrels": ("qrels.tsv", "table.tsv", "test"),
    "training": ("qrels.tsv", "nothere"),
    "assignments": (),  # see `_assignment`
    **dict.fromkeys(("source", "data", "text", "text_file", "validation", "test", "corpus"), TEXTS),
    "out": NEW_PLACES,
    "config": ("good.toml",),
    "file": ("text.txt", "other.txt", "-"),
    "picture": ("new.png", "new.svg", "new.zzz", "new/new.png"),
    "records": ("results", "runs"),
    "folder": ("runs",),
    **dict.fromkeys(
        ("run", "runs", "like", "init", "teacher"), tuple(f"runs/{name}" for name in (*RUNS, "comparison", "index"))
    ),
    **dict.fromkeys(("comparisons", "add"), ("runs/comparison",)),
}
# said if nothing else is: the defaults train for minutes
BOUNDS = {
    "train": {"steps": "1", "threads": "1"},
    "compare": {"budget": "steps=1", "tune": "0", "seeds": "1", "jobs": "1", "archs": "rnn"},
    "distill": {"budget": "steps=1", "tune": "0", "seeds": "1", "jobs": "1"},
    "resume": {}, "generate": {}, "bench": {"threads": "1"},
    "index": {"run": "runs/writer"},
}  # fmt: skip
SLOW = ("compare", "distill", "doctor", "bench", "learn")  # they start processes, measure time or run a lesson
OF_ONE_KIND = ({"steps", "epochs", "seconds"}, {"budget", "minutes"})


@dataclass(frozen=True)
class Drawn:
    words: list[str]
    options: frozenset[str]  # the names of what was drawn, for counting
    damaged: bool  # a file of the runs is spoilt before
    seed: str

    @property
    def command(self) -> str:
        return self.words[0]


def declared() -> dict[str, list[Any]]:
    """The parameters of every command."""
    return {name: list(command.params) for name, command in get_command(app).commands.items()}  # pyright: ignore[reportAttributeAccessIssue]


def drawn_commands(seed: int, count: int, quick: bool = False) -> Iterator[Drawn]:
    """Commands in turn, so that none is left out; if they are to be quick, those that take seconds are refused."""
    commands = declared()
    for number in range(count):
        name = list(commands)[number % len(commands)]
        yield _drawn_command(name, commands[name], f"{seed}/{number}", quick and name in SLOW)


def _drawn_command(name: str, parameters: list[Any], seed: str, all_odd: bool) -> Drawn:
    draw = random.Random(seed)
    often = draw.choice((0.05, 0.15, 0.4))  # few options, so that one gets far, or many, which contradict each other
    odd = (
        1.0 if all_odd else draw.choice((0.0, 0.1, 0.3, 0.7))
    )  # the share of odd values: without them one gets further
    words, drawn = [name], set[str]()
    for parameter in parameters:
        wanted = 0.95 if parameter.param_type_name == "argument" or parameter.required else often
        if draw.random() > wanted:
            continue
        drawn.add(parameter.name)
        for _ in range(draw.choice((1, 1, 1, 2)) if parameter.multiple or parameter.nargs == -1 else 1):
            words += _words(parameter, draw, draw.random() < odd)
    if name == "demo":  # it trains for minutes unless it is refused
        words, drawn = [name, "--out", draw.choice(("text.txt", "/dev/null/x", "x" * 300, "pipe", "loop"))], {"out"}
    if name == "speedrun":  # likewise
        at = [number for number, word in enumerate(words) if word.startswith("--out")]
        for number in reversed(at):
            del words[number : number + (1 if "=" in words[number] else 2)]
        words, drawn = (
            [*words, "--out", draw.choice(("text.txt", "runs/writer", "/dev/null/x", "x" * 300))],
            {*drawn, "out"},
        )
    for option, value in BOUNDS.get(name, {}).items():
        same = next((kind for kind in OF_ONE_KIND if option in kind), {option})
        if not same & drawn:
            words += [f"--{option}", value]
    return Drawn(words, frozenset(drawn), draw.random() < 0.2, seed)


def _words(parameter: Any, draw: random.Random, odd: bool) -> list[str]:
    """An option with a value; an argument is a value alone."""
    is_argument = parameter.param_type_name == "argument"
    option = [] if is_argument else [draw.choice(parameter.opts)]
    if getattr(parameter, "is_flag", False):
        return option
    if parameter.name == "assignments":
        value = _assignment(draw, odd)
    elif parameter.bare_type() in SMALL:
        value = _number(parameter, draw) if odd else draw.choice(SMALL[parameter.bare_type()])
    elif odd:
        value = draw.choice(PLACES if draw.random() < 0.5 else WORDS)
    else:
        value = draw.choice(SENSIBLE[parameter.name])
    return [value] if is_argument else [*option, value] if draw.random() < 0.9 else [f"{option[0]}={value}"]


def _number(parameter: Any, draw: random.Random) -> str:
    if parameter.name in LONG_WORK:
        return draw.choice(SHORT_NUMBERS)
    limits = [str(limit + by) for limit in (parameter.min, parameter.max) if limit is not None for by in (-1, 0, 1)]
    return draw.choice((*NUMBERS, *limits))


def _assignment(draw: random.Random, odd: bool) -> str:
    """section.key=value for a setting that exists, mostly with a value that it takes."""
    sections = {"corpus": CorpusSettings, "model": ModelSettings, "train": TrainSettings}
    for name, registry in (("backbone", BACKBONES), ("decoder", BACKBONES), ("task", TASKS), ("tokenizer", TOKENIZERS)):
        sections[name] = registry.settings(draw.choice([*registry]))
    section = draw.choice([*sections])
    key = draw.choice([*sections[section].model_fields, *(["nokey", ""] if odd else []), "name"])
    if odd:
        values = SHORT_NUMBERS if key in LONG_WORK else (*NUMBERS, *WORDS)
        return f"{draw.choice([f'{section}.{key}=', f'{section}.{key}=', key, '='])}{draw.choice(values)}"
    if key == "name":
        return f"{section}.name={draw.choice([*BACKBONES, *TASKS, *TOKENIZERS])}"
    annotation = str(sections[section].model_fields[key].annotation)
    choices = [*re.findall(r"'([^']+)'", annotation), *(SMALL["int"] if "int" in annotation else SMALL["float"])]
    return f"{section}.{key}={draw.choice([*choices, 'true', 'none'])}"
