"""How far back the models look: gradients and memory by distance, on a stretch of validation text.

One run of each entrant reads the same tokens. The test split is never read: this is explanation, not evidence.
"""

from collections.abc import Mapping

import numpy as np

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.results import Distances
from seqlab.data.text.tokens import TokenSplit
from seqlab.inspection.backward import gradient_curve
from seqlab.inspection.distances import SAMPLED
from seqlab.inspection.memory import divergences
from seqlab.models.language_model import LanguageModel
from seqlab.runs.run import Run

SPLIT = "validation"
LONGEST, SHORTEST = 512, 4  # tokens of the stretch
WORK = 1e11  # multiplications and additions for each entrant: about ten seconds
PASSES = 3 * SAMPLED  # over the stretch: forward with each changed token, backward from each loss


def look_back(loaded: Mapping[str, Run], data: ComparisonData) -> list[Distances]:
    """Of language models; none if the validation split has too few tokens in one piece."""
    models = {name: run.model for name, run in loaded.items() if isinstance(run.model, LanguageModel)}
    split = data.dataset.splits[SPLIT]
    if not models or not isinstance(split, TokenSplit):
        return []
    wanted = min(2 * data.shared.task.settings.sequence_length, LONGEST, *map(_affordable, models.values()))
    ids = held_out_stretch(split, wanted)
    if len(ids) < SHORTEST:
        return []
    return [
        Distances(
            name,
            loaded[name].settings.train.seed,
            len(ids),
            gradient_curve(model, ids).tolist(),
            divergences(model, ids).tolist(),
        )
        for name, model in models.items()
    ]


def held_out_stretch(split: TokenSplit, wanted: int) -> list[int]:
    """The beginning of the first document that is long enough, or of the longest."""
    starts_N = split.document_starts()
    lengths_N = np.minimum(np.diff(starts_N), wanted)
    first = int(starts_N[int(lengths_N.argmax())])
    return split.read(first, first + int(lengths_N.max())).tolist()


def _affordable(model: LanguageModel) -> int:
    """Tokens that the work allows, at least a few dozen, and no more than the model can read."""
    tokens = max(64, int(WORK / (PASSES * model.flops_per_token(LONGEST))))
    return min(tokens, model.limit or tokens)
