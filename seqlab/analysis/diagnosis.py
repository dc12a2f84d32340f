"""What the data doctor reports about every kind of data."""

from dataclasses import asdict, dataclass, field
from typing import Any

from seqlab.analysis.suggestion import SuggestedSettings, TrainingEstimate
from seqlab.runs.results import ValidationBaseline


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """If training would refuse the data, `refusal` is the reason and what follows it is missing."""

    name: str
    source: tuple[str, ...]
    notes: list[str] = field(default_factory=list)  # what training says about task, files and splits
    refusal: str | None = None
    baselines: list[ValidationBaseline] = field(default_factory=list)
    baselines_on: str = ""
    suggestion: SuggestedSettings | None = None
    estimate: TrainingEstimate | None = None

    @property
    def command(self) -> str | None:
        """The command that trains as suggested."""
        return self.suggestion.command(self.source) if self.suggestion else None

    def as_dict(self) -> dict[str, Any]:
        content = {**asdict(self), "command": self.command}
        if self.estimate:
            content["estimate"]["sentence"] = str(self.estimate)
        return content
