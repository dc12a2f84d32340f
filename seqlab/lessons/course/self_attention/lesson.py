# %% [markdown]
# # Self-attention: a sequence that looks at itself
#
# In self-attention, queries, keys and values come from the same sequence. What does it compute, what does it know about
# the order of words, and what do the layers around it do?

# %%
import math

import torch
from torch import nn
from torch.nn.functional import cosine_similarity, scaled_dot_product_attention

import seqlab
from seqlab.contracts import Trace
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

torch.manual_seed(0)
words = ["the", "cat", "saw", "the", "dog"]
width = 32

# %% [markdown]
# ## Query, key, value
#
# Every word gets three vectors, each by a matrix of its own: the **query** says what the word looks for, the **key**
# what it offers, the **value** what it passes on. Each word then takes the mean of all values, weighted by how well its
# query fits their keys. In **cross-attention** the queries come from one sequence, keys and values from another.

# %%
embedding = {word: torch.randn(width) for word in dict.fromkeys(words)}
x_TD = torch.stack([embedding[word] for word in words])
from_query, from_key, from_value = (torch.randn(width, width) / math.sqrt(width) for _ in range(3))


def attend(x_TD, source_SD):
    """Queries of one sequence; keys and values of another, or of the same."""
    q_TD, k_SD, v_SD = x_TD @ from_query, source_SD @ from_key, source_SD @ from_value
    weights_TS = (q_TD @ k_SD.T / math.sqrt(width)).softmax(1)
    return weights_TS @ v_SD


y_TD = attend(x_TD, x_TD)
oracle_1TD = scaled_dot_product_attention(*(x_TD[None] @ w for w in (from_query, from_key, from_value)))
torch.testing.assert_close(y_TD, oracle_1TD[0], rtol=1e-4, atol=1e-5)
crossed_TD = attend(x_TD, torch.randn(9, width))
assert y_TD.shape == (5, width) and crossed_TD.shape == (5, width)

# %% [markdown]
# Five words, five vectors, as from `torch.nn.functional.scaled_dot_product_attention`; in cross-attention too, whatever
# the length of the other sequence.
#
# ## Does it know the order?
#
# It is often said that self-attention is **permutation invariant**. Predict: what happens to the five outputs if the
# sentence becomes "dog the saw cat the"?

# %%
order = torch.tensor([4, 0, 2, 1, 3])
shuffled_TD = attend(x_TD[order], x_TD[order])
torch.testing.assert_close(shuffled_TD, y_TD[order], rtol=1e-4, atol=1e-5)  # equivariant
assert (shuffled_TD - y_TD).abs().max() > 0.1  # not invariant
torch.testing.assert_close(
    attend(x_TD, x_TD[order]), y_TD, rtol=1e-4, atol=1e-5
)  # invariant to the order of the others
torch.testing.assert_close(y_TD[0], y_TD[3])  # "the" and "the"
print("first output before and after:", y_TD[0, :3].tolist(), shuffled_TD[0, :3].tolist())

# %% [markdown]
# Measured: the outputs move with their words. That is **equivariance**. Invariant is what one word gets when the others
# change places; both `the` get the same vector, wherever they stand. So without positions a Transformer reads a bag of
# words: the lesson on positions repairs this.
#
# ## A small encoder on ten sentences
#
# `seqlab.train` with the recipe `mini-encoder`: embeddings, sinusoidal positions, two layers of self-attention with
# four heads and a feed-forward layer, each followed by "add and norm". It learns to fill in masked words. Predict how
# similar the vectors of `cat` in two sentences are before the layers, and after.

# %%
run = seqlab.train(recipe="mini-encoder", out="mini", settings={"train.threads": 1})


@torch.no_grad()
def read(sentence):
    """The words, and everything that the model records."""
    ids, trace = run.tokenizer.encode(sentence), Trace()
    run.model(torch.tensor([ids]), trace=trace)
    return [run.tokenizer.decode([token]).strip() for token in ids], trace


tokens, trace = read("the cat sat on the mat")
others, other = read("a bird sang to the cat")
here, there = tokens.index("cat"), others.index("cat")
alike = {
    name: cosine_similarity(trace[name][0, here], other[name][0, there], dim=0).item()
    for name in ("embedding", "layer2")
}
assert alike["embedding"] > 0.999 and alike["layer2"] < 0.95
print("similarity of 'cat' in two sentences:", {name: round(value, 2) for name, value in alike.items()})
print("'cat' in its context:", [round(value, 2) for value in trace["layer2"][0, here, :6].tolist()], "...")
figure = new_figure(9, 2.9)
for head, axes in enumerate(figure.subplots(1, 4)):
    axes.imshow(trace["layer1.attention.weights"][0, :, head].numpy(), cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=8)
    axes.set_yticks(range(len(tokens)), tokens if head == 0 else [], fontsize=8)
    axes.set_title(f"layer 1, head {head + 1}", fontsize=9)
figure


