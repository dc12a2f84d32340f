# %% [markdown]
# # Masks
#
# A Transformer learns from all positions of a text at once. What keeps a position from reading the answer that stands
# one place to its right, and what happens if nothing does?

# %%
import math

import torch
from torch.nn.functional import cross_entropy

import seqlab
from seqlab.attention.masks import causal
from seqlab.attention.plain import attend
from seqlab.data.text.corpus import open_corpus
from seqlab.models.language_model import LanguageModel
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

torch.manual_seed(0)
torch.set_num_threads(1)  # small models are fastest on one
T = 6
scores_TT = torch.randn(T, T)
mask_TT = torch.ones(T, T, dtype=torch.bool).tril()  # query t (row) sees the keys 0 to t (columns)
weights_TT = scores_TT.masked_fill(~mask_TT, -math.inf).softmax(-1)

assert mask_TT.sum() == 21 and bool((weights_TT.triu(1) == 0).all())
assert torch.allclose(weights_TT.sum(-1), torch.ones(T))
assert torch.equal(causal(torch.zeros(1, dtype=torch.long), T).mask(T)[0], mask_TT)
assert torch.equal(attend(scores_TT, torch.eye(T), mask_TT).weights_BTS, weights_TT)

figure = new_figure(8, 2.9)
panels = (("the mask: 1 is visible", mask_TT.float()), ("without it", scores_TT.softmax(-1)), ("with it", weights_TT))
for axes, (title, values_TT) in zip(figure.subplots(1, 3), panels, strict=True):
    axes.imshow(values_TT.numpy(), cmap="Blues", vmin=0, vmax=1)
    axes.set(title=title, xlabel="key (position read)", ylabel="query (position that reads)")
figure.colorbar(figure.axes[2].images[0], label="weight")
figure

# %% [markdown]
# The mask puts minus infinity where a key lies in the future, **before** the softmax. So these weights are exactly
# zero, and each row still sums to one. Of the 36 pairs, 21 remain. Setting weights to zero after the softmax would not
# do: the rows would no longer sum to one, and the future would still shape the denominator.
#
# **Predict:** we train a small Transformer twice to name the next character, once with the mask and once without. The
# text is short words in random order, so we can compute the best loss that an honest reader can reach. Which of the
# two gets below it?

# %%
assert T * T == 36
text = "".join(open_corpus(("toy-words",)).blocks())
characters = sorted(set(text))
ids_N = torch.tensor([characters.index(character) for character in text])
words = text.split()
entropy = -sum(words.count(word) / len(words) * math.log(words.count(word) / len(words)) for word in set(words))
floor = entropy / (len(text) / len(words))  # nats of choosing a word, spread over its characters and its space


def windows(draw, first, last, batch=32, length=48):
    starts_B = torch.randint(first, last - length - 1, (batch,), generator=draw)
    rows_BT = torch.stack([ids_N[start : start + length + 1] for start in starts_B])
    return rows_BT[:, :-1], rows_BT[:, 1:]


