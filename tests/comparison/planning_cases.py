"""Plans for a short text, with known times of the steps."""

from pathlib import Path
from typing import Any

from seqlab.comparison.plan.data import ComparisonData, prepare_data
from seqlab.comparison.plan.plan import Plan
from seqlab.comparison.plan.planning import make_plan
from seqlab.comparison.plan.request import ComparisonRequest, build_request
from seqlab.comparison.plan.timing import ModelTiming

TEXT = "the cat sat by the hut and saw 3 of them.\n" * 2000
SECONDS = {"rnn": 0.01, "lstm": 0.02, "transformer": 0.04}


def known_timings(data: ComparisonData, threads: int) -> dict[str, ModelTiming]:
    """The settings of a trial have the name of their model first; their time grows with the layers."""
    layers = {name: settings.backbone.settings.layers if " " in name else 1 for name, settings in data.models.items()}
    return {name: ModelTiming(layers[name] * SECONDS[name.split()[0]], 0.1, 0.1) for name in data.models}


def planned(text: Path, **options: Any) -> tuple[Plan, ComparisonRequest, ComparisonData]:
    request = build_request(
        str(text), None, {}, {"archs": "rnn,lstm,transformer", "embedding": 16, "window": 32, **options}
    )
    data = prepare_data(request, text.parent, lambda _: None)
    return make_plan(request, data, lambda _: None), request, data
