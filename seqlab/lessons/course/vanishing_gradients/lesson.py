# %% [markdown]
# # Vanishing gradients
#
# Why do plain recurrent networks not learn over long distances, and does clipping help?
#
# Backward through time, the slope of the loss passes through one step after another. A step of `h_t = φ(W x_t + U
# h_(t-1) + b)` multiplies it by the **Jacobian** `J_t = diag(φ'(a_t)) U`, where `a_t` is what φ is applied to. Over k
# steps it is multiplied by a product of k matrices:
#
# ```text
# dh_T / dh_(T-k) = J_T J_(T-1) ... J_(T-k+1)
# ```
#
# Products of many factors shrink or grow exponentially. The slope of the sigmoid is at most 0.25, that of tanh and of
# ReLU at most 1. **Predict:** which of the three loses the gradient first?

# %%
import math

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot
from torch.nn.utils import clip_grad_norm_

from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

HIDDEN, STEPS = 64, 40
ACTIVATIONS = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}
torch.manual_seed(0)
bound = 1 / math.sqrt(HIDDEN)
default_HH = torch.empty(HIDDEN, HIDDEN, dtype=torch.float64).uniform_(-bound, bound)  # as torch starts
x_TH = torch.randn(STEPS, HIDDEN, dtype=torch.float64)  # what the inputs add at each step


def states(activation, U_HH: Tensor, x_TH: Tensor) -> list[Tensor]:
    found = [torch.zeros(HIDDEN, dtype=torch.float64, requires_grad=True)]
    for x_H in x_TH:
        found.append(activation(x_H + U_HH @ found[-1]))
    return found


def jacobian(after_H: Tensor, before_H: Tensor) -> Tensor:
    rows = [torch.autograd.grad(unit, before_H, retain_graph=True)[0] for unit in after_H]
    return torch.stack(rows)


def norm_by_distance(activation, U_HH: Tensor, x_TH: Tensor) -> list[float]:
    """The largest singular value of the product of 1, 2, ... Jacobians, back from the last step."""
    h, product_HH, norms = states(activation, U_HH, x_TH), torch.eye(HIDDEN, dtype=torch.float64), []
    for t in range(len(h) - 1, 0, -1):
        product_HH = product_HH @ jacobian(h[t], h[t - 1])
        norms.append(torch.linalg.matrix_norm(product_HH, 2).item())
    return norms


grid = torch.linspace(-5, 5, 1001, dtype=torch.float64, requires_grad=True)
steepest = {name: torch.autograd.grad(f(grid).sum(), grid)[0].max().item() for name, f in ACTIVATIONS.items()}
assert steepest == {"sigmoid": 0.25, "tanh": 1, "relu": 1}

norms = {name: norm_by_distance(f, default_HH, x_TH) for name, f in ACTIVATIONS.items()}
figure = new_figure(6.5, 3.2)
axes = figure.subplots()
for (name, curve), color in zip(norms.items(), COLORS, strict=False):
    axes.semilogy(range(1, STEPS + 1), curve, label=name, color=color)
axes.set(title="Norm of the product of Jacobians", xlabel="steps back", ylabel="largest singular value")
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# A straight line on this scale is exponential decay. With torch's initial weights the gradient of tanh is below 0.01
# after 10 steps and below 0.000001 after 20, and ReLU is no better. The sigmoid is below 0.000001 after 10 steps.
#
# The product of Jacobians is not a theory about the gradient. It *is* the gradient:

# %%
h = states(torch.tanh, default_HH, x_TH[:10])
product_HH = torch.eye(HIDDEN, dtype=torch.float64)
for t in range(10, 0, -1):
    product_HH = product_HH @ jacobian(h[t], h[t - 1])
assert torch.allclose(product_HH, jacobian(h[10], h[0]), atol=1e-12)
assert norms["tanh"][10 - 1] < 0.01 and norms["tanh"][20 - 1] < 0.000001 and norms["sigmoid"][10 - 1] < 0.000001

# %% [markdown]
# ## Which singular values decide?
#
# It is often said that gradients vanish if the largest singular value of `U` is below 1 and explode if it is above 1.
# **Predict** the last column, the factor per step over all 40 steps, for these networks.

# %%
orthogonal_HH = nn.init.orthogonal_(torch.empty(HIDDEN, HIDDEN, dtype=torch.float64))
upper_HH = 0.375 * torch.randn(HIDDEN, HIDDEN, dtype=torch.float64).triu(1)  # all its eigenvalues are 0
networks = {
    "torch's start, tanh": (torch.tanh, default_HH, x_TH),
    "triangular, tanh": (torch.tanh, upper_HH, x_TH),
    "1.2 x orthogonal, tanh": (torch.tanh, 1.2 * orthogonal_HH, x_TH),
    "the same, small inputs": (torch.tanh, 1.2 * orthogonal_HH, 0.1 * x_TH),
    "2 x orthogonal, relu": (torch.relu, 2 * orthogonal_HH, x_TH),
}
factors, largest = {}, {}
for name, network in networks.items():
    factors[name] = norm_by_distance(*network)[-1] ** (1 / STEPS)
    largest[name] = torch.linalg.matrix_norm(network[1], 2).item()
