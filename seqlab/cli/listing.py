"""seqlab list: the registered names."""

from typing import Annotated

from typer import Argument

from seqlab.registry import BACKBONES, CORPORA, MEASURES, TASKS, TOKENIZERS, VIEWS, did_you_mean

REGISTRIES = {registry.plural: registry for registry in (BACKBONES, CORPORA, TOKENIZERS, TASKS, MEASURES, VIEWS)}
KINDS = [*REGISTRIES, "recipes", "settings"]
EXAMPLES = ("seqlab list archs", "seqlab list recipes", "seqlab list settings")


def list_registered(
    kind: Annotated[str, Argument(help=f"What to list: {', '.join(KINDS)}.", autocompletion=lambda: KINDS)],
) -> None:
    """List architectures, corpora, tokenizers, tasks, measures, views, recipes or settings."""
    from seqlab.errors import UsageError

    if kind not in KINDS:
        raise UsageError(f"'{kind}' cannot be listed{did_you_mean(kind, KINDS)}. Known: {', '.join(KINDS)}.")
    from seqlab.cli.show import table

    if kind == "settings":
        from seqlab.config.overview import known_settings

        rows = [[known.name, known.default, known.meaning, ", ".join(known.components)] for known in known_settings()]
        table("", ["setting", "default", "", "only for"], rows, texts=4)
        return
    if kind == "recipes":
        from seqlab.recipes import recipes

        entries = recipes()
    else:
        registry = REGISTRIES[kind]
        entries = {name: registry.about(name) for name in registry}
    table("", [kind, ""], [[name, about] for name, about in entries.items()], texts=2)
