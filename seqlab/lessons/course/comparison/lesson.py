# %% [markdown]
# # Reading a comparison
#
# A study reports that one model has a loss of 1.7179 and another 1.7076. Is the second one better, and what else must
# you know before you believe it?

# %%
import math
from itertools import combinations, product
from pathlib import Path
from statistics import fmean, stdev

import torch
from scipy.stats import t as student

import seqlab
from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.config import ModelSettings
from seqlab.data.text.corpus import open_corpus
from seqlab.models.parameter_count import token_parameters
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

torch.set_num_threads(1)  # small models are fastest on one
plain, attentive = 1.7179, 1.7076  # an LSTM and an LSTM with attention, nats per character, one run each
gain = plain - attentive
rows = [["", "nats", "perplexity", "bits"]]
for name, loss in (("LSTM", plain), ("LSTM with attention", attentive)):
    rows.append([name, f"{loss:.4f}", f"{math.exp(loss):.2f}", f"{loss / math.log(2):.3f}"])
print(aligned_table(rows))
assert round(gain, 4) == 0.0103 and plain == 1.7179 and attentive == 1.7076
assert round(math.exp(plain), 2) == 5.57 and round(math.exp(attentive), 2) == 5.52
assert round(plain / math.log(2), 2) == 2.48

# %% [markdown]
# First the units, which say the same three times: perplexity is `exp(loss)`, 5.57 and 5.52; bits are nats divided by
# ln 2, 2.48 for the first. The difference is 0.0103 nats. The study trained each model **once**. Had it begun with
# other random weights, both numbers would be others. **Predict:** by how much do two runs of the same model differ?
#
# We make a small comparison here and now: equal sizes, equal steps, four seeds for each model. `seqlab.compare` plans
# it, trains, and judges on text that nobody has looked at before.

# %%
text = " ".join("".join(open_corpus(("python-docs",)).blocks()).split())[:90_000]
Path("docs.txt").write_text(text)
comparison = seqlab.compare(
    "docs.txt", archs=["lstm", "lstm-attention"], seeds=4, match="params=10k", budget="steps=80", tune=0,
    out="runs/comparison", settings={"task.window": 48, "model.embedding": 32, "train.lr": 0.01},
)  # fmt: skip
results = comparison.results
losses = {entrant.name: [run.value for run in results.runs_of(entrant.name)] for entrant in results.entrants}
print(comparison.table())
print(comparison.verdicts[0])

# %%
same = [abs(a - b) for values in losses.values() for a, b in combinations(values, 2)]
single = [
    a - b for a, b in product(losses["lstm"], losses["lstm-attention"])
]  # what a study with one seed might report
difference = fmean(losses["lstm"]) - fmean(losses["lstm-attention"])
variance = sum(stdev(values) ** 2 / len(values) for values in losses.values())
half = float(student.ppf(0.975, 2 * (4 - 1))) * math.sqrt(variance)
print(f"two seeds of the same model differ by up to {max(same):.4f} nats, {fmean(same):.4f} on average")
print(f"one run against one run: from {min(single):+.4f} to {max(single):+.4f}")
print(f"four against four: {difference:+.4f}, 95% interval {difference - half:+.4f} to {difference + half:+.4f}")
figure = new_figure(7.5, 2.8)
left, right = figure.subplots(1, 2)
for at, (color, values) in enumerate(zip(COLORS, losses.values(), strict=False)):
    left.plot([at] * len(values), values, "o", color=color)
    left.hlines(fmean(values), at - 0.2, at + 0.2, color=color)
left.set(title="every seed, and the mean", ylabel="loss (nats per character)", xticks=[0, 1], xlim=(-0.5, 1.5))
left.set_xticklabels(list(losses))
right.plot(single, [1] * len(single), "|", color=COLORS[0], markersize=14)
right.errorbar(difference, 0, xerr=half, fmt="o", color=COLORS[1], capsize=4)
right.axvspan(-gain, gain, color="gray", alpha=0.25, label="0.0103")
right.axvline(0, color="gray", linestyle=":")
right.set(title="LSTM minus LSTM with attention", xlabel="nats", yticks=[0, 1], ylim=(-0.7, 1.9))
right.set_yticklabels(["four seeds,\n95% interval", "single runs"])
right.legend(loc="upper left")
light_grid(left)
light_grid(right)
assert max(same) > 0.0103 and half > 0.0103
figure

# %% [markdown]
# Two seeds of one model differ by more than 0.0103 nats, and even four seeds leave an interval that is wider than that
# on both sides. So a difference of 0.0103 between single runs shows nothing **at this scale**. Longer runs on more text
# scatter less; the study may be right, but its table cannot show it. The verdict of seqlab says how many seeds would
# be needed; its interval also counts the choice of the test text.
#
# ## Equal in what?
#
# It is often said that training for 50 epochs instead of 10 takes "50 times longer". Measured: 5 times as many steps
# and tokens, and that only on the same text with the same batches. **Predict** what else differs if the 10 epochs were
# an LSTM's and the 50 a Transformer's, as in a study of two models of width 256 with a vocabulary of 2,000.

