# %% [markdown]
# # Decoding
#
# A language model gives probabilities, not text. How do temperature, top-k, top-p and beam search turn them into text,
# and is the most probable text the best one?

# %%
import math
from pathlib import Path

import torch

import seqlab
from seqlab.data.text.corpus import open_corpus
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

torch.set_num_threads(1)  # small models are fastest on one
text = " ".join("".join(open_corpus(("python-docs",)).blocks()).split())  # without indentation
Path("docs.txt").write_text(text[:200_000])
size = {"hidden": 128, "embedding": 32, "window": 64, "settings": {"train.evaluate_every": 300}}
run = seqlab.train("docs.txt", arch="lstm", **size, steps=300, lr=0.01, threads=1, out="runs/writer", overwrite=True)
model, tokenizer = run.model, run.tokenizer
held_out = torch.tensor(tokenizer.encode(run.text("validation", 3000)))
with torch.no_grad():
    logits_TV = model(held_out[None])[0][0].double()


def entropy(temperature):
    """The mean over positions, in bits: how undecided the next character is."""
    logs_TV = (logits_TV / temperature).log_softmax(-1)
    return float(-(logs_TV.exp() * logs_TV).sum(-1).mean()) / math.log(2)


temperatures = (0.2, 0.5, 0.7, 0.8, 1.0, 1.2, 1.5)
bits = {temperature: entropy(temperature) for temperature in temperatures}
logits_V = model(torch.tensor([tokenizer.encode("the ")]))[0][0, -1].detach()
likeliest = logits_V.topk(8).indices
figure = new_figure(8, 3)
left, right = figure.subplots(1, 2)
for offset, (color, temperature) in enumerate(zip(COLORS, (0.2, 0.7, 1.5), strict=False)):
    chances = (logits_V / temperature).softmax(-1)[likeliest].tolist()
    left.bar([at + 0.27 * (offset - 1) for at in range(8)], chances, 0.27, color=color, label=f"τ = {temperature}")
left.set(title="after 'the '", ylabel="probability", xticks=range(8), xlabel="next character")
left.set_xticklabels([tokenizer.decode([token]) for token in likeliest.tolist()])
left.legend()
right.plot(temperatures, bits.values(), ".-", color=COLORS[0])
right.axhline(math.log2(tokenizer.vocab_size), color="gray", linestyle=":", label="all characters equal")
right.set(title="held-out text", xlabel="temperature τ", ylabel="entropy (bits)", ylim=(0, None))
right.legend()
light_grid(left)
light_grid(right)
figure

# %% [markdown]
# Temperature divides the logits: `p = softmax(logits / τ)`. The order of the characters never changes, only how far
# the likeliest is ahead. At 1 it is the model's own distribution. **Predict:** at which of the seven temperatures are
# the most words real words? What does the limit `τ → 0` give?

# %%
known = set(run.text().split())


def describe(written):
    """The share of words that occur in the training text, and the share of 12-character pieces that are new."""
    words = written.split()[1:-1]
    pieces = [written[at : at + 12] for at in range(len(written) - 12)]
    return sum(word in known for word in words) / len(words), len(set(pieces)) / len(pieces)


real, new, rows = {}, {}, [["τ", "entropy, bits", "real words", "new pieces", "text"]]
for temperature in temperatures:
    written = str(run.generate("The ", 1500, temperature=temperature, seed=1, engine="plain"))
    real[temperature], new[temperature] = describe(written)
    shares = (f"{real[temperature]:.0%}", f"{new[temperature]:.0%}")
    rows.append([str(temperature), f"{bits[temperature]:.2f}", *shares, written[:50]])
greedy = str(run.generate("The ", 200, temperature=0, engine="plain"))
nearly = str(run.generate("The ", 200, temperature=1e-6, engine="plain"))
print(aligned_table([*rows, ["greedy", "", "", "", greedy[:50]]], right_from=5))
assert list(bits.values()) == sorted(bits.values()) and nearly == greedy and describe(greedy)[1] < new[1.0]
assert real[0.2] > real[1.0] > real[1.5] and real[1.5] < 0.5 and new[0.2] < new[1.0]

