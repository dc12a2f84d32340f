# %% [markdown]
# # Attention and its scores
#
# A decoder with attention looks at every position of the source. How does it choose where to look, what does that cost,
# and do the weights explain its output?

# %%
import math
from itertools import pairwise

import torch
from torch.utils.flop_counter import FlopCounterMode

import seqlab
from seqlab.attention.scores import Additive, Dot, ScaledDot
from seqlab.contracts import Trace
from seqlab.data.examples.synthetic.copying import LETTERS
from seqlab.models.translator import SourceBatch
from seqlab.plotting import new_figure
from seqlab.text_table import aligned_table

torch.manual_seed(0)
width, hidden = 16, 24
s_TD, h_SD = torch.randn(4, width), torch.randn(6, width)  # states of a decoder, and of an encoder

# %% [markdown]
# ## Score, normalize, combine, use
#
# At each step the decoder's state s is compared with every encoder state h: `e_j = score(s, h_j)`. A softmax makes
# weights of the scores, `a_j = exp(e_j) / Σ_k exp(e_k)`. The weighted sum `c = Σ_j a_j h_j` is the **context vector**,
# which the decoder uses to predict. Only the score is a matter of choice:
#
# | name | score |
# | --- | --- |
# | dot product | `s · h` |
# | general (Luong et al. 2015) | `s · W h` |
# | scaled dot product (Vaswani et al. 2017) | `s · h / √d` |
# | additive (Bahdanau et al. 2015) | `v · tanh(W₁ s + W₂ h + b)` |

# %%
additive, w_DD = Additive(width, width, hidden).requires_grad_(False), torch.randn(width, width)
by_hand = {
    "dot": [[sum(s_D * h_D) for h_D in h_SD] for s_D in s_TD],
    "general": [[sum(s_D * (w_DD @ h_D)) for h_D in h_SD] for s_D in s_TD],
    "scaled": [[sum(s_D * h_D) / math.sqrt(width) for h_D in h_SD] for s_D in s_TD],
    "additive": [
        [sum(additive.v_H * torch.tanh(additive.from_query(s_D) + additive.from_key(h_D))) for h_D in h_SD]
        for s_D in s_TD
    ],
}
ours = {
    "dot": Dot()(s_TD[None], h_SD[None]),
    "general": Dot()(s_TD[None], (h_SD @ w_DD.T)[None]),  # a dot product with projected keys
    "scaled": ScaledDot(width)(s_TD[None], h_SD[None]),
    "additive": additive(s_TD[None], h_SD[None]),
}
rows = [["score", *(f"a_{number}" for number in range(1, 7))]]
for name, scores_1TS in ours.items():
    torch.testing.assert_close(torch.tensor(by_hand[name]), scores_1TS[0], rtol=1e-4, atol=1e-5)
    rows.append([name, *(f"{weight:.2f}" for weight in scores_1TS[0, 0].softmax(0))])
print(aligned_table(rows))

# %% [markdown]
# Each loop gives what `seqlab.attention.scores` gives for all pairs at once. The weights of the first query differ from
# score to score; training decides what they mean.
#
# ## What it costs
#
# Predict: if source and target become twice as long, how many more multiplications does attention take? And an LSTM?


# %%
def operations(length):
    """In matrix products: attention with each score over a text as long as the output, and an LSTM, step by step."""
    states_1TD, lstm, state = torch.randn(1, length, 32), torch.nn.LSTMCell(32, 32), None
    score = Additive(32, 32, hidden)
    q_1TH, k_1TH = score.project_queries(states_1TD), score.project_keys(states_1TD)
    counters = {name: FlopCounterMode(display=False) for name in ("dot", "additive", "lstm")}
    with torch.no_grad(), counters["dot"]:
        _ = Dot()(states_1TD, states_1TD).softmax(2) @ states_1TD
    with torch.no_grad(), counters["additive"]:
        _ = score.of_projected(q_1TH, k_1TH).softmax(2) @ states_1TD
    with torch.no_grad(), counters["lstm"]:
        for x_1D in states_1TD.unbind(1):
            state = lstm(x_1D, state)
    return {name: counter.get_total_flops() for name, counter in counters.items()}


lengths = [64, 128, 256]
counted = [operations(length) for length in lengths]
for before, after in pairwise(counted):
    assert after["dot"] == 4 * before["dot"] and after["additive"] == 4 * before["additive"]
    assert after["lstm"] == 2 * before["lstm"]
assert lengths[0] == 64 and counted[0]["dot"] < counted[0]["lstm"] and hidden == 24
rows = [["positions", *counted[0]]]
rows += [[str(n), *(f"{flops:,}" for flops in each.values())] for n, each in zip(lengths, counted, strict=True)]
print(aligned_table(rows))

# %% [markdown]
# The counter sees matrix products: additions and multiplications, but no softmax and no tanh. Projections of queries
# and keys are left out; there is one for each position, so they grow like the LSTM. Attention takes 4 times as many
# operations for twice the length, the LSTM 2 times: every query meets every key. At 64 positions the LSTM still
# computes more than the dot product. It is often said that **an LSTM scales poorly with length and attention scales
# well**. Counted: it is the other way round. What attention has is parallelism: all its positions can be computed at
# once, while the LSTM has to wait for the step before. It is also said that **additive attention brings the quadratic
# cost**. Counted: the dot product has it too. What the additive score adds is not counted here: a vector of tanh for
# every pair, as wide as its hidden layer (here 24 numbers), which the dot product does without.
#
# ## An alignment that is known
#
# When letters are reversed, we know where the decoder must look. Training never says so. Predict the picture.

