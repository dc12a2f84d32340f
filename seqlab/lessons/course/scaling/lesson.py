# %% [markdown]
# # Scaling: why attention divides by √d
#
# Scaled dot-product attention is `softmax(Q Kᵀ / √d) V`. What goes wrong without the division, and is it always the
# right number?

# %%
import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from seqlab.attention import scaled_dot
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

torch.manual_seed(0)
q_TK, k_SK, v_SD = torch.randn(3, 64), torch.randn(5, 64), torch.randn(5, 2)

# %% [markdown]
# ## The formula, written out
#
# Three queries and five keys with 64 random features. Predict which of the two softmaxes is closer to a single choice.

# %%
raw_TS = q_TK @ k_SK.T
scores_TS = raw_TS / math.sqrt(q_TK.shape[1])
weights_TS = scores_TS.exp() / scores_TS.exp().sum(1, keepdim=True)
output_TD = weights_TS @ v_SD

torch.testing.assert_close(output_TD, scaled_dot_product_attention(q_TK[None], k_SK[None], v_SD[None])[0])
attended = scaled_dot(q_TK, k_SK, v_SD)  # seqlab's own: output, weights and scores
torch.testing.assert_close(weights_TS, attended.weights_BTS)
assert q_TK.shape[1] == 64 and raw_TS.softmax(1).amax(1).mean() > 0.85 > 0.60 > weights_TS.amax(1).mean()
rows = {"raw score": raw_TS, "scaled score": scores_TS, "softmax of raw": raw_TS.softmax(1), "weights": weights_TS}
table = [["query 1", *(f"key {number}" for number in range(1, 6))]]
print(aligned_table(table + [[name, *(f"{value:.3f}" for value in row_TS[0])] for name, row_TS in rows.items()]))
print("output:", output_TD.tolist())

# %% [markdown]
# Without the division, the largest weight is on average above 0.85: attention has almost made up its mind before it has
# learned anything. With it, the largest weight is below 0.60. The formula by hand, `torch` and seqlab agree.
#
# ## How fast do scores grow?
#
# It is often said that dot products grow with d. It depends on the vectors. Predict the slope of each line: independent
# features with variance 1, the same vectors cut to length 1, and a query that equals its key.

# %%
widths = [4**power for power in range(1, 6)]
spread = {"independent": [], "of length 1": [], "query = key": []}
for width in widths:
    q_NK, k_NK = torch.randn(4000, width), torch.randn(4000, width)
    unit_NK, other_NK = (x_NK / x_NK.norm(dim=1, keepdim=True) for x_NK in (q_NK, k_NK))
    for name, (a_NK, b_NK) in zip(spread, [(q_NK, k_NK), (unit_NK, other_NK), (q_NK, q_NK)], strict=True):
        spread[name].append((a_NK * b_NK).sum(1).square().mean().sqrt().item())
for width, independent, unit, equal in zip(widths, *spread.values(), strict=True):
    assert 0.9 < independent**2 / width < 1.1 and 0.9 < unit**2 * width < 1.1 and 0.9 < equal / width < 1.3

figure = new_figure(5.5, 3.2)
axes = figure.subplots()
for color, (name, values) in zip(COLORS, spread.items(), strict=False):
    axes.loglog(widths, values, "o-", color=color, label=name)
axes.set(title="Typical size of q · k", xlabel="d, the number of features", xticks=widths, xticklabels=widths)
axes.minorticks_off()
axes.legend(frameon=False)
light_grid(axes)
figure

# %% [markdown]
# For independent features with variance 1, the variance of `q · k` is d (measured between 0.9 and 1.1 times that), so
# its size is √d and the mean stays 0. Vectors of length 1 need the opposite, a multiplication by √d. A query that
# equals its key has the score d: once training aligns them, √d is too little. The division fits the start of training,
# not every model.
#
# ## What saturation costs
#
# The softmax has the gradient `∂w_i/∂s_j = w_i (δ_ij - w_j)`, which is 0 when one weight is 1.


# %%
def entropy_and_gradient(scores_NS):
    """Mean entropy of the weights in nats, and the mean of the largest ∂w/∂s."""
    w_NS = scores_NS.double().softmax(1)
    return -torch.xlogy(w_NS, w_NS).sum(1).mean().item(), (w_NS * (1 - w_NS)).amax(1).mean().item()


raw, scaled = [], []
for width in widths:
    scores_NS = (torch.randn(500, 16, width) @ torch.randn(500, width, 1))[:, :, 0]
    raw.append(entropy_and_gradient(scores_NS))
    scaled.append(entropy_and_gradient(scores_NS / math.sqrt(width)))
assert widths[-1] == 1024 and scaled[-1][1] > 5 * raw[-1][1] and scaled[0][1] < 1.3 * scaled[-1][1]
assert raw[-1][0] < 0.3 and min(entropy for entropy, _ in scaled) > 2

large_S = torch.tensor([1000.0, 999.0, 0.0])
naive_S = large_S.exp() / large_S.exp().sum()
assert naive_S.isnan().any() and large_S.softmax(0).isfinite().all() and large_S.max() == 1000