# %% [markdown]
# Entropy rises with temperature without exception. Low temperatures are safe and repetitive, high ones new and broken:
# at 1.5 less than half of the words are words. At a temperature near zero the text equals the greedy one, letter by
# letter, and that one runs in circles.
#
# **Top-k** keeps the k likeliest characters, **top-p** the fewest whose probabilities reach p; both then sample. Top-k
# keeps equally many everywhere; top-p keeps few where the model is sure and many where it is not.

# %%
chances_TV = logits_TV.softmax(-1).sort(-1, descending=True).values
kept_T = (chances_TV.cumsum(-1) < 0.9).sum(-1) + 1
mended = str(run.generate("The ", 1500, temperature=1.0, seed=1, top_p=0.7, engine="plain"))
print(f"top-p 0.9 keeps {int(kept_T.min())} to {int(kept_T.max())} characters, {kept_T.double().mean():.0f} on average")
print(f"real words at temperature 1: {real[1.0]:.0%}; with top-p 0.7: {describe(mended)[0]:.0%}")
assert kept_T.min() < 3 and kept_T.max() > 10 and describe(mended)[0] > real[1.0]

# %% [markdown]
# ## Greedy is not the best sequence
#
# Two choices are enough for a counterexample. Greedy takes the likelier first symbol and cannot go back. Beam search
# keeps the best `width` beginnings.

# %%
chain = {"": {"A": 0.6, "B": 0.4}, "A": {"x": 0.35, "y": 0.33, "z": 0.32}, "B": {"x": 0.9, "y": 0.05, "z": 0.05}}


def search(width):
    beams = {"": 1.0}
    for _ in range(2):
        longer = {begun + next_: p * q for begun, p in beams.items() for next_, q in chain[begun].items()}
        beams = dict(sorted(longer.items(), key=lambda item: -item[1])[:width])
    return max(beams.items(), key=lambda item: item[1])


best = search(6)  # all there are
assert search(1) == ("Ax", 0.6 * 0.35) and search(2) == best == ("Bx", 0.4 * 0.9)
assert round(0.6 * 0.35, 2) == 0.21 and round(0.4 * 0.9, 2) == 0.36
f"greedy: {search(1)}, beam of 2: {search(2)}, best of all: {best}"

# %% [markdown]
# Greedy ends at 0.21, the best sequence has 0.36. On the trained model we write beam search out, because one common
# version of it contains a mistake. It feeds the last character of the seed to get the starting state, and then, in the
# first step of the loop, feeds the last character of each beam: the same one again. **Predict:** what does the model
# believe that it has read?


# %%
def read(ids):
    return model.read(torch.tensor([ids]), torch.tensor([len(ids)]))  # logits after the last token, and the state


@torch.no_grad()
def beam_search(ids, width, length, feed_twice=False):
    logits_1V, state = read(ids)  # this feeds the last character of the seed
    if feed_twice:
        logits_1V, state = model.step(torch.tensor(ids[-1:]), state)  # the mistake
    beams = [(0.0, [], logits_1V, state)]
    for _ in range(length):
        longer = []
        for total, tokens, logits_1V, state in beams:
            best = logits_1V[0].log_softmax(-1).topk(width)
            for log_p, token in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                longer.append((total + log_p, [*tokens, token], state))
        longer.sort(key=lambda beam: -beam[0])
        beams = [(p, ids, *model.step(torch.tensor(ids[-1:]), state)) for p, ids, state in longer[:width]]
    return tokenizer.decode(beams[0][1]), beams[0][0]


costs = {"fed once": 0.0, "fed twice": 0.0}  # nats for the true next character
with torch.no_grad():
    for end in range(20, 220):
        seed, target = held_out[end - 20 : end].tolist(), held_out[end]
        once_1V, state = read(seed)
        twice_1V, _ = model.step(torch.tensor(seed[-1:]), state)
        costs["fed once"] -= float(once_1V.log_softmax(-1)[0, target]) / 200
        costs["fed twice"] -= float(twice_1V.log_softmax(-1)[0, target]) / 200
    ids = tokenizer.encode("The retu")
    believed_1V, doubled_1V = model.step(torch.tensor(ids[-1:]), read(ids)[1])[0], read([*ids, ids[-1]])[0]
