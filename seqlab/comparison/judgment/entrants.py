"""An entrant of a comparison with its costs: parameters, bytes, FLOPs, seconds, generation."""

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.plan import PlannedModel
from seqlab.comparison.results import Entrant
from seqlab.measures.cost import file_bytes, generation_speed, state_bytes
from seqlab.mixing.mixture import Mixture
from seqlab.models.parameter_count import parameters
from seqlab.runs.run import Run


def describe_entrant(model: PlannedModel, run: Run, threads: int, data: ComparisonData) -> Entrant:
    settings = model.run_settings
    count = parameters(settings, data.dataset.vocabulary.sizes)
    mixture: Mixture | None = getattr(run.model, "mixture", None)
    return Entrant(
        name=model.name,
        arch=settings.backbone.name,
        settings=model.settings,
        core_parameters=count.core,
        embedding_parameters=count.embedding,
        output_parameters=count.output,
        position_parameters=count.positions,
        tokens_per_step=model.tokens_per_step,
        flops_per_token=model.flops_per_token + (0 if mixture is None else mixture.flops_per_token),
        flops_per_step=model.flops_per_step,
        step_seconds=model.step_seconds,
        implementation=model.implementation,
        lr=settings.train.lr,
        step_spread=model.step_spread,
        state_bytes=state_bytes(run),
        generation=generation_speed(run, threads),
        file_bytes=file_bytes(run),
    )
