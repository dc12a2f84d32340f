"""Why attention needs the causal mask: an LSTM with unmasked attention copies its answers from the future.

The same weights are scored twice: with all states visible, and with the future hidden as it is during generation.
"""

from collections.abc import Callable
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from seqlab.attention.fast import attend_fast
from seqlab.attention.masks import Ranges, causal, everything
from seqlab.attention.scores import Additive
from seqlab.backbones.recurrent import Lstm
from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.config import CorpusSettings, resolve
from seqlab.data.text.corpus import open_corpus
from seqlab.data.text.split import split_text
from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.tasks.dataset import text_dataset
from seqlab.tasks.language import LanguageTask
from seqlab.text_table import aligned_table
from seqlab.threads import default_threads
from seqlab.training.step import seed_generators, step_seed

RangeOf = Callable[[Tensor], Ranges]  # from tokens_BT
EMBEDDING, HIDDEN, STEPS, LR, SEED = 128, 256, 500, 3e-4, 0
SCORED = 20  # validation batches


class UnmaskedLstm(nn.Module):
    """Embedding, LSTM, additive attention over the visible states, projection of [state; context]."""

    def __init__(self, vocab_size: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, EMBEDDING)
        self.recurrent = Lstm(LstmSettings(hidden=HIDDEN), EMBEDDING)
        self.score = Additive(HIDDEN, HIDDEN, HIDDEN)
        self.output = nn.Linear(2 * HIDDEN, vocab_size)

    def forward(self, tokens_BT: Tensor, visible: Ranges) -> Tensor:
        h_BTH, _ = self.recurrent(self.embedding(tokens_BT))
        q_BTH, k_BTH = self.score.project_queries(h_BTH), self.score.project_keys(h_BTH)
        context_BTH = attend_fast(self.score, q_BTH, k_BTH, h_BTH, visible)
        return self.output(torch.cat([h_BTH, context_BTH], dim=-1))


def mask_off(context: MeasureContext) -> Measurement:
    """Train with and without the mask; score both with everything visible and with the future hidden."""
    torch.set_num_threads(default_threads())
    settings = resolve({"corpus": {"source": ["tiny-shakespeare"]}})
    split = split_text(open_corpus(settings.corpus.source), CorpusSettings(source=settings.corpus.source))
    dataset = text_dataset(split, settings)
    task = LanguageTask.from_dataset(settings, dataset)
    data: dict[str, dict[str, float]] = {}
    for trained, range_of in (("mask on", past), ("mask off", all_positions)):
        seed_generators(SEED)
        model = UnmaskedLstm(dataset.vocabulary.tokenizer.vocab_size)
        train(model, task, range_of)
        data[trained] = {
            "everything visible": score(model, task, all_positions),
            "future hidden": score(model, task, past),
        }
    rows = [["validation loss", *data["mask on"]]]
    rows += [
        [f"trained with the {name}", *(f"{loss:.4f}" for loss in losses.values())] for name, losses in data.items()
    ]
    about = f"LSTM with additive attention, {STEPS:,} steps, Adam {LR:g}; nats per character over {SCORED} batches"
    return Measurement({"steps": STEPS, **data}, f"{about}\n{aligned_table(rows)}")


def past(tokens_BT: Tensor) -> Ranges:
    return causal(torch.zeros(len(tokens_BT), dtype=torch.long), tokens_BT.shape[1])


def all_positions(tokens_BT: Tensor) -> Ranges:
    B, T = tokens_BT.shape
    return everything(torch.full((B,), T), T)


def loss(model: UnmaskedLstm, task: LanguageTask, split: str, index: int, range_of: RangeOf) -> Tensor:
    batch = task.batch(split, SEED, index)
    logits_BTV = model(batch.inputs_BT, range_of(batch.inputs_BT))
    return cross_entropy(logits_BTV.flatten(0, 1), batch.targets_BT.flatten())


def train(model: UnmaskedLstm, task: LanguageTask, range_of: RangeOf) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=LR, fused=True)
    for step in range(STEPS):
        seed_generators(step_seed(SEED, step))
        optimizer.zero_grad(set_to_none=True)
        loss(model, task, "train", step, range_of).backward()
        optimizer.step()


@torch.inference_mode()
def score(model: UnmaskedLstm, task: LanguageTask, range_of: RangeOf) -> float:
    return fmean(float(loss(model, task, "validation", index, range_of)) for index in range(SCORED))