right, wrong = beam_search(ids, 5, 12), beam_search(ids, 5, 12, feed_twice=True)
reference = run.search("The retu", 12, width=5, engine="plain")[0]
print({name: round(nats, 2) for name, nats in costs.items()})
print(f"fed once: 'The retu' -> {right[0]!r}; fed twice: {wrong[0]!r}; seqlab: {reference.text!r}")
assert torch.allclose(believed_1V, doubled_1V, atol=1e-4) and costs["fed twice"] > costs["fed once"] + 0.3
assert right[0] == reference.text and abs(right[1] - reference.logprob) < 1e-3

# %% [markdown]
# The model believes that the seed ends in a doubled letter ("The retuu"): the two distributions are equal. Over two
# hundred held-out beginnings the mistake costs more than 0.3 nats for the next character. The right version uses the
# logits that the last seed character already gave. The mistake is silent: the text looks plausible, only worse.
#
# ## What beam search gives, and length
#
# Every added token lowers the log-probability, so among texts that may end, beam search prefers short ones. The usual
# remedy divides by a power of the length: `score = log p / length^α`. Take a model that ends with probability 0.2
# after every token.

# %%
found = run.search("The ", 120, width=5, engine="plain")[0]
line = run.generate("The ", 120, temperature=0, engine="plain")
samples = run.generate("The ", 120, samples=5, temperature=0.8, seed=3, engine="plain")
log_p = {"greedy": sum(line.generation.logprobs[0]), "beam of 5": found.logprob}
log_p["sampled at 0.8"] = sum(samples.generation.logprobs[0])
texts = {"greedy": str(line), "beam of 5": found.text, "sampled at 0.8": samples.texts[0]}
rows = [[name, f"{log_p[name]:.0f}", f"{describe(texts[name])[1]:.0%}", texts[name][:60]] for name in texts]
print(aligned_table([["", "log p", "new pieces", "text"], *rows], right_from=4))

figure = new_figure(7, 3)
axes, best_length = figure.subplots(), {}
for color, alpha in zip(COLORS, (0.0, 0.7, 1.0), strict=False):
    scores = [((n - 1) * math.log(0.8) + math.log(0.2)) / n**alpha for n in range(1, 41)]
    best_length[alpha] = 1 + scores.index(max(scores))
    axes.plot(range(1, 41), scores, color=color, label=f"α = {alpha}: best length {best_length[alpha]}")
    axes.plot(best_length[alpha], max(scores), "o", color=color)
axes.set(title="the best of each length", xlabel="length with the end token", ylabel="score", ylim=(-3, 0))
axes.legend()
light_grid(axes)
assert best_length[0.0] == 1 and 1 < best_length[0.7] < 40 == best_length[1.0] and abs(0.8 + 0.2 - 1) < 1e-9
assert log_p["beam of 5"] > log_p["sampled at 0.8"] + 30 and len(set(samples.texts)) == 5
assert describe(found.text)[1] < describe(samples.texts[0])[1]
assert run.search("The ", 120, width=5, engine="plain")[0].text == found.text
figure

# %% [markdown]
# Without normalization the best answer is the empty one; with α = 1 the longest; 0.7 lies between. It is often said
# that beam search gives better text. Measured: it gives more probable text, by more than 30 nats, and that text goes
# round in circles. It always gives the same one, while the 5 samples all differ. Search where one answer is right
# (translation), sample where many are (stories). A beam of width k stores k states and takes k times the work.
#
# Limits: a small model after seconds of training; better models repeat less, not never. Go on with
# `seqlab generate RUN --temperature 0.8 --top-p 0.95` and `seqlab generate RUN --beam 5 --length-penalty 0.7`.
#
# ## Exercises
#
# 1. `with_temperature(logits, temperature)`: the list of probabilities; at temperature `0` all weight is on the
#    largest logit. It must not overflow for logits such as `1000`.
# 2. `nucleus(probabilities, p)`: the set of indices that top-p keeps: the fewest, likeliest first, that reach `p`.
# 3. `beam_search(step, state, last, width, length)`: `step(token, state)` returns a list of log-probabilities and the
#    next state; `state` has not seen the token `last` yet. Return the best `length` tokens. Feed each token once.
