"""What mixing with counts would add to the winner: how much of the local statistics of the text it still misses."""

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.results import Advice
from seqlab.models.language_model import LanguageModel
from seqlab.registry import BACKBONES
from seqlab.runs.run import Run
from seqlab.tasks.language import LanguageTask
from seqlab.tasks.mixing import mixing_gain
from seqlab.wording import counted

NOTABLE = 0.005  # nats per character


def counts_advice(run: Run, name: str, data: ComparisonData) -> list[Advice]:
    """One sentence on a language model that is not mixed yet; nothing on others."""
    task = data.task(run.settings)
    if not isinstance(task, LanguageTask) or not isinstance(run.model, LanguageModel) or run.model.mixture is not None:
        return []
    gain = mixing_gain(run.model, task.splits, data.deciding_split, task.settings.window)
    stats = task.splits[data.deciding_split].stats
    per_char = gain.nats * stats.scored_tokens / stats.scored_characters
    amount = f"{per_char:.3f} nats/char on {counted(gain.tokens, 'token')} of the {data.deciding_split} split"
    if per_char < NOTABLE:
        sentence = f"Counts of the training text would add little to {name}: {amount}. It knows the local statistics."
    else:
        sentence = (
            f"Mixed with counts of the training text, {name} would be better by {amount}: so much of the local "
            f"statistics it still misses."
        )
        if name in BACKBONES:  # a recipe or a distillation has models under names of its own
            sentence += f" To compare both: --archs {name},{name}+counts"
    return [Advice("counts", name, sentence)]
