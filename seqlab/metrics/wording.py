"""Figures as people read them: their headings, their digits, and a sentence."""

from collections.abc import Mapping

# by figure: its heading and how it is written
SHOWN: dict[str, tuple[str, str]] = {
    "nats_per_token": ("nats/token", ".4f"),
    "perplexity": ("perplexity", ".2f"),
    "bits_per_char": ("bits/char", ".4f"),
    "bits_per_byte": ("bits/byte", ".4f"),
    "tokens": ("tokens", ",.0f"),
    "accuracy": ("accuracy, %", ".2f"),
    "macro_f1": ("macro F1, %", ".2f"),
    "entity_f1": ("entity F1, %", ".2f"),
    "precision": ("precision, %", ".2f"),
    "recall": ("recall, %", ".2f"),
    "nats_per_tag": ("nats/tag", ".4f"),
    "nats_per_example": ("nats/example", ".4f"),
    "tags": ("tags", ",.0f"),
    "examples": ("examples", ",.0f"),
    "sentences": ("sentences", ",.0f"),
    "bleu": ("BLEU", ".2f"),
    "chrf": ("chrF", ".2f"),
    "exact": ("exact, %", ".2f"),
}
COUNTS = ("tokens", "examples", "tags", "sentences")  # figures that say how much was scored
HEADLINES = ("bits_per_char", "accuracy", "entity_f1", "bleu", "exact")  # figures that runs are listed by
HEADS = {name: head for name, (head, _) in SHOWN.items()}


def figure(name: str, value: float | None) -> str:
    """A figure in its digits; a dash where there is none."""
    return "-" if value is None else format(value, SHOWN.get(name, ("", ".4g"))[1])


def digits_of(metric: str) -> int:
    """Decimals of a metric in tables: those of a loss matter further down."""
    return 4 if metric.startswith("nats") else 2


def unit(metric: str) -> str:
    """What a difference is counted in: of "accuracy, %" points of accuracy."""
    return f"points of {metric.removesuffix(', %')}" if metric.endswith(", %") else metric


def loss_unit(metric: str) -> str:
    """What a loss is counted in beside this metric: a label or a tag is one thing, a text has tokens."""
    return "nats" if metric.startswith(("accuracy", "entity")) else "nats per token"


def in_words(metrics: Mapping[str, float], baseline: tuple[str, Mapping[str, float]] | None = None) -> str:
    """A result in plain words, beside the floor that it is held against."""
    said = _said(metrics)
    if baseline is None:
        return said
    name, its = baseline
    return f"{said}; {'counting' if name.startswith('kneser-ney') else name}: {_briefly(its)}"


def choices(metrics: Mapping[str, float]) -> float:
    """2 to the bits per character: how many equally likely characters would leave one as unsure."""
    return 2.0 ** min(metrics["bits_per_char"], 1000)


def _said(metrics: Mapping[str, float]) -> str:
    match metrics:
        case {"bits_per_char": _}:
            return f"as unsure as choosing among {choices(metrics):.1f} equally likely characters"
        case {"bleu": bleu}:
            exact = metrics.get("exact")
            told = "" if exact is None else f", {exact:.0f} of 100 sentences exactly as the reference"
            return f"BLEU {bleu:.1f}{told}"
        case {"exact": exact}:
            return f"{exact:.1f} of 100 texts exactly as the reference"
        case {"entity_f1": f1}:
            return f"entity F1 {f1:.1f}"
        case {"accuracy": accuracy, "tags": _}:
            return f"{accuracy:.1f} of 100 words tagged rightly"
        case {"accuracy": accuracy}:
            return f"{accuracy:.1f} of 100 labelled rightly"
    raise AssertionError(metrics)


def _briefly(metrics: Mapping[str, float]) -> str:
    if "bits_per_char" in metrics:
        return f"{choices(metrics):.1f}"
    return next(f"{metrics[name]:.1f}" for name in ("bleu", "exact", "entity_f1", "accuracy") if name in metrics)
