# %% [markdown]
# # Encoder, decoder and the bottleneck
#
# An encoder reads a sequence into one vector and a decoder writes another sequence from it. How long a sequence fits
# through one vector, and is its size the reason?

# %%
import torch

import seqlab
from seqlab.data.examples.synthetic.copying import LETTERS
from seqlab.models.translator import SourceBatch
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

options = {
    "corpus.difficulty": 12,  # up to twelve letters
    "model.embedding": 32,
    "task.batch_size": 64,
    "task.beam": 1,
    "train.warmup": 50,
    "train.evaluate_every": 400,
    "train.threads": 1,  # more do not help a model this small
}


def train(attention):
    """An LSTM reads up to twelve letters from both sides, another LSTM writes them in reverse order."""
    settings = options | {"task.attention": attention}
    return seqlab.train("reverse", arch="lstm", hidden=64, steps=400, lr=0.005, settings=settings, out=attention)


vector, attending = train("none"), train("additive")

# %% [markdown]
# Translation, summaries and speech recognition turn a sequence into another one of a different length, so a network
# with one output per input does not fit. The encoder-decoder (Cho et al. 2014; Sutskever et al. 2014) reads first and
# then writes. Reversing letters is the smallest task of this kind: nothing to guess, everything to remember.
#
# ## What passes from encoder to decoder
#
# Two sources of different lengths share a batch; a mask says which positions are padding. Predict the shape of what the
# decoder gets for three letters, and for twelve.

# %%
letter_ids = torch.tensor(vector.tokenizer.encode(" " + " ".join(LETTERS)))


def batch(*texts):
    """The sources as ids, padded on the right, and the mask of what is kept."""
    rows = [vector.tokenizer.encode(" " + text) for text in texts]
    longest = max(map(len, rows))
    tokens_BS = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    return SourceBatch(tokens_BS, torch.arange(longest) < torch.tensor([[len(row)] for row in rows]))


short, long = "a c b", "p o n m l k j i h g f e"
with torch.no_grad():
    together = vector.model.encode(batch(short, long))
    alone = vector.model.encode(batch(short))
torch.testing.assert_close(together.summary_BH[:1], alone.summary_BH)
numbers = {name: run.model.encode(batch(long)) for name, run in (("vector", vector), ("attention", attending))}
assert together.summary_BH.shape == (2, 128) and numbers["attention"].values_BSH.shape == (1, 12, 128)
bits_needed, bits_there = 12 * 4, 128 * 32
assert len(LETTERS) == 2**4 and bits_needed == 48 and bits_there == 128 * 32 == 4096
print("one vector for each source:", tuple(together.summary_BH.shape))
print("with attention, one for each letter:", tuple(numbers["attention"].values_BSH.shape))

# %% [markdown]
# Three letters or twelve, the decoder gets 128 numbers. Padding changes nothing. With attention it gets 128 numbers for
# each letter, so what it can look at grows with the source.
#
# ## Writing, one letter at a time
#
# The decoder begins with a start token. It reads the letter that it has just written, updates its state and writes the
# most probable next letter (greedy decoding), until it writes the end token.

# %%
begin, end = vector.vocabulary.target_tokenizer.begin, vector.vocabulary.target_tokenizer.end


@torch.no_grad()
def write(run, source, steps):
    """Greedy decoding: the token of each step, and its probability."""
    state = run.model.start(source)
    token_B = torch.full((len(source.tokens_BS),), begin)
    tokens, probabilities = [], []
    for _ in range(steps):
        logits_BV, state = run.model.step(token_B, state)
        probability_B, token_B = logits_BV.softmax(1).max(1)
        tokens.append(token_B)
        probabilities.append(probability_B)
    return torch.stack(tokens, dim=1), torch.stack(probabilities, dim=1)


