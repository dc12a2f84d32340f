# %% [markdown]
# # Recurrence
#
# How does one small network read a sequence of any length, and how does it learn from all of it?
#
# A recurrent network keeps a **state**. At every step it computes a new state from the input and the old state, and
# an output from the state, always with the same weights:
#
# ```text
# h_t = tanh(W x_t + U h_(t-1) + b)      the state
# y_t = V h_t + d                        the output
# ```
#
# First the loop written out, beside torch's. **Predict:** how many parameters does it need for ten steps, how many
# for a thousand?

# %%
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from seqlab.plotting import COLORS, light_grid, new_figure

torch.manual_seed(0)
INPUTS, HIDDEN, OUTPUTS = 3, 4, 2
rnn, output = nn.RNN(INPUTS, HIDDEN, bias=True, batch_first=True).double(), nn.Linear(HIDDEN, OUTPUTS).double()
W_HD, U_HH, b_H = rnn.weight_ih_l0, rnn.weight_hh_l0, rnn.bias_ih_l0 + rnn.bias_hh_l0  # torch keeps two biases


def unroll(x_TD: Tensor, W_HD: Tensor, U_HH: Tensor, b_H: Tensor) -> list[Tensor]:
    h_H, states = torch.zeros(len(b_H), dtype=x_TD.dtype), []
    for x_D in x_TD:
        h_H = torch.tanh(W_HD @ x_D + U_HH @ h_H + b_H)
        states.append(h_H)
    return states


for length in (10, 1000):
    x_TD = torch.randn(length, INPUTS, dtype=torch.float64)
    assert torch.allclose(torch.stack(unroll(x_TD, W_HD, U_HH, b_H)), rnn(x_TD[None])[0][0])
shared = W_HD.numel() + U_HH.numel() + b_H.numel()
print(f"{shared} parameters, for any length")
assert shared == 32

# %% [markdown]
# It has 32 parameters for any length: this is **weight sharing** over time. (Weight *tying* is something else: the
# output layer uses the embedding's matrix, `--set model.tie_embeddings=true`.)
#
# ## Backpropagation through time
#
# Unrolled, the loop is a deep network in which every layer has the same weights. So the gradient of a shared weight
# is the **sum** of what it would be at each step. Going backward, the slope of the state passes through one step at a
# time:
#
# ```text
# a_t = slope_t ⊙ (1 - h_t²)             through the tanh
# dU += a_t h_(t-1)ᵀ                     this step's share
# slope_(t-1) = Uᵀ a_t                   to the step before
# ```
#
# Here it is by hand, for a loss at the last step only, beside autograd.

# %%
x_TD = torch.randn(12, INPUTS, dtype=torch.float64)
weights = [weight.detach().clone().requires_grad_() for weight in (W_HD, U_HH, b_H)]
states = unroll(x_TD, *weights)
loss = cross_entropy(output(states[-1])[None], torch.tensor([1]))
by_autograd = torch.autograd.grad(loss, weights, retain_graph=True)

(slope_H,) = torch.autograd.grad(loss, states[-1])
U_HH, shares = weights[1].detach(), []
for t in reversed(range(12)):
    h_H = states[t].detach()
    before_H = states[t - 1].detach() if t > 0 else torch.zeros(HIDDEN, dtype=torch.float64)
    a_H = slope_H * (1 - h_H**2)
    shares.insert(0, (torch.outer(a_H, x_TD[t]), torch.outer(a_H, before_H), a_H))
    slope_H = U_HH.T @ a_H
by_hand = [torch.stack(parts).sum(0) for parts in zip(*shares, strict=True)]
assert all(torch.allclose(mine, theirs) for mine, theirs in zip(by_hand, by_autograd, strict=True))

norms_T = torch.stack([dW_HD.norm() for dW_HD, _, _ in shares])
assert norms_T[0] < 0.01 * norms_T[-1]

figure = new_figure(6.5, 2.6)
axes = figure.subplots()
axes.bar(range(1, 13), norms_T.tolist(), color=COLORS[0])
axes.set(title="What each step adds to the gradient of W", xlabel="step; the loss is at the last one", ylabel="norm")
light_grid(axes)
figure

# %% [markdown]
# Both agree. The bars fall quickly to the left: the first step adds less than 1% of what the last one does. That is
# the subject of the next lesson.
#
# ## Truncated backpropagation through time
#
# A text has a million characters, and the graph of all steps would not fit into memory. So one cuts: the state is
# carried on, but its history is dropped (`detach`). **Predict:** the answer is the first of 16 inputs. What does a
# network learn whose gradients go back 4 steps?


# %%
class Reader(nn.Module):
    """One output after each of the inputs."""

    def __init__(self, outputs: int, hidden: int = 24):
        super().__init__()
        self.recurrent, self.output = nn.RNN(2, hidden, batch_first=True), nn.Linear(hidden, outputs)

    def forward(self, bits_BT: Tensor, cut: int | None = None) -> Tensor:
        x_BTD, state, outputs = nn.functional.one_hot(bits_BT, 2).float(), None, []
        for part_BTD in x_BTD.split(cut or x_BTD.shape[1], dim=1):
            h_BTH, state = self.recurrent(part_BTD, None if state is None else state.detach())
            outputs.append(self.output(h_BTH))
        return torch.cat(outputs, dim=1)


