# %% [markdown]
# # Heads: several attentions side by side
#
# A Transformer layer does not attend once but several times in parallel. What can one head do, what do several do
# together, and how do you find out which of them matter?

# %%
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import seqlab
from seqlab.attention import scaled_dot
from seqlab.contracts import Trace
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

torch.manual_seed(0)
width, heads = 64, 4

# %% [markdown]
# ## Multi-head attention, written out
#
# `head_i = Attention(x Q_i, x K_i, x V_i)` and `output = Concat(head_1, ..., head_N) W + b` (Vaswani et al. 2017). Each
# head works in a slice of the width. Before you run the cell, predict: how many parameters does the layer have with one
# head, and how many with eight?

# %%
layer = nn.MultiheadAttention(width, heads, batch_first=True)
x_BTD = torch.randn(2, 10, width)
q_BTD, k_BTD, v_BTD = (x_BTD @ layer.in_proj_weight.T + layer.in_proj_bias).chunk(3, dim=2)
slices = zip(*(part.chunk(heads, dim=2) for part in (q_BTD, k_BTD, v_BTD)), strict=True)
found = [scaled_dot(q_BTK, k_BTK, v_BTK) for q_BTK, k_BTK, v_BTK in slices]
output_BTD = layer.out_proj(torch.cat([head.output_BTD for head in found], dim=2))
oracle_BTD, mean_BTS = layer(x_BTD, x_BTD, x_BTD)
torch.testing.assert_close(output_BTD, oracle_BTD)
torch.testing.assert_close(sum(head.weights_BTS for head in found) / heads, mean_BTS)

counts = {n: sum(p.numel() for p in nn.MultiheadAttention(width, n).parameters()) for n in (1, 4, 8)}
assert set(counts.values()) == {4 * width * width + 4 * width} == {16_640}
assert found[0].output_BTD.shape[2] == 16
counts

# %% [markdown]
# By hand and by `torch.nn.MultiheadAttention`, the same output. Heads are free: the layer has 16,640 parameters with
# one head or with eight. More heads means narrower heads, here 16 features each. What you get is several softmaxes, so
# one position can look at several places at once without mixing what it finds there.
#
# ## A task that needs two heads in a row
#
# Random tokens, repeated: `d k b x d k b x d ...`. No token tells you the next one, except by looking up what followed
# the same token before. One layer cannot do this with content alone: the key of a token does not know its predecessor.
# Two layers can. A head of the first layer writes "the token before me was d" into each position, and a head of the
# second looks for positions that say so. This is an **induction head** (Olsson et al. 2022). Will training find it?
#
# The models are seqlab's Transformers with one and two layers. Their feed-forward layers are set to zero and stay
# there, so attention has to do everything. Each sequence has its own period, so that a fixed distance is no help.

# %%
vocabulary, length = 32, 32


def repeated(count, draw):
    """Random tokens that repeat with a period of 6 to 16, and where each token can be known."""
    period_B1 = torch.randint(6, 17, (count, 1), generator=draw)
    tokens_BT = torch.randint(vocabulary, (count, length), generator=draw)
    at_T = torch.arange(length)
    return tokens_BT.gather(1, at_T % period_B1), at_T[1:] > period_B1


def train(layers, steps=400):
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(0)
    model = seqlab.build(
        "transformer", vocab_size=vocabulary, embedding=width, hidden=width, layers=layers, heads=heads, dropout=0.0
    )
    for name, parameter in model.named_parameters():
        if "feedforward" in name:
            parameter.requires_grad_(False).zero_()
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    losses = []
    for _ in range(steps):
        tokens_BT, known_BT = repeated(32, draw)
        logits_BTV, _ = model(tokens_BT[:, :-1])
        loss_BT = cross_entropy(logits_BTV.transpose(1, 2), tokens_BT[:, 1:], reduction="none")
        optimizer.zero_grad()
        loss_BT.mean().backward()
        optimizer.step()
        losses.append(loss_BT[known_BT].mean().item())
    return model.eval(), losses


one_layer, one_losses = train(1)
model, losses = train(2)

# %% [markdown]
# Predict the curves: how low can a model come that only knows which tokens occur in its sequence?

# %%
once_BT = torch.stack([torch.randperm(vocabulary)[:16] for _ in range(64)])
twice_BT = torch.cat([once_BT, once_BT], dim=1)


@torch.no_grad()
def accuracy(model, trace=None):
    """The share of right predictions within the second copy."""
    logits_BTV, _ = model(twice_BT[:, :-1], trace=trace)
    return (logits_BTV[:, 16:].argmax(2) == twice_BT[:, 17:]).float().mean().item()


assert accuracy(one_layer) < 0.20 and accuracy(model) > 0.90
assert min(one_losses[-50:]) > 2.0 and max(losses[-50:]) < 0.5
figure = new_figure(6, 3)
axes = figure.subplots()
for color, (name, curve) in zip(COLORS, {"one layer": one_losses, "two layers": losses}.items(), strict=False):
    axes.plot(curve, color=color, label=name)
axes.set(title="Tokens that have been read before", xlabel="step", ylabel="nats per token", ylim=(0, None))
axes.legend(frameon=False)
light_grid(axes)
print(f"right in the second copy: one layer {accuracy(one_layer):.0%}, two layers {accuracy(model):.0%}")
figure

# %% [markdown]
# One layer stays above 2.0 nats: it guesses among the tokens of the sequence and is right in less than 20% of the
# cases. Two layers fall suddenly, below 0.5 nats, once both heads are there, and predict more than 90% of a new
# sequence that is read twice. Now find the heads: the mean weight on the previous token, and on the token that followed
# the same token in the first copy.