# %% [markdown]
# One `cat`, two vectors: equal as embeddings, a similarity below 0.95 after the layers. These are **contextual
# embeddings**. The heatmaps show who looks at whom; ten sentences prove nothing about what heads mean.
#
# ## Why add and norm?
#
# Sixteen untrained layers, with and without the residual connection (`x + f(x)`) and the layer norm. How alike are ten
# random words after each layer, how long are their vectors, and how much gradient arrives at the input?


# %%
def stack(residual, norm, layers=16):
    """The mean similarity of the words after each layer, the length of the last vectors, the gradient of the first."""
    torch.manual_seed(1)
    x_BTD = torch.randn(4, 10, width, requires_grad=True)
    h_BTD, similarity = x_BTD, []
    for _ in range(layers):
        attention = nn.MultiheadAttention(width, 4, batch_first=True)
        feedforward = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, width))
        for y_of in (lambda h_BTD, attention=attention: attention(h_BTD, h_BTD, h_BTD)[0], feedforward):
            h_BTD = h_BTD + y_of(h_BTD) if residual else y_of(h_BTD)
            h_BTD = nn.functional.layer_norm(h_BTD, (width,)) if norm else h_BTD
        unit_BTD = h_BTD / h_BTD.norm(dim=2, keepdim=True)
        similarity.append((unit_BTD @ unit_BTD.transpose(1, 2)).mean().item())
    (gradient_BTD,) = torch.autograd.grad(h_BTD[:, 0, 0].sum(), x_BTD)
    return similarity, h_BTD.norm(dim=2).mean().item(), gradient_BTD.norm().item()


variants = {"neither": (False, False), "norm": (False, True), "residual": (True, False), "both": (True, True)}
stacks = {name: stack(*chosen) for name, chosen in variants.items()}
rows = [["with", "similarity", "length", "gradient"]]
rows += [
    [name, f"{like[-1]:.3f}", f"{length:.1f}", f"{gradient:.0e}"] for name, (like, length, gradient) in stacks.items()
]
print(aligned_table(rows))
assert min(stacks[name][0][-1] for name in ("neither", "norm")) > 0.99 and stacks["both"][0][-1] < 0.95
assert stacks["neither"][2] < 1e-9 and min(stacks[name][2] for name in ("norm", "residual", "both")) > 0.01
assert stacks["residual"][1] > 8 and abs(stacks["both"][1] - math.sqrt(32)) < 0.1
figure = new_figure(5.5, 3)
axes = figure.subplots()
for color, (name, (similarity, _, _)) in zip(COLORS, stacks.items(), strict=False):
    axes.plot(range(1, 17), similarity, color=color, label=name)
axes.set(title="How alike the words become", xlabel="layer", ylabel="similarity")
axes.legend(frameon=False)
light_grid(axes)
figure

# %% [markdown]
# Without the residual connection all words become the same vector (similarity above 0.99): every layer averages. With
# it they stay apart for longer (below 0.95 with both). Without the norm the vectors grow or shrink; with it their
# length is √32, the root of the width. It is often said that **add and norm are there against vanishing gradients**.
# Measured: with neither, the gradient falls below 1e-9, and each of them alone keeps it above 0.01. But only the
# residual connection keeps the words apart, and only the norm keeps the scale.
#
# ## Is there no bottleneck?
#
# It is often said that a Transformer has **no information bottleneck**, because every word reaches every other
# directly. Measured on a Transformer with two layers, in which each position sees the last 8:

# %%
model = seqlab.build("transformer", vocab_size=10, hidden=32, embedding=32, layers=2, context=8).eval()
x_BTD = torch.randn(1, 40, 32, requires_grad=True)
(gradient_BTD,) = torch.autograd.grad(model.backbone(x_BTD)[0][0, -1, 0], x_BTD)
reached = [39 - at for at in range(40) if gradient_BTD[0, at].abs().max() > 0]
print("the last output depends on positions up to", max(reached), "back")
assert model.backbone.context == 8 and max(reached) == 14
attended = 2 * 2 * 32 * 8
assert attended == 1024 and model.backbone.state_bytes(1000) == 4 * attended

# %% [markdown]
# The last output depends on 14 positions before it and on none further back. Inside the context the path is direct;
# what lies outside is gone, where a recurrent state can still hold a trace of it. Here the model keeps 1,024 numbers,
# whatever the length. A longer context moves the border and costs memory for every position.
#
# Go on with `seqlab compare --recipe mini-encoder` for the vectors and heatmaps of all ten sentences, and with
# `seqlab inspect RUN --text T --view step` for one head written out with the numbers of your own model.
#
# ## Exercises
#
# Check your file with `seqlab learn self_attention --check answer.py`.
#
# 1. `self_attention(x_TD, w_query, w_key, w_value)`: one head of scaled self-attention, with `x_TD @ w` as projection.
# 2. `equivariant(f, x_TD, order)`: whether `f` of the reordered rows equals the reordered rows of `f`, up to small
#    rounding errors.
# 3. `reach(layers, context)`: how many positions back the last output of a causal Transformer can depend on, if a
#    position sees itself and the `context - 1` positions before it.