rows = [[name, f"{largest[name]:.2f}", f"{factors[name]:.2f}"] for name in networks]
print(aligned_table([["network", "largest singular value of U", "factor per step"], *rows]))

# %% [markdown]
# In every row the largest singular value of `U` is above 1. In the first three the gradient vanishes all the same,
# with a factor below 0.9. The third and the fourth row have the *same* matrix: with large inputs tanh saturates, its
# slopes are small, and the gradient vanishes; with small inputs it grows. So `U` alone does not decide.
#
# What holds: if the largest singular value of `U` is below 1 and the slopes are at most 1, the gradient vanishes,
# because the norm of a product is at most the product of the norms. The converse is false. The singular values **of
# the product of Jacobians** decide, and they depend on the weights, the activation and the inputs. `seqlab inspect
# RUN --text "..." --view gradients` measures them for a trained model.

# %%
assert min(largest.values()) > 1
assert max(list(factors.values())[:3]) < 0.9
assert factors["the same, small inputs"] > 1 and factors["2 x orthogonal, relu"] > 1.2
assert STEPS == 40

# %% [markdown]
# ## What clipping does
#
# Clipping rescales a gradient whose norm is above a limit. For gradients that explode, like those of the last row, it
# saves the training, because one huge step would ruin the weights. Does it also help gradients that vanish, as one
# can read? The network has to name the first of T bits after it has read them all. **Predict** the two curves:
# without clipping, and clipped at a norm of `0.1`.


# %%
def gradient_descent(length: int, limit: float, steps: int = 250) -> float:
    """The accuracy of an RNN that was trained with plain gradient descent."""
    torch.manual_seed(0)
    recurrent, output = nn.RNN(2, 32, batch_first=True), nn.Linear(32, 2)
    weights = [*recurrent.parameters(), *output.parameters()]
    optimizer = torch.optim.SGD(weights, lr=0.3)

    def predict(bits_BT: Tensor) -> Tensor:
        return output(recurrent(one_hot(bits_BT, 2).float())[0][:, -1])

    for _ in range(steps):
        bits_BT = torch.randint(2, (64, length))
        optimizer.zero_grad()
        cross_entropy(predict(bits_BT), bits_BT[:, 0]).backward()
        clip_grad_norm_(weights, limit)
        optimizer.step()
    bits_BT = torch.randint(2, (2000, length))
    return (predict(bits_BT).argmax(1) == bits_BT[:, 0]).float().mean().item()


lengths = [5, 10, 20, 40]
unclipped = {length: gradient_descent(length, limit=math.inf) for length in lengths}
clipped = {length: gradient_descent(length, limit=0.1) for length in lengths}
figure = new_figure(6.5, 2.8)
axes = figure.subplots()
axes.plot(lengths, [*unclipped.values()], "o-", color=COLORS[0], label="no clipping")
axes.plot(lengths, [*clipped.values()], "s--", color=COLORS[1], label="clipped at 0.1")
axes.set(title="Naming the first of T bits", xlabel="T", ylabel="accuracy", ylim=(0.4, 1.05))
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# With 5 bits both are right more than 95% of the time. With 40 bits both guess: less than 60% right. **Clipping does
# not help gradients that vanish.** It multiplies the whole gradient by one number that is at most 1, so the share of
# the early steps stays what it was; and a gradient below the limit is not changed at all. It can only make gradients
# smaller.

# %%
assert min(unclipped[5], clipped[5]) > 0.95 and max(unclipped[40], clipped[40]) < 0.6

weight = nn.Parameter(torch.zeros(2, dtype=torch.float64))
for early, late in ((1e-9, 300.0), (1e-9, 0.05)):  # a gradient that explodes, and one that does not
    weight.grad = torch.tensor([early, late], dtype=torch.float64)
    clip_grad_norm_([weight], 1.0)
    assert torch.allclose(weight.grad[0] / weight.grad[1], torch.tensor(early / late, dtype=torch.float64), rtol=1e-6)
    print(f"early {early:g}, late {late:g}: after clipping {weight.grad.tolist()}")

# %% [markdown]
# What does help: a path on which the factors are near 1. Gates learn such a path (lessons 4 and 5), skip connections
# build it in (`--set backbone.residual=true` between layers), and attention makes the path one step long (lesson 7).
# An optimizer such as Adam, which divides by the size of past gradients, reaches somewhat further than plain gradient
# descent; the exponential decay stays.
#
# ## Exercises
#
# Write a file `answer.py` that defines these functions. `seqlab learn 3 --check answer.py` checks them.
#
# 1. `jacobian(U, h)`: the matrix `dh_t / dh_(t-1)` of a tanh step, from `U` and the *new* state `h`; both are
#    tensors.
# 2. `clip(gradients, limit)`: a list of tensors, scaled so that their common norm is at most `limit`, as
#    `torch.nn.utils.clip_grad_norm_` does; gradients below the limit are returned as they are.
# 3. `vanishing_matrix()`: a square matrix (a tensor) whose largest singular value is at least `2`, but whose power
#    with the exponent `50` has no entry above `0.000001`. It shows that a large singular value of `U` does not mean
#    that gradients explode.