def train(model, steps=300):
    draw, train_end = torch.Generator().manual_seed(1), len(ids_N) * 9 // 10
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        inputs_BT, targets_BT = windows(draw, 0, train_end)
        loss = cross_entropy(model(inputs_BT)[0].flatten(0, 1), targets_BT.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


size = {"vocab_size": len(characters), "embedding": 32, "hidden": 32, "layers": 2, "heads": 2, "dropout": 0.0}
models = {
    "with the mask": train(seqlab.build("transformer", **size)),
    "without": train(seqlab.build("transformer-encoder", task="masked", **size)),
}
with torch.no_grad():
    inputs_BT, targets_BT = windows(torch.Generator().manual_seed(2), len(ids_N) * 9 // 10, len(ids_N), batch=256)
    nats = {
        name: cross_entropy(model(inputs_BT)[0].transpose(1, 2), targets_BT, reduction="none").mean(0)
        for name, model in models.items()
    }
rows = [["held-out loss, nats", "inside the window", "at its last position"]]
rows += [[name, f"{nats_T[8:-1].mean():.3f}", f"{nats_T[-1]:.3f}"] for name, nats_T in nats.items()]
print(aligned_table([*rows, ["best possible", f"{floor:.3f}", f"{floor:.3f}"]]))

figure = new_figure(7, 3)
axes = figure.subplots()
for color, (name, nats_T) in zip(COLORS, nats.items(), strict=False):
    axes.plot(range(1, len(nats_T) + 1), nats_T.tolist(), ".-", color=color, label=name)
axes.axhline(floor, color="gray", linestyle=":", label="best possible on average")
axes.set(title="loss on held-out text", xlabel="position in the window", ylabel="nats per character", ylim=(0, None))
axes.legend()
light_grid(axes)
figure

# %%
masked_T, leaky_T = nats["with the mask"], nats["without"]
assert leaky_T[:-1].mean() < 0.1 * floor  # impossible without reading the answer
assert masked_T[8:].mean() > 0.95 * floor
assert leaky_T[-1] > 1.2 * masked_T[8:].mean() and leaky_T[-1] > 20 * leaky_T[:-1].mean()


def continue_text(model, prompt, length=60):
    ids = [characters.index(character) for character in prompt]
    for _ in range(length):
        ids.append(int(model(torch.tensor([ids[-47:]]))[0][0, -1].argmax()))
    return "".join(characters[token] for token in ids)


with torch.no_grad():
    written = {name: continue_text(model, "the cat sat on a ") for name, model in models.items()}
known = {
    name: sum(word in words for word in line.split()[5:]) / len(line.split()[5:]) for name, line in written.items()
}
for name, line in written.items():
    print(f"{name}: {line!r}: {known[name]:.0%} of the new words are words of the text")
assert known["with the mask"] > 0.8 and known["with the mask"] > known["without"]

# %% [markdown]
# Without the mask, the loss falls below a tenth of what is possible, on held-out text too. The model has not learned
# the language. At position t it reads the character at t + 1, which is the answer. The curve shows it: only the last
# position has nothing to its right, and there the loss is more than 20 times that of the others and worse than that of
# the masked model. Generation always happens at the last position, so the "winner" writes non-words.
#
# A loss that is too good is the symptom. `seqlab train` refuses architectures that read ahead as language models, and
# `seqlab audit RUN` changes future tokens of a trained model and checks that no earlier output moves.
#
# ## The padding mask
#
# Sentences of a batch have different lengths, so the shorter ones are filled up with padding, here on the right. An
# encoder that reads both ways must not attend to it. **Predict:** does padding change the outputs of a causal model?

# %%
short_T, long_T = ids_N[:9], ids_N[100:124]
padded_BT = torch.stack([torch.nn.functional.pad(short_T, (0, len(long_T) - len(short_T))), long_T])
kept_BT = torch.arange(len(long_T)) < torch.tensor([[len(short_T)], [len(long_T)]])
change = {}
with torch.no_grad():
    for name, model in models.items():
        alone_TV = model(short_T[None])[0][0]
        for mask_name, mask_BT in (("with it", kept_BT), ("without it", None)):
            batch_TV = model(padded_BT, None, mask_BT)[0][0, : len(short_T)]
            change[name, mask_name] = float((batch_TV - alone_TV).abs().max())
rows = [[*names, f"{largest:.1e}"] for names, largest in change.items()]
print(aligned_table([["causal mask", "padding mask", "largest change of a logit by padding"], *rows], right_from=2))
assert change["without", "with it"] < 1e-3 < 0.1 < change["without", "without it"]
assert max(change["with the mask", "with it"], change["with the mask", "without it"]) < 1e-3

# %% [markdown]
# Two-way attention needs the padding mask. A causal model with padding on the right does not: padding is future for
# every real token. (The loss must still skip the padded targets.) Pad each batch to its own longest row: attention
# costs grow with the square of the length, padding included.
#
# | attention | sees | mask |
# |---|---|---|
# | encoder, itself | the whole source | padding of the source |
# | decoder, itself (masked self-attention) | the target up to here | causal |
# | decoder to encoder (cross-attention) | the whole source | padding of the source |
#
# ## Training in parallel, generating step by step
#
# Because of the mask, the output at t does not depend on what follows. So one pass over a text gives the same
# predictions as reading it token by token with a cache of keys and values, which is what generation does.

# %%
model = models["with the mask"]
assert isinstance(model, LanguageModel)
with torch.no_grad():
    parallel_TV = model(long_T[None])[0][0]
    state, stepwise = model.backbone.start(1), []
    for token_1 in long_T[:, None]:
        logits_1V, state = model.step(token_1, state)
        stepwise.append(logits_1V[0])
difference = float((parallel_TV - torch.stack(stepwise)).abs().max())
assert difference < 1e-3 and len(long_T) == 24
f"one pass over {len(long_T)} characters and {len(long_T)} steps differ by at most {difference:.1e} in a logit"

# %% [markdown]
# Both agree up to rounding: 24 predictions from one pass, or from 24 steps. "Transformers process all tokens at once"
# holds for training and for reading a prompt. **Generation** is sequential for every architecture: token t + 1 cannot
# be read before it is chosen. It begins with the prompt or a begin symbol, feeds each chosen token back, and stops at
# an end symbol.
#
# Limits: the text is artificial, so that the best loss is known. On Shakespeare, `seqlab compare --recipe evolution`
# measures the same for an LSTM with attention. To see the triangle in your own model:
# `seqlab inspect RUN --text "the cat sat" --view attention`.
#
# ## Exercises
#
# 1. `causal_mask(T, window)`: a T x T boolean tensor, true where query t sees key s: never the future, and only the
#    last `window` positions, its own included.
# 2. `padding_mask(lengths)`: for a list of lengths, a boolean tensor (rows x longest), true at real tokens.
# 3. `is_causal(model, ids)`: `model(ids)` maps a tensor of T ids to a tensor with T rows. Return whether every output
#    depends only on inputs up to its own position. Find out by changing inputs; ids `0` to `9` are allowed.
