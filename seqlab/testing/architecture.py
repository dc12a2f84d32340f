"""check_architecture: everything that `Backbone` and `BackboneSettings` promise, for a class or a registered name.

sequences.py has the promises about passes and states, tracing.py about looking inside, training.py about parameters
and learning, decoding.py about reading a source, models.py about the models of every task.
"""

from collections.abc import Iterator

from seqlab.contracts import Backbone
from seqlab.registry import BACKBONES, allow_plugin
from seqlab.testing.cases import ArchitectureCase, cases, decoder_cases
from seqlab.testing.decoding import decoding
from seqlab.testing.models import models
from seqlab.testing.promises import Check
from seqlab.testing.sequences import sequences
from seqlab.testing.tracing import tracing
from seqlab.testing.training import overfitting, training
from seqlab.threads import compute_threads


def check_architecture(architecture: type[Backbone] | str) -> None:
    """AssertionError if an architecture breaks a promise: which one, with which options, and how.

    `architecture` is a class, a registered name, or "module:Class". Checks run for its options alone and in pairs."""
    with compute_threads(1):  # tiny tensors: more threads only wait for each other
        for case, checks in architecture_checks(load_architecture(architecture)):
            for check in checks:
                check(case)


def load_architecture(architecture: type[Backbone] | str) -> type[Backbone]:
    if isinstance(architecture, str):
        allow_plugin(architecture)
        return BACKBONES.load(architecture)
    return architecture


def architecture_checks(cls: type[Backbone]) -> Iterator[tuple[ArchitectureCase, list[Check[ArchitectureCase]]]]:
    """Every case with its checks; what is slow, and decoders, have one option changed at most."""
    common = [*sequences.checks.values(), *tracing.checks.values(), *training.checks.values()]
    slow = [*overfitting.checks.values(), *models.checks.values()]
    for case in cases(cls):
        simple = len(case.changes) <= 1
        yield case, [*common, *slow] if simple else common
        for decoder in decoder_cases(case) if simple and case.settings.causal else ():
            yield decoder, [*common, *decoding.checks.values()]
