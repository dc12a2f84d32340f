# %% [markdown]
# # The GRU
#
# Can a cell with two gates and no separate memory replace an LSTM, and what does it save?
#
# The gated recurrent unit (Cho et al. 2014) has one state. Its **update gate** decides how much of the state is kept,
# its **reset gate** how much of the state the candidate sees:
#
# ```text
# r = σ(W_r x + U_r h + b_r)                reset gate
# z = σ(W_z x + U_z h + b_z)                update gate
# n = tanh(W_n x + b_n + r ⊙ (U_n h + d))   candidate
# h' = (1 - z) ⊙ n + z ⊙ h                  a mixture of new and old
# ```
#
# This is torch's form, and seqlab's. The paper writes `h' = z ⊙ n + (1 - z) ⊙ h`, so its update gate is open where
# this one is closed, and it resets before the product, `U_n (r ⊙ h)` (`--set backbone.reset=before`). Written out,
# beside `torch.nn.GRU`:

# %%
import statistics
import time

import torch
from torch import Tensor, nn

import seqlab
from seqlab.plotting import COLORS, light_grid, new_figure

torch.manual_seed(0)


def step(x_D: Tensor, h_H: Tensor, gru: nn.GRU) -> tuple[Tensor, Tensor]:
    """The new state, and how much of the old one was kept."""
    r_x, z_x, n_x = (gru.weight_ih_l0 @ x_D + gru.bias_ih_l0).chunk(3)
    r_h, z_h, n_h = (gru.weight_hh_l0 @ h_H + gru.bias_hh_l0).chunk(3)
    r_H, z_H = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    n_H = torch.tanh(n_x + r_H * n_h)
    return (1 - z_H) * n_H + z_H * h_H, z_H


gru = nn.GRU(8, 64).double()
x_TD, h_H, kept = torch.randn(20, 8).double(), torch.zeros(64).double(), []
with torch.no_grad():
    for x_D in x_TD:
        h_H, z_H = step(x_D, h_H, gru)
        kept.append(z_H)
    assert torch.allclose(h_H, gru(x_TD)[0][-1])
left = torch.stack(kept).prod(0).mean().item()
print(f"after 20 steps, {left:.1e} of the first state is left on the direct path")
assert len(kept) == 20 and left < 0.0001

# %% [markdown]
# `(1 - z) + z` is one: the new state lies between the old state and the candidate. On the direct path the slope is
# multiplied by `z` at every step, as it is by the forget gate in an LSTM. And as there, a new network has gates near
# one half: after 20 steps less than 0.0001 is left. It has to learn to remember.
#
# ## What it saves
#
# Three matrices instead of four. **Predict** the ratio of parameters, and the ratio of time.

# %%
SIZES = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
networks = {name: kind(128, 128, batch_first=True) for name, kind in SIZES.items()}
parameters = {name: sum(map(Tensor.numel, network.parameters())) for name, network in networks.items()}
assert 4 * parameters["gru"] == 3 * parameters["lstm"] and parameters["gru"] == 3 * parameters["rnn"]


def milliseconds(network: nn.Module) -> float:
    """Of a pass forward and backward over 32 sequences of 32 steps; the median of several."""
    x_BTD, times = torch.randn(32, 32, 128), []
    for _ in range(9):
        began = time.perf_counter()
        network(x_BTD)[0].sum().backward()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


times = {name: milliseconds(network) for name, network in networks.items()}
for name in networks:
    print(f"{name:5} {parameters[name]:>9,} parameters   {times[name] / times['lstm']:.2f} of the time of the LSTM")

# %% [markdown]
# A GRU has exactly 3/4 of the parameters of an LSTM of the same width, and 3 times those of a plain network. The same
# holds for the multiplications of its matrix products; those of gates with states come on top. Time does not follow as
# exactly: it depends on the library's kernels, and the last column is what this computer measured just now. "The GRU
# is faster" is something to measure where you train: `seqlab bench` does.
#
# ## What it gives up
#
# The state of a GRU is a mixture of numbers between -1 and 1, so it stays between them. The cell of an LSTM is a sum
# and has no bound: a cell can **count** (Weiss et al. 2018). Both cells here have one unit, with weights set by hand,
# and read the same input 20 times. A weight of 20 opens the gates of the LSTM as far as they go. The update gate of the
# GRU is set to 0.9; wide open, it would let nothing in.

