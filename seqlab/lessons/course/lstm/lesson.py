# %% [markdown]
# # The LSTM
#
# How can a network decide what to remember, what to forget and what to show?
#
# The long short-term memory (Hochreiter and Schmidhuber 1997; the forget gate is from Gers et al. 2000) has two
# states: the **cell** `c`, its memory, and the **hidden state** `h`, which the rest of the network sees. Three gates,
# numbers between zero and one for each unit, control the cell:
#
# ```text
# i = σ(W_i x + U_i h + b_i)        input gate: how much to write
# f = σ(W_f x + U_f h + b_f)        forget gate: how much of the cell to keep
# g = tanh(W_g x + U_g h + b_g)     candidate: what to write
# o = σ(W_o x + U_o h + b_o)        output gate: how much to show
# c' = f ⊙ c + i ⊙ g                what to remember
# h' = o ⊙ tanh(c')                 what to expose
# ```
#
# Written out, with the four matrices stacked in one so that one product computes all of them, beside `torch.nn.LSTM`:

# %%
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from seqlab.plotting import COLORS, light_grid, new_figure

torch.manual_seed(0)


def step(x_D: Tensor, h_H: Tensor, c_H: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The new h and c, and the forget gate."""
    i_H, f_H, g_H, o_H = (W @ x_D + U @ h_H + b).chunk(4)
    c_H = torch.sigmoid(f_H) * c_H + torch.sigmoid(i_H) * torch.tanh(g_H)
    return torch.sigmoid(o_H) * torch.tanh(c_H), c_H, torch.sigmoid(f_H)


lstm = nn.LSTM(3, 5).double()
W, U, b = lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0 + lstm.bias_hh_l0
x_TD, h_H, c_H = torch.randn(20, 3).double(), torch.zeros(5).double(), torch.zeros(5).double()
with torch.no_grad():
    for x_D in x_TD:
        h_H, c_H, _ = step(x_D, h_H, c_H, W, U, b)
    assert torch.allclose(h_H, lstm(x_TD)[0][-1]) and torch.allclose(c_H, lstm(x_TD)[1][1][0])
print(f"{sum(map(Tensor.numel, (W, U, b)))} weights: four times those of a plain network")
assert sum(map(Tensor.numel, (W, U, b))) == 4 * 5 * (3 + 5 + 1)

# %% [markdown]
# ## What to remember, what to expose
#
# This LSTM has one unit, and its weights are set by hand. The inputs are a value, a signal to write and a signal to
# read. **Predict** `c` and `h` at each step: it writes 0.8 at step 3 and reads at step 9.

# %%
value, write, read = torch.eye(3).double()
W = torch.stack([20 * write, -20 * write, value, 20 * read])  # i opens on write, f closes on write, o opens on read
U, b = torch.zeros(4, 1).double(), torch.tensor([-10, 10, 0, -10]).double()
x_TD = torch.rand(12, 3).double() * value * 2 - value  # other values all the time, to be ignored
x_TD[2] = torch.tensor([1.0986, 1, 0])  # tanh(1.0986) = 0.8
x_TD[8, 2] = 1
h_H, c_H, cells, shown = torch.zeros(1).double(), torch.zeros(1).double(), [], []
for x_D in x_TD:
    h_H, c_H, _ = step(x_D, h_H, c_H, W, U, b)
    cells.append(c_H.item())
    shown.append(h_H.item())

figure = new_figure(6.5, 2.8)
axes = figure.subplots()
axes.step(range(1, 13), cells, where="mid", color=COLORS[0], label="c, remembered")
axes.bar(range(1, 13), shown, color=COLORS[1], label="h, exposed", width=0.5)
axes.set(title="A cell that is written once and read once", xlabel="step")
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# From step 3 on the cell holds 0.8 and ignores what comes; outside sees it at step 9 only. A plain network cannot
# separate the two: its state is its output.

# %%
assert all(abs(c - 0.8) < 0.01 for c in cells[3 - 1 :]) and all(abs(c) < 0.01 for c in cells[: 3 - 1])
assert shown[9 - 1] > 0.6 and all(abs(h) < 0.01 for step, h in enumerate(shown, 1) if step != 9)

# %% [markdown]
# ## The path through the cell
#
# `c' = f ⊙ c + i ⊙ g` has no matrix and no tanh around `c`. Along this path the slope is multiplied by the forget
# gates and by nothing else: `dc_T / dc_(T-k) = f_T f_(T-1) ... f_(T-k+1)`. It is often said that gradients do not
# vanish **because** the update is a sum. **Predict:** a new LSTM has forget gates near one half. What is left after
# 20 steps? And if the bias of the forget gate starts at 1, as Jozefowicz et al. (2015) recommend, or at 5?

# %%
HIDDEN, STEPS = 64, 40


def slopes(forget_bias: float) -> tuple[list[float], list[float]]:
    """Mean slope of a cell with respect to itself k steps before: along the cell, and by all paths."""
    torch.manual_seed(1)
    lstm = nn.LSTM(8, HIDDEN).double()
    W, U, b = lstm.weight_ih_l0.detach(), lstm.weight_hh_l0.detach(), torch.zeros(4 * HIDDEN).double()
    b[HIDDEN : 2 * HIDDEN] = forget_bias
    h_H, cells, kept = torch.zeros(HIDDEN).double(), [torch.zeros(HIDDEN).double().requires_grad_()], []
    for x_D in torch.randn(STEPS, 8).double():
        h_H, c_H, f_H = step(x_D, h_H, cells[-1], W, U, b)
        cells.append(c_H)
        kept.append(f_H.detach())
    product_H, along, full = torch.ones(HIDDEN).double(), [], []
    for t in range(STEPS, 0, -1):
        product_H = product_H * kept[t - 1]
        along.append(product_H.mean().item())
        some = [torch.autograd.grad(cells[-1][unit], cells[t - 1], retain_graph=True)[0][unit] for unit in range(8)]
        full.append(torch.stack(some).abs().mean().item())
    return along, full


curves = {bias: slopes(bias) for bias in (0, 1, 5)}
figure = new_figure(6.5, 3.2)
axes = figure.subplots()
for (bias, (along, full)), color in zip(curves.items(), COLORS, strict=False):
    axes.semilogy(range(1, STEPS + 1), along, color=color, label=f"forget bias {bias}")
    axes.semilogy(range(1, STEPS + 1), full, ":", color=color)
axes.set(title="Slope of a cell by distance (dotted: by all paths)", xlabel="steps back", ylabel="dc_T / dc_(T-k)")
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# With bias 0 less than 0.0001 is left after 20 steps: the sum alone does not help, the factor is the forget gate.
# With bias 1 it is less than 0.01, with bias 5 more than 0.8. Every gate is learned and can differ for each unit and
# each step, so a trained LSTM keeps some cells for long and clears others. But it has to start somewhere. Does the
# start matter for learning? The task is that of lesson 3: name the first of 40 bits.

# %%
assert curves[0][0][20 - 1] < 0.0001 and curves[1][0][20 - 1] < 0.01 and curves[5][0][20 - 1] > 0.8


def accuracy(forget_bias: float, length: int, steps: int = 200) -> float:
    torch.manual_seed(0)
    recurrent, output = nn.LSTM(2, 32, batch_first=True), nn.Linear(32, 2)
    with torch.no_grad():
        recurrent.bias_hh_l0[32:64] = 0
        recurrent.bias_ih_l0[32:64] = forget_bias

    def predict(bits_BT: Tensor) -> Tensor:
        return output(recurrent(one_hot(bits_BT, 2).float())[0][:, -1])

    optimizer = torch.optim.Adam([*recurrent.parameters(), *output.parameters()], lr=0.01)
    for _ in range(steps):
        bits_BT = torch.randint(2, (32, length))
        optimizer.zero_grad()
        cross_entropy(predict(bits_BT), bits_BT[:, 0]).backward()
        optimizer.step()
    bits_BT = torch.randint(2, (1000, length))
    return (predict(bits_BT).argmax(1) == bits_BT[:, 0]).float().mean().item()


learned = {(bias, length): accuracy(bias, length) for bias, length in ((0, 40), (5, 40))}
for (bias, length), share in learned.items():
    print(f"forget bias {bias}: {share:.2f} right after {length} bits")
assert learned[0, 40] < 0.6 and learned[5, 40] > 0.95

# %% [markdown]
# With bias 0 the same network guesses, less than 60% right; with bias 5 it is right more than 95% of the time. So "an
# LSTM remembers for hundreds of steps" is a statement about its forget gates, not about its equations. The start at 5
# suits this task; on text, where most of the past may be forgotten, seqlab starts at 1 (`--set
# backbone.forget_bias=1`).
#
# Look at trained gates with `seqlab inspect RUN --text "..." --view gates`, at a single step with `--view step`, at
# cells that follow quotes or line ends with `--view cells`, and compare with a plain network: `seqlab compare my.txt
# --archs rnn,lstm`.
#
# ## Exercises
#
# Write a file `answer.py` that defines these functions. `seqlab learn 4 --check answer.py` checks them.
#
# 1. `lstm_step(x, h, c, W, U, b)`: the new `h` and `c`. The gates are stacked in torch's order: input, forget,
#    candidate, output.
# 2. `lstm_parameters(inputs, hidden)`: how many parameters `torch.nn.LSTM(inputs, hidden)` has; it keeps two biases.
# 3. `forget_bias(share, steps)`: the bias of a forget gate without other inputs that keeps the share `share` of a
#    slope over `steps` steps.