# %%
trace = Trace()
with torch.no_grad():
    model(twice_BT, trace=trace)
weights = {number: trace[f"layer{number}.attention.weights"].transpose(1, 2) for number in (1, 2)}  # B, N, T, S
previous = {number: weights_BNTS.diagonal(-1, 2, 3).mean((0, 2)) for number, weights_BNTS in weights.items()}
induction = {number: weights_BNTS.diagonal(-15, 2, 3)[..., 1:].mean((0, 2)) for number, weights_BNTS in weights.items()}
back, repeat = int(previous[1].argmax()), int(induction[2].argmax())
assert previous[1][back] > 0.6 and induction[2][repeat] > 0.6 and induction[2].min() > 0.4 and previous[2].max() < 0.3

figure = new_figure(7, 3.6)
shown = {f"layer 1, head {back + 1}": weights[1][0, back], f"layer 2, head {repeat + 1}": weights[2][0, repeat]}
for axes, (name, weights_TS) in zip(figure.subplots(1, 2), shown.items(), strict=True):
    axes.imshow(weights_TS.numpy(), cmap="Blues", vmin=0, vmax=1)
    axes.set(title=name, xlabel="position looked at", ylabel="position that looks")
rows = [["head", "previous token", "induction"]]
for number, scores in enumerate(zip(previous.values(), induction.values(), strict=True), 1):
    found_N2 = torch.stack(scores, dim=1)
    rows += [[f"layer {number}, {head}", *(f"{score:.2f}" for score in row)] for head, row in enumerate(found_N2, 1)]
print(aligned_table(rows))
figure

# %% [markdown]
# A head of the first layer puts more than 0.6 of its weight on the previous token; the picture is a line beside the
# diagonal. All heads of the second layer do induction: their line begins where the second copy begins.
#
# ## Does the model need them?
#
# Weights tell a story; taking a head away tests it. Each chosen head is replaced by its mean output. Predict: what
# happens to the heads of the second layer if the ones that look back in the first are gone?


# %%
def without(*chosen):
    """A trace in which the chosen heads, each as (layer, head), pass on their mean."""

    def replacing(number):
        mean_11NK = trace[f"layer{number}.attention.heads"].mean((0, 1), keepdim=True)
        chosen_N1 = torch.tensor([(number, head) in chosen for head in range(heads)])[:, None]
        return lambda heads_BTNK: torch.where(chosen_N1, mean_11NK, heads_BTNK)

    return Trace({f"layer{number}.attention.heads": replacing(number) for number in (1, 2)})


ranked = [(1, int(head)) for head in previous[1].argsort(descending=True)]
upper = [(2, head) for head in range(heads)]
blind = without(*ranked[:2])
left = {
    "all heads": accuracy(model),
    "without the two that look back most": accuracy(model, blind),
    "without the other two of layer 1": accuracy(model, without(*ranked[2:])),
    "without one of layer 2 (mean of four)": sum(accuracy(model, without(head)) for head in upper) / heads,
    "with one of layer 2 (mean of four)": sum(accuracy(model, without(*upper[:n], *upper[n + 1 :])) for n in range(4))
    / 4,
    "without layer 2": accuracy(model, without(*upper)),
}
kept = blind["layer2.attention.weights"].transpose(1, 2).diagonal(-15, 2, 3)[..., 1:].mean()
assert left["without the two that look back most"] < 0.50 and left["without the other two of layer 1"] > 0.85
assert left["without one of layer 2 (mean of four)"] > 0.85 and left["without layer 2"] < 0.20
assert left["with one of layer 2 (mean of four)"] < 0.80 and kept < induction[2].mean() / 2
figure = new_figure(7, 2.6)
axes = figure.subplots()
axes.barh(list(left)[::-1], list(left.values())[::-1], color=COLORS[0])
axes.set(title="What is left without some heads", xlabel="share of right predictions in the second copy", xlim=(0, 1))
light_grid(axes)
figure

# %% [markdown]
# Without the two heads that look back, less than 50% is right, although the second layer is untouched: its induction
# weight falls to less than half. Without the other two of the first layer, the model still has more than 85%. So the
# two layers form one mechanism, confirmed by intervention and not by a picture.
#
# It is often said that **each head captures a different kind of relation**. Measured: the heads of the second layer all
# do the same. It is also said that **most heads can be pruned for free**. Measured: each of them alone can go, and more
# than 85% remains; with a single one left it is less than 80%, without them less than 20%. Heads back each other up, so
# test groups of heads before you call them useless.
#
# Limits: one task, made for this mechanism, in a small model. On text, heads that follow syntax or link a pronoun to
# its name have been reported in large models; look for them in the same way.
# `seqlab inspect RUN --text T --view attention` lists these scores for every head of your own model, and
# `--view ablate` shows what each head is worth.
#
# ## Exercises
#
# Write `answer.py` and check it with `seqlab learn heads --check answer.py`.
#
# 1. `causal_multi_head(x_BTD, layer)`: the output of an `nn.MultiheadAttention` (batch first) in which every position
#    sees itself and earlier positions only. Use the weights of `layer`, but do not call it.
# 2. `induction_score(weights_TS, period)`: for tokens that repeat with this period, the mean weight that all positions
#    from the second copy on give to the token after the last occurrence of the same token.
# 3. `induction(tokens)`: the algorithm as a program. Given a list of tokens, return the one that followed the latest
#    earlier occurrence of the last token, or `None` if there is none.
