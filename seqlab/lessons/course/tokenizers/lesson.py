# %% [markdown]
# # Tokenizers
#
# A text can be cut into characters, bytes, words or byte pairs. How do you compare models that cut it differently, and
# what does a fast tokenizer have to compute?

# %%
import math
import re
import warnings
from collections import Counter
from pathlib import Path

import seqlab
from seqlab.data.text.corpus import open_corpus
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table
from seqlab.tokenization.bpe import BpeSettings, BpeTokenizer

text = " ".join("".join(open_corpus(("python-docs",)).blocks()).split())[:60_000]
Path("docs.txt").write_text(text)
choices = {"char": {}, "byte": {}, "bpe": {"tokenizer.vocab_size": 600}, "word": {"tokenizer.vocab_size": 2000}}
runs, results = {}, {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the word tokenizer names the words that it does not know
    for name, settings in choices.items():
        runs[name] = seqlab.train(
            "docs.txt", arch="gru", hidden=64, embedding=32, tokenizer=name, window=48, steps=120, lr=0.01, threads=1,
            out=f"runs/{name}", overwrite=True, settings={"train.evaluate_every": 120, **settings},
        )  # fmt: skip
        results[name] = runs[name].evaluate()

table = [["tokenizer", "vocabulary", "tokens", "unknown", "perplexity", "bits per character"]]
for name, result in results.items():
    scores, metrics = result.scores, result.metrics
    unknown = f"{scores.unknown_tokens / scores.tokens:.1%}"
    numbers = (f"{runs[name].tokenizer.vocab_size:,}", f"{scores.tokens:,}", unknown)
    table.append([name, *numbers, f"{metrics['perplexity']:.1f}", f"{metrics['bits_per_char']:.3f}"])
print(aligned_table(table))
figure = new_figure(8, 2.8)
left, right = figure.subplots(1, 2)
left.bar(list(results), [result.metrics["perplexity"] for result in results.values()], color=COLORS[0])
left.set(title="does not compare", ylabel="perplexity per token")
right.bar(list(results), [result.metrics["bits_per_char"] for result in results.values()], color=COLORS[1])
right.set(title="compares", ylabel="bits per character")
light_grid(left)
light_grid(right)
figure

# %% [markdown]
# **Before you read on:** which of the four models predicts the text best?
#
# Perplexity is per **token**: `exp(nats per token)`. A word model chooses among thousands at each step, but steps less
# often. Bits per character spread all nats over the characters that every tokenizer shares, so they compare:
# `bits per character = tokens * log2(perplexity) / characters`.

# %%
by_hand = {}
for name, result in results.items():
    scores, perplexity = result.scores, result.metrics["perplexity"]
    by_hand[name] = scores.tokens * math.log2(perplexity) / scores.characters
perplexity = {name: result.metrics["perplexity"] for name, result in results.items()}
bits = {name: result.metrics["bits_per_char"] for name, result in results.items()}
assert all(math.isclose(by_hand[name], bits[name], rel_tol=1e-6) for name in ("char", "byte", "bpe"))
assert perplexity["char"] < perplexity["bpe"] and bits["char"] > bits["bpe"]  # the order is reversed
assert bits["word"] > by_hand["word"]  # the spelling of unknown words is added
word = results["word"].scores
share = word.unknown_tokens / word.tokens
assert share > 0.03 and results["bpe"].scores.unknown_tokens == results["byte"].scores.unknown_tokens == 0
claimed = math.log2(48) / 3.2
assert math.isclose(claimed, 1.75, abs_tol=0.005) and math.isclose(2 ** (3.2 * claimed), 48)
print(f"a perplexity of 48 at 3.2 bits per character would mean {claimed:.2f} characters per token")
print(f"word: {by_hand['word']:.3f} bits without the spelling of unknown words, {bits['word']:.3f} with it")

# %% [markdown]
# By perplexity, characters beat byte pairs; by bits per character it is the other way around. The second is right. A
# reported pair of numbers can be checked: a perplexity of 48 at 3.2 bits per character means 1.75 characters per
# token, which is short for byte pairs.
#
# More than 3% of the word tokens are unknown in held-out text. A model that may answer "some unknown word" gets these
# positions cheaply, and its text cannot be restored. So seqlab adds the bits of spelling them; without that the word
# model looks better than it is. Characters and words can be unknown, bytes never: that is why byte pairs start there.
#
# (All four had equally many steps of 48 tokens, so the word model has read more text than the others.)
#
# ## Byte-pair encoding in a few lines
#
# Training: count all neighboring pairs inside words, join the most frequent one everywhere, repeat. Encoding: apply
# the merges to a new word in the order in which they were learned. We do it with 20 merges on lowercase words.

# %%
plain = re.sub("[^a-z]+", " ", " " + text.lower())
words = Counter(re.findall(" [a-z]+", plain))


def join(pieces, pair):
    """Every occurrence of the pair becomes one piece, from left to right."""
    joined, at = [], 0
    while at < len(pieces):
        size = 2 if tuple(pieces[at : at + 2]) == pair else 1
        joined.append("".join(pieces[at : at + size]))
        at += size
    return joined


split, merges = {word: list(word) for word in words}, []
for _ in range(20):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(split[word], split[word][1:], strict=False):
            pairs[pair] += count
    merges.append(max(pairs, key=pairs.__getitem__))
    split = {word: join(pieces, merges[-1]) for word, pieces in split.items()}

library = BpeTokenizer.train([plain], BpeSettings(vocab_size=256 + 20))
assert merges == [(left.decode(), right.decode()) for left, right in library.merges] and len(merges) == 20
" ".join("".join(pair).replace(" ", "_") for pair in merges)

# %% [markdown]
# The same 20 merges as seqlab's, which calls a compiled library.
#
# ## Merges, longest match, and speed
#
# It is often said that a greedy algorithm makes a byte-pair tokenizer a hundred times faster, `O(n)` instead of
# `O(n²)`. **Predict:** does cutting off the longest known token from the left give the same tokens? We count how many
# pairs or candidates each method looks at.

# %%
tokenizer = BpeTokenizer.train([plain], BpeSettings(vocab_size=600))
rank = {left + right: at for at, (left, right) in enumerate(tokenizer.merges)}
known = {tokenizer.decode_bytes([token]) for token in range(tokenizer.vocab_size)}


def by_merges(text):
    """One merge at a time, the earliest learned first; and the number of pairs looked at."""
    pieces, looked = [bytes([byte]) for byte in text], 0
    while True:
        looked += len(pieces) - 1
        found = [(rank[pair], at) for at in range(len(pieces) - 1) if (pair := pieces[at] + pieces[at + 1]) in rank]
        if not found:
            return pieces, looked
        at = min(found)[1]
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]