figure = new_figure(8, 3)
for at, (axes, title) in enumerate(zip(figure.subplots(1, 2), ("entropy (nats)", "largest gradient"), strict=True)):
    for color, name, pairs in ((COLORS[1], "q · k", raw), (COLORS[0], "q · k / √d", scaled)):
        axes.semilogx(widths, [pair[at] for pair in pairs], "o-", color=color, label=name)
    axes.set(title=title, xlabel="d", xticks=widths, xticklabels=widths, ylim=(0, None))
    axes.minorticks_off()
    axes.legend(frameon=False)
    light_grid(axes)
figure

# %% [markdown]
# At 1,024 features the scaled scores pass on at least 5 times as much gradient. It is often said that large scores are
# also **numerically unstable**. Measured: by hand, scores of 1,000 give NaN; the softmax of every library subtracts the
# largest score first and stays finite. The trouble is the gradient, not the arithmetic.
#
# ## Does it matter for learning?
#
# A lookup: sixteen keys with values, and a query for one of them. One attention of width `256`, with and without the
# division, everything else equal. If saturation at the start is the whole story, then a smaller start must help as
# well: no division, but an initial query matrix that is √d times smaller. Predict its curve. The last run also makes
# the steps of that matrix √d times smaller.


# %%
def learn(divide, start=1.0, pace=1.0, width=256, symbols=32):
    """The share of right answers in each step."""
    torch.manual_seed(0)
    keys, values, out = nn.Embedding(symbols, width), nn.Embedding(symbols, width), nn.Linear(width, symbols)
    from_query, from_key = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
    nn.init.normal_(from_query.weight, 0, start / math.sqrt(width))
    nn.init.normal_(from_key.weight, 0, 1 / math.sqrt(width))
    rest = nn.ModuleList([keys, values, out, from_key]).parameters()
    optimizer = torch.optim.Adam([{"params": rest}, {"params": from_query.parameters(), "lr": 1e-3 * pace}], lr=1e-3)
    right = []
    for _ in range(150):
        key_BS, value_BS = torch.rand(64, symbols).argsort(1)[:, :16], torch.randint(symbols, (64, 16))
        q_BK, target_B = from_query(keys(key_BS[:, 0])), value_BS[:, 0]  # the order does not matter to attention
        scores_BS = (from_key(keys(key_BS)) @ q_BK[:, :, None])[:, :, 0] / (math.sqrt(width) if divide else 1)
        logits_BV = out((scores_BS.softmax(1)[:, None] @ values(value_BS))[:, 0])
        optimizer.zero_grad()
        cross_entropy(logits_BV, target_B).backward()
        optimizer.step()
        right.append((logits_BV.argmax(1) == target_B).float().mean().item())
    return right


small = 1 / math.sqrt(256)
curves = {
    "divided": learn(divide=True),
    "not divided": learn(divide=False),
    "smaller start": learn(divide=False, start=small),
    "smaller start and steps": learn(divide=False, start=small, pace=small),
}
last = {name: sum(right[-30:]) / 30 for name, right in curves.items()}
assert last["divided"] > 0.95 and last["not divided"] < 0.80
assert last["smaller start"] < 0.80 and last["smaller start and steps"] > 0.95
figure = new_figure(5.5, 3)
axes = figure.subplots()
for color, (name, right) in zip(COLORS, curves.items(), strict=False):
    style = "--" if name == "smaller start and steps" else "-"  # on top of the first
    axes.plot([sum(right[at - 10 : at]) / 10 for at in range(10, len(right))], style, color=color, label=name)
axes.set(title="Looking up a value", xlabel="step", ylabel="share of right answers", ylim=(0, 1.02))
axes.legend(frameon=False)
light_grid(axes)
figure

# %% [markdown]
# With the division, more than 95% is right; without it, less than 80% after the same steps. It is often said that **the
# division keeps the softmax from saturating at the start**. Measured: that is half of it. A smaller start alone also
# stays below 80%, because the optimizer takes steps of the same size: a few of them make the scores large again. With
# smaller steps too, it is above 95%. The division adds nothing that a matrix could not express, since `(x W / √d) · k`
# is `(x W') · k`; it sets where training starts and how far each step goes.
#
# Limits: one attention, one learning rate. Trained models sharpen their attention where they need it, by larger
# matrices. `seqlab compare --recipe attention-scaling` measures widths up to `4,096`;
# `seqlab inspect RUN --view step --text T` shows the real scores of a trained head.
#
# ## Exercises
#
# 1. `attention(q_BTK, k_BSK, v_BSD)`: return the output, the weights and the scaled scores, in this order.
# 2. `softmax_jacobian(weights_S)`: the matrix of all `∂w_i/∂s_j`, from the weights alone.
# 3. `divisor(d, query_std, key_std)`: by what must `q · k` be divided so that its variance is one, if the d features of
#    queries and keys are independent, with mean zero and these standard deviations?