# %%
settings = {"corpus.difficulty": 8, "model.embedding": 32, "task.batch_size": 64, "task.beam": 1, "train.warmup": 50}
settings |= {"train.evaluate_every": 300, "train.threads": 1}  # more threads do not help a model this small
run = seqlab.train("reverse", arch="lstm", hidden=64, steps=300, lr=0.005, settings=settings, out="reverse")
letter_ids = torch.tensor(run.tokenizer.encode(" " + " ".join(LETTERS)))


@torch.no_grad()
def right(source_BS, replace=None):
    """The share of letters that are predicted right, each from the true ones before it; and the weights."""
    begin_B1 = torch.full((len(source_BS), 1), run.vocabulary.target_tokenizer.begin)
    target_BT, trace = source_BS.flip(1), Trace({} if replace is None else {"source.weights": replace})
    source = SourceBatch(source_BS, torch.ones_like(source_BS, dtype=torch.bool))
    logits_BTV = run.model(source, torch.cat([begin_B1, target_BT[:, :-1]], dim=1), trace=trace)
    return (logits_BTV.argmax(2) == target_BT).float().mean().item(), trace["source.weights"][:, :, 0]


draw = torch.Generator().manual_seed(0)
sources_BS = letter_ids[torch.rand(200, len(LETTERS), generator=draw).argsort(1)[:, :8]]  # different letters
share, weights_BTS = right(sources_BS)
on_true = weights_BTS.flip(2).diagonal(0, 1, 2).mean().item()
peak = (weights_BTS.argmax(2) == torch.arange(7, -1, -1)).float().mean().item()
print(f"right {share:.2f}; largest weight on the true letter in {peak:.0%}; its mean weight {on_true:.2f}")
assert share > 0.90 and peak > 0.90 and on_true < 0.95
figure = new_figure(4.2, 3.6)
axes = figure.subplots()
axes.imshow(weights_BTS[0].numpy(), cmap="Blues", vmin=0, vmax=1)
names = {int(number): letter for number, letter in zip(letter_ids, LETTERS, strict=True)}
labels = [names[int(number)] for number in sources_BS[0]]
axes.set_xticks(range(8), labels)
axes.set_yticks(range(8), labels[::-1])
axes.set(title="Where the decoder looks", xlabel="source", ylabel="written")
figure

# %% [markdown]
# More than 90% of the letters are right, and the largest weight is on the true letter in more than 90% of the steps:
# an alignment that nobody taught. The mean weight on it stays below 0.95. One possible reason, not tested here: the
# encoder reads both ways, so its state at a letter may carry the neighbors as well. A weight on a position need not
# be a weight on a letter.
#
# ## Weights are not an explanation
#
# It is often said that **attention weights show what the model bases its output on**. Test it: put other weights in
# their place and let the decoder go on. `hard` keeps only the largest, `shifted` looks one letter to the side,
# `uniform` looks everywhere. Predict each number, also for sources in which all letters are the same.


# %%
def hard(weights_BT1S):
    return torch.nn.functional.one_hot(weights_BT1S.argmax(3), 8).float()


ways = {
    "as they are": None,
    "hard": hard,
    "shifted": lambda weights: weights.roll(1, 3),
    "uniform": torch.ones(1, 1, 1, 1) / 8,
}
same_BS = letter_ids[:, None].expand(-1, 8)
different, same = ({way: right(each_BS, new)[0] for way, new in ways.items()} for each_BS in (sources_BS, same_BS))
same_peak = (right(same_BS)[1].argmax(2) == torch.arange(7, -1, -1)).float().mean().item()
rows = [["weights", "different letters", "the same letters"]]
print(aligned_table(rows + [[way, f"{different[way]:.0%}", f"{same[way]:.0%}"] for way in ways]))
print(f"the same letters: the largest weight on the matching position in {same_peak:.0%}")
assert different["hard"] > 0.90 and different["shifted"] < 0.40 and different["uniform"] < 0.40
assert same["uniform"] > 0.70 and same_peak > 0.50

# %% [markdown]
# With different letters the story holds: the largest weight alone is enough (more than 90% right), and other weights
# leave less than 40%. With equal letters the weights draw much the same picture, on the matching position in more than
# 50% of the steps, and mean little: uniform weights still give more than 70%. The picture cannot tell the two cases
# apart. The intervention can (Jain and Wallace 2019; Wiegreffe and Pinter 2019).
#
# Where attention pays: direct paths to distant positions, as in lesson 6. In a language model on characters, where the
# last few decide, it adds little to an LSTM: `seqlab compare --recipe evolution` measures that. To see alignments of
# your own translator, use `seqlab predict RUN "text" --attention`, and `--set task.attention=dot` (or `scaled`,
# `additive`, `none`) to choose the score when training.
#
# ## Exercises
#
# Check your file with `seqlab learn attention --check answer.py`.
#
# 1. `additive_scores(q_TD, k_SD, w_query_HD, w_key_HD, v_H)`: the additive scores of all pairs, without biases, as a
#    matrix with a row for each query.
# 2. `attend(scores_BTS, values_BSD, mask_BS)`: the context vectors, where the mask is true at source positions that
#    count and false at padding.
# 3. `multiplications(targets, sources, width)`: how many multiplications the dot-product scores and the weighted sums
#    take together.