def by_longest_match(text):
    pieces, at, looked = [], 0, 0
    while at < len(text):
        size = min(len(text) - at, max(map(len, known)))
        while text[at : at + size] not in known:
            size, looked = size - 1, looked + 1
        pieces.append(text[at : at + size])
        at, looked = at + size, looked + 1
    return pieces, looked


lengths, looked = (100, 200, 400, 800, 1600), {"whole text": [], "word by word": [], "longest match": []}
for length in lengths:
    piece = plain[:length].rsplit(" ", 1)[0]
    cut = [word.encode() for word in re.findall(" [a-z]+", piece)]
    looked["whole text"].append(by_merges(piece.encode())[1])
    looked["word by word"].append(sum(by_merges(word)[1] for word in cut))
    looked["longest match"].append(sum(by_longest_match(word)[1] for word in cut))
    assert [token for word in cut for token in by_merges(word)[0]] == by_merges(piece.encode())[0]
    assert [tokenizer.decode_bytes([token]) for token in tokenizer.encode(piece)] == by_merges(piece.encode())[0]
differ = [word for word in words if by_longest_match(word.encode())[0] != by_merges(word.encode())[0]]
example = differ[0].encode()
print(f"{len(differ) / len(words):.0%} of the words are cut differently, as {example.decode()!r}:")
print(by_merges(example)[0], by_longest_match(example)[0])
growth = {name: math.log(counts[-1] / counts[0], lengths[-1] / lengths[0]) for name, counts in looked.items()}
ratio = looked["whole text"][-1] / looked["word by word"][-1]
assert growth["whole text"] > 1.7 and growth["word by word"] < 1.3 and growth["longest match"] < 1.3
assert ratio > 50 and lengths[-1] == 1600 and len(differ) / len(words) > 0.1

figure = new_figure(7, 3)
axes = figure.subplots()
for color, (name, counts) in zip(COLORS, looked.items(), strict=False):
    axes.loglog(lengths, counts, ".-", color=color, label=f"{name}: n to the power {growth[name]:.1f}")
axes.set(title="work to encode n characters", xlabel="n", ylabel="pairs or candidates looked at")
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# Merging over the whole text is quadratic. But no merge crosses the boundary of a word, so doing it **word by word**
# gives the same tokens with linear work: more than 50 times less at 1600 characters, and the factor grows with the
# length. "A hundred times faster" is therefore no property of a method. Measured: the longest match is linear, too,
# but it is **another tokenizer**: it cuts more than 10% of the words differently. A model that was trained with one
# must not be used with the other.
#
# Limits: tiny models on one text. Go on with `seqlab train my.txt --tokenizer bpe` and
# `seqlab doctor my.txt`, which says what each tokenizer would make of your text.
#
# ## Exercises
#
# 1. `bits_per_character(perplexity, tokens, characters)`.
# 2. `learn_merges(words, count)`: `words` maps words to how often they occur. Return the first `count` merges as pairs
#    of strings. (The checks have no ties.)
# 3. `encode(word, merges)`: the list of pieces, by applying the merges in their order.