# %%
V, width, tokens, batch, window = 2000, 256, 400_000, 32, 128
lstm = seqlab.build("lstm", vocab_size=V, embedding=width, hidden=width, layers=2)
transformer = seqlab.build(
    "transformer",
    vocab_size=V,
    embedding=width,
    hidden=width,
    layers=3,
    heads=4,
    feedforward=512,
    positions="sinusoidal",
)
rows, cost = [["", "epochs", "steps", "tokens", "TFLOPs"]], {}
for name, model, epochs in (("LSTM", lstm, 10), ("LSTM", lstm, 50), ("Transformer", transformer, 50)):
    steps, flops = epochs * tokens / (batch * window), 3 * epochs * tokens * model.flops_per_token(window)
    cost[name, epochs] = (steps, epochs * tokens, flops)  # backward costs twice as much as forward
    rows.append([name, str(epochs), f"{steps:,.0f}", f"{epochs * tokens:,}", f"{flops / 1e12:.0f}"])
print(aligned_table(rows))
ratios = [after / before for before, after in zip(cost["LSTM", 10], cost["LSTM", 50], strict=True)]
assert all(math.isclose(ratio, 5) for ratio in ratios) and 50 / 10 == 5 and V == 2000 and width == 256
assert cost["Transformer", 50][2] > 5.5 * cost["LSTM", 10][2]
by_time = {entrant.name: entrant.step_seconds for entrant in results.entrants}
print({name: f"{1000 * seconds:.1f} ms per step" for name, seconds in by_time.items()})

# %% [markdown]
# In FLOPs the Transformer's 50 epochs are more than 5.5 times the LSTM's 10, and in seconds the ratio is yet another,
# because recurrent steps cannot run in parallel. In our comparison both models did equally many steps, and the one
# with attention took longer for each. Equal epochs, steps, FLOPs and seconds are four different contests. A fair report
# names one and shows the others. So does the report in the comparison's folder, with a figure for each.
#
# ## Do the parts add up?
#
# The same study gives 512 K + 1.4 M + 512 K parameters for its LSTM and a total of 2.1 M. The parts make 2.4 M. Which
# number is wrong?

# %%
settings = ModelSettings(embedding=width, tie_embeddings=False)
count = token_parameters(settings, LstmSettings(hidden=width, layers=2), V)
layer = 4 * width * (width + width + 2)  # four gates: weights of input and state, two biases
other = token_parameters(settings, TransformerSettings(hidden=width, layers=3, heads=4, feedforward=512), V)
rows = [["", "embedding", "core", "output", "total"]]
for name, parts in (("LSTM", count), ("Transformer", other)):
    rows.append([name, *(f"{part:,}" for part in (parts.embedding, parts.core, parts.output, parts.total))])
print(aligned_table(rows))
assert round((512 + 1400 + 512) / 1000, 1) == 2.4 and count.core < 1.4 * 1e6
assert count.core == 2 * layer == 1_052_672 and count.total == 2_078_672 and round(count.total / 1e6, 1) == 2.1
assert count.embedding == 512_000 and count.total == sum(tensor.numel() for tensor in lstm.parameters())
assert (
    5000 * width == 1.28e6 and round(0.512 + 1.28 + 1.5 + 0.512, 1) == 3.8 > 3.4 and round(other.total / 1e6, 1) == 2.6
)

# %% [markdown]
# The total is right, 2,078,672; the part is wrong: two LSTM layers have 1,052,672 parameters, not 1.4 M. For its
# Transformer the study lists parts that make 3.8 M and a total of 3.4 M. The trained parameters are 2.6 M: a table of
# 5000 sinusoidal positions (1.28 M numbers) is fixed and counts for nothing. Sums cost a minute to check, and a table
# that does not add up says how carefully the rest was made.
#
# What to ask of a comparison: How many seeds, and what interval? Equal in what? Tuned equally? (Identical settings are
# not: a learning rate that suits one model may not suit the other.) Judged on text that was used to choose nothing?
# What do simple baselines reach? Above, counting n-grams beats both models. A table of adjectives ("limited range",
# "excellent") is no comparison: `seqlab inspect A B --text T --view memory` measures range, `seqlab bench RUN` speed.
#
# Limits: eighty steps of tiny models compare how fast they begin to learn. Go on with
# `seqlab compare my.txt --archs lstm,lstm-attention --seeds 5 --minutes 30`, with `--recipe evolution` (and
# `evolution-512`: do longer windows favor attention?) and `--recipe simple-lm-bpe`, which repeat the two studies. Then
# make the winner smaller: `seqlab distill` and `seqlab quantize` report what that costs.
#
# ## Exercises
#
# 1. `interval(a, b)`: two lists of losses, one for each seed, equally long. Return the pair (low, high): the `95%`
#    interval of the difference of the means, `a` minus `b`, as above.
# 2. `lstm_parameters(vocab_size, embedding, hidden, layers)`: embedding, layers (two bias vectors in each) and an
#    output layer with a bias.
# 3. `ratios(epochs_a, flops_a, epochs_b, flops_b)`: for two models on the same text with the same batches and their
#    FLOPs per token, return the pair: how many times as many steps, how many times as many FLOPs the second one takes.
