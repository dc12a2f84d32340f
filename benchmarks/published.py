"""Plans against published trainings: the FLOPs, device hours or speed of known models.

Run `python -m benchmarks.published`. Every plan has the published width, depth, sequence length and batch, the peak of
the device, and the default assumptions of `seqlab plan`: one utilization for all. The papers do not give the number of
devices of every run; 512 are taken, and device hours depend little on it. Sources: Brown et al. 2020 (GPT-3,
table D.1); Touvron et al. 2023a (LLaMA, tables 2 and 15); Touvron et al. 2023b (Llama 2, tables 1 and 2);
github.com/mosaicml/llm-foundry, scripts/train/benchmarking/README.md (MPT on H100, sharded, torch).
"""

from dataclasses import dataclass
from typing import Any, Literal

from seqlab.scale.cluster import Cluster
from seqlab.scale.layout import Layout, best_layout
from seqlab.scale.model import SizedModel, model_of_size
from seqlab.scale.plan import ScalePlan
from seqlab.text_table import aligned_table

A100, H100, MEMORY = 312e12, 989e12, 80e9


@dataclass(frozen=True)
class PublishedRun:
    """`kind`: what was published, in FLOPs, device hours, or tokens per second and device."""

    name: str
    hidden: int
    layers: int
    vocab_size: int
    window: int
    batch_tokens: float
    tokens: float
    devices: int
    peak: float
    kind: Literal["FLOPs", "hours", "speed"]
    value: float
    rows: int | None = None  # of a device at once, sharded; None: as the plan chooses
    recompute: bool = False

    @property
    def model(self) -> SizedModel:
        return model_of_size("transformer", 1e9, self.vocab_size, self.window, self.layers, self.hidden)

    def planned(self) -> float:
        """The same number by our plan."""
        model, cluster = self.model, Cluster(self.devices, self.peak, MEMORY)
        if self.kind == "FLOPs":
            return self.tokens * model.flops_per_token()
        batch = round(self.batch_tokens / self.window)
        layout = best_layout(model, cluster, batch)
        assert layout is not None, f"{self.name} does not fit"
        if self.rows is not None:
            at_once = self.devices * self.rows
            layout = Layout(model, cluster, at_once, batch // at_once, 1, sharded=True, recompute=self.recompute)
        plan = ScalePlan(layout, self.tokens)
        return plan.device_hours if self.kind == "hours" else self.tokens / plan.seconds / self.devices


LLAMA: dict[str, Any] = {
    "vocab_size": 32_000,
    "window": 2048,
    "batch_tokens": 2**22,
    "devices": 512,
    "peak": A100,
    "kind": "hours",
}
LLAMA_2: dict[str, Any] = {**LLAMA, "window": 4096, "tokens": 2e12}
MPT: dict[str, Any] = {"vocab_size": 50_368, "window": 2048, "tokens": 1e9, "peak": H100, "kind": "speed"}
RUNS = [
    PublishedRun("GPT-3 175B", 12_288, 96, 50_257, 2048, 3.2e6, 3e11, 1024, A100, "FLOPs", 3.14e23),
    PublishedRun("LLaMA 7B", 4096, 32, tokens=1e12, value=82_432, **LLAMA),
    PublishedRun("LLaMA 13B", 5120, 40, tokens=1e12, value=135_168, **LLAMA),
    PublishedRun("LLaMA 33B", 6656, 60, tokens=1.4e12, value=530_432, **LLAMA),
    PublishedRun("LLaMA 65B", 8192, 80, tokens=1.4e12, value=1_022_362, **{**LLAMA, "devices": 2048}),
    PublishedRun("Llama 2 7B", 4096, 32, value=184_320, **LLAMA_2),
    PublishedRun("Llama 2 13B", 5120, 40, value=368_640, **LLAMA_2),
    PublishedRun("Llama 2 70B", 8192, 80, value=1_720_320, **LLAMA_2),
    PublishedRun("MPT 1B", 2048, 24, batch_tokens=2_621_440, devices=64, value=44_402, rows=20, **MPT),
    PublishedRun("MPT 3B", 2560, 32, batch_tokens=2_359_296, devices=64, value=22_525, rows=6, **MPT),
    PublishedRun("MPT 7B", 4096, 32, batch_tokens=98_304, devices=8, value=10_643, rows=6, **MPT),
    PublishedRun("MPT 30B", 7168, 48, batch_tokens=2_752_512, devices=32, value=2308, rows=14, recompute=True, **MPT),
    PublishedRun("MPT 70B", 8192, 80, batch_tokens=4_194_304, devices=64, value=1039, rows=8, recompute=True, **MPT),
]


def main() -> None:
    rows = [["", "devices", "", "published", "plan", "ratio"]]
    for run in RUNS:
        planned = run.planned()
        rows.append([run.name, f"{run.devices:,}", run.kind, f"{run.value:,.4g}", f"{planned:,.4g}",
                     f"{planned / run.value:.2f}"])  # fmt: skip
    print(aligned_table(rows))


if __name__ == "__main__":
    main()