def accuracy_after_training(target, length: int, cut: int | None = None, steps: int = 400) -> float:
    """`target`: from bits to the position that is scored and the labels there."""
    torch.manual_seed(1)
    model, draw = Reader(2), torch.Generator().manual_seed(2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(steps):
        position, label = target(bits_BT := torch.randint(2, (64, length), generator=draw))
        optimizer.zero_grad()
        cross_entropy(model(bits_BT, cut)[:, position].flatten(0, -2), label.flatten()).backward()
        optimizer.step()
    position, label = target(bits_BT := torch.randint(2, (2000, length), generator=draw))
    return (model(bits_BT)[:, position].argmax(-1) == label).float().mean().item()


def first_bit(bits_BT: Tensor) -> tuple[int, Tensor]:
    return -1, bits_BT[:, 0]


first_of_16 = {cut: accuracy_after_training(first_bit, 16, cut) for cut in (16, 4)}
print(f"first of 16 bits: {first_of_16[16]:.2f} with the whole history, {first_of_16[4]:.2f} with 4 steps of it")
assert first_of_16[16] > 0.95 and first_of_16[4] < 0.75

# %% [markdown]
# With the whole history the network is right more than 95% of the time, with 4 steps less than 75%: nothing tells it
# that the first input matters later. Truncation limits what is *learned*; a state that was trained otherwise still
# carries information across the cut. seqlab trains on windows (`--window`), and `task.mode=carry` scores with the
# state carried on.
#
# ## Does weight sharing forbid rules about positions?
#
# It is often said that shared weights cannot express a rule about one position, such as "the third word is special".
# Measured: the label is 1 at the third step and 0 at all others, and the inputs are random. Only a network that
# counts can know.


# %%
def third_step(bits_BT: Tensor) -> tuple[slice, Tensor]:
    label_BT = torch.zeros_like(bits_BT)
    label_BT[:, 3 - 1] = 1
    return slice(None), label_BT


counted = accuracy_after_training(third_step, 8)
print(f"which step is the third: {counted:.3f} right; always 0: {7 / 8:.3f}")
assert counted > 0.99

# %% [markdown]
# More than 99% right: the state counts. What sharing does take away is weights for one position: the network has to
# spend a part of its state on counting. In return every rule that is learned holds at every position, which the
# window of lesson 1 could not do.
#
# ## Patterns of tasks
#
# The loop is the same; tasks differ in which outputs are used.
#
# | pattern | example | outputs used | with seqlab |
# | --- | --- | --- | --- |
# | many to one | sentiment of a review | the last (or a mean of all) | `seqlab train reviews.tsv` |
# | many to many, aligned | the tag of each word; the next word after each | all | `seqlab train entities.conll` |
# | many to many, unaligned | translation | those of a second network | `seqlab train train.en train.de` |
# | one to many | text from a start symbol | all, each fed back as the next input | `seqlab generate RUN` |
#
# Next-word prediction is often called many to one. Measured: one pass over a text gives, at each step, exactly the
# prediction that a many-to-one pass over the text so far gives. So language models are trained as an aligned task:
# the targets are the inputs shifted by one, and a pass has as many predictions as there are words. To generate, only
# the state has to be kept, so that each word takes the same time however long the text is.

# %%
model = Reader(2)
bits_BT = torch.randint(2, (1, 8))
in_one_pass_TV = model(bits_BT)[0]
many_to_one_TV = torch.stack([model(bits_BT[:, : t + 1])[0, -1] for t in range(8)])
assert torch.allclose(in_one_pass_TV, many_to_one_TV, atol=1e-6)

bit, state, written = torch.zeros(1, 1, dtype=torch.long), None, []  # one to many: each output is the next input
for _ in range(8):
    h_BTH, state = model.recurrent(nn.functional.one_hot(bit, 2).float(), state)
    bit = model.output(h_BTH).argmax(-1)
    written.append(bit.item())
written

# %% [markdown]
# Several layers make a **stacked** network: the states of one layer are the inputs of the next (`--layers 2`). With
# two networks, one from each side, a **bidirectional** one sees the whole text at every step, so it cannot generate
# (lesson 13). `seqlab inspect RUN --text "..." --view step` writes out one step of a trained model with its numbers.
#
# ## Exercises
#
# Write a file `answer.py` that defines these functions. `seqlab learn 2 --check answer.py` checks them.
#
# 1. `step(x, h, W, U, b)`: the next state of the network above; all arguments are tensors, `x` and `h` have one
#    dimension.
# 2. `slope(w, u, xs)`: the derivative of the last state of `h_t = tanh(w x_t + u h_(t-1))` with respect to the number
#    `u`, where `xs` is a list of numbers and the first `h` is 0. Do it without autograd, forward or backward.
# 3. `last_states(h, lengths)`: sequences in a batch have different lengths and are padded on the right. From the
#    states `h` of shape (batch, time, hidden) and a tensor of lengths, take each sequence's last real state, for a
#    many-to-one task.