# %%
counting, mixing = nn.LSTMCell(1, 1, bias=False), nn.GRUCell(1, 1, bias=False)
x_11, h_and_c, h_11, lstm_counts, gru_mixes = torch.ones(1, 1), None, None, [0.0], [0.0]
with torch.no_grad():
    for weights in (counting.weight_hh, mixing.weight_hh):
        weights.zero_()
    counting.weight_ih.fill_(20)  # σ(20) and tanh(20) are nearly 1
    mixing.weight_ih.copy_(torch.tensor([[0], [torch.logit(torch.tensor(0.9))], [20]]))  # r, z, n
    for _ in range(20):
        h_and_c, h_11 = counting(x_11, h_and_c), mixing(x_11, h_11)
        lstm_counts.append(h_and_c[1].item())
        gru_mixes.append(h_11.item())

figure = new_figure(6.5, 2.6)
axes = figure.subplots()
axes.plot(lstm_counts, "o-", color=COLORS[0], label="LSTM: c with f = i = g = 1")
axes.plot(gru_mixes, "s-", color=COLORS[1], label="GRU: h with z = 0.9, n = 1")
axes.set(title="A cell counts, a mixture saturates", xlabel="inputs read", ylabel="state", xticks=range(0, 21, 5))
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# After 20 inputs the cell is at 20 and the mixture below 1. Counting is one ability. Which cell predicts **text**
# better? Two small models, the GRU a little wider so that both have nearly the same number of parameters, trained for
# a moment:

# %%
assert abs(lstm_counts[20] - 20) < 0.001 and -1 < gru_mixes[20] < 1 and abs(gru_mixes[1] - (1 - 0.9)) < 0.001

common = {"embedding": 32, "steps": 150, "window": 64, "batch_size": 16, "sample_tokens": 0, "threads": 1}
runs = {
    name: seqlab.train("python-docs", arch=name, hidden=hidden, out=name, overwrite=True, **common)
    for name, hidden in {"gru": 76, "lstm": 64}.items()
}
nats, sizes = {}, {}
for name, run in runs.items():
    assert run.results is not None
    nats[name] = run.results.validation["nats_per_token"]
    sizes[name] = sum(weights.numel() for weights in run.model.backbone.parameters())
    print(f"{name:5} {sizes[name]:,} parameters in the cells   {nats[name]:.2f} nats per character")
assert abs(nats["gru"] - nats["lstm"]) < 0.4 and abs(sizes["gru"] / sizes["lstm"] - 1) < 0.05

# %% [markdown]
# At equal size (within 5%) they are within 0.4 nats per character of each other. This is one seed and seconds of
# training: it ranks nothing. It is often said that the LSTM has a slight edge in quality and the GRU in speed.
# Whether that holds for your text is a question for several seeds, equal budgets and an interval: `seqlab compare
# my.txt --archs rnn,gru,lstm` (lesson 18).
#
# This is what the gates of the GRU do on a sentence:

# %%
runs["gru"].inspect("The class statement defines a new name.", "gates")

# %% [markdown]
# ## Exercises
#
# Write a file `answer.py` that defines these functions. `seqlab learn 5 --check answer.py` checks them.
#
# 1. `gru_step(x, h, W, U, b, d)`: the new state, in torch's form: `W` and `U` stack the rows for `r`, `z` and `n`,
#    `b` is added to `W x` and `d` to `U h`.
# 2. `equal_width(inputs, hidden)`: the largest width of `torch.nn.GRU(inputs, width)` with at most as many parameters
#    as `torch.nn.LSTM(inputs, hidden)`.
# 3. `paper_gate(W, U, b)`: the paper's update gate is open where torch's is closed. From the weights of one, compute
#    those of the other: three tensors, so that the two gates add up to one for every input.