tokens_BT, probability_BT = write(vector, batch(short), 4)
names = {
    begin: "start",
    end: "end",
    **{int(number): letter for number, letter in zip(letter_ids, LETTERS, strict=True)},
}
written = [names[int(token)] for token in tokens_BT[0]]
print(
    aligned_table(
        [
            ["reads", *["start", *written[:-1]]],
            ["writes", *written],
            ["with p", *(f"{p:.2f}" for p in probability_BT[0])],
        ]
    )
)
assert written == ["b", "c", "a", "end"]
assert vector.predict(short, beam=1)[0].translation == "b c a"

# %% [markdown]
# ## The bottleneck
#
# Now many random sources of every length, for three models: one vector, attention, and one vector after twice as many
# steps of training. Predict where each curve falls.


# %%
def exact(run, length, count=200):
    """The share of sources of this length that are reversed without a mistake."""
    draw = torch.Generator().manual_seed(length)
    tokens_BS = letter_ids[torch.randint(len(LETTERS), (count, length), generator=draw)]
    written_BT, _ = write(run, SourceBatch(tokens_BS, torch.ones_like(tokens_BS, dtype=torch.bool)), length + 1)
    right_BT = written_BT == torch.cat([tokens_BS.flip(1), torch.full((count, 1), end)], dim=1)
    return right_BT.all(1).float().mean().item()


lengths = range(2, 13)
curves = {name: [exact(run, n) for n in lengths] for name, run in (("one vector", vector), ("attention", attending))}
longer = seqlab.resume(vector, more=400)
curves["one vector, twice as long"] = [exact(longer, n) for n in lengths]
at = {name: dict(zip(lengths, curve, strict=True)) for name, curve in curves.items()}
figure = new_figure(6.5, 3.2)
axes = figure.subplots()
for color, (name, curve) in zip(COLORS, curves.items(), strict=False):
    axes.plot(lengths, curve, "o-", color=color, label=name)
axes.set(title="Reversed without a mistake", xlabel="letters of the source", ylabel="share", ylim=(-0.02, 1.05))
axes.legend(frameon=False, fontsize=8)
light_grid(axes)
figure

# %% [markdown]
# ## Is the vector too small?
#
# With attention, at least half of the longest sources are right. One vector reverses up to four letters in more than
# 80% of the cases and eleven in less than 5%. It is often said that **the vector is too small, so information gets
# lost**. Count: twelve of sixteen letters are 48 bits, and 128 numbers of 32 bits are 4,096 bits.

# %%
assert min(at["attention"].values()) > 0.5 and min(at["one vector"][n] for n in (2, 3, 4)) > 0.8
assert at["one vector"][11] < 0.05 and at["one vector"][7] < 0.55
assert at["one vector, twice as long"][7] > at["one vector"][7] + 0.1
gained = {n: round(at["one vector, twice as long"][n] - at["one vector"][n], 2) for n in lengths}
print("gained by training twice as long:", gained)

# %% [markdown]
# Measured: after twice the training the same vector holds seven letters in at least 10 percentage points more of the
# cases. So size is not the limit here; the limit is learning to pack many letters into one vector and to unpack them.
# Attention makes that unnecessary. Both statements are about this size and this time of training: a vector of any size
# has a last length that fits.
#
# Limits: short random letters, one seed, one size. Real sentences repeat themselves and compress better.
# `seqlab compare --recipe bottleneck` trains three kinds of models on up to `20` letters with three seeds;
# `seqlab train copy --set task.attention=none` is the same in forward order. What the decoder reads while it learns
# (true letters or its own) is the subject of lesson 15.
#
# ## Exercises
#
# Check your file with `seqlab learn encoder_decoder --check answer.py`.
#
# 1. `greedy(step, state, begin, end, limit)`: decode greedily. `step(token, state)` returns a list of scores, one for
#    each token, and the next state. Return the list of tokens without the end token, at most `limit` of them.
# 2. `encode(cell, rows)`: the final state for each of several lists of inputs, which have different lengths, when they
#    are padded to one length and read together. `cell(x_B, h_B)` returns the next states of all rows; states start at
#    zero. Padding must not change a state.
# 3. `needed_numbers(length, letters, bits)`: how many numbers of this many bits it takes at least to tell apart all
#    sequences of this length over so many letters.
