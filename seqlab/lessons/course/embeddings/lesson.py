# %% [markdown]
# # Embeddings
#
# A model turns words into vectors: one for each word, or one for each word in its context. What do the two know, and
# how well do they find documents?

# %%
import math
import re
import warnings
from collections import Counter
from pathlib import Path
from random import Random

import torch
from torch.nn.functional import cosine_similarity, normalize

import seqlab
from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.config import ModelSettings
from seqlab.data.text.corpus import open_corpus
from seqlab.models.parameter_count import token_parameters
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.text_table import aligned_table

torch.set_num_threads(1)  # small models are fastest on one
rng = Random(0)
kinds = {
    "animals": ["cats", "dogs", "foxes", "owls", "hens", "fish"],
    "verbs": ["sleep", "hide", "rest", "wait", "hunt", "fish"],
    "places": ["mats", "rugs", "beds", "huts", "trees", "lakes"],
    "properties": ["red", "old", "big", "sad", "wet", "small"],
}


def sentence():
    first, animal, verb, second, place = (
        rng.choice(kinds[kind]) for kind in ("properties", "animals", "verbs", "properties", "places")
    )
    return f"the {first} {animal} {verb} by the {second} {place} ."


Path("animals.txt").write_text(" ".join(sentence() for _ in range(3000)))
small = {"arch": "gru", "tokenizer": "word", "window": 32, "steps": 150, "lr": 0.01, "threads": 1, "overwrite": True}
small["settings"] = {"train.evaluate_every": 150}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the held-out part may begin with half a sentence
    run = seqlab.train("animals.txt", hidden=32, embedding=16, out="runs/animals", **small)
words = [word for kind in kinds.values() for word in kind if word != "fish"]
kind_of = {word: kind for kind, members in kinds.items() for word in members}
vectors_NE = normalize(run.model.embedding.weight.detach()[[run.tokenizer.encode(" " + word)[0] for word in words]])
similar_NN = vectors_NE @ vectors_NE.T
similar_NN.fill_diagonal_(-1)
neighbors = {word: [words[at] for at in similar_NN[row].topk(3).indices.tolist()] for row, word in enumerate(words)}
same = sum(kind_of[word] == kind_of[nearest[0]] for word, nearest in neighbors.items()) / len(words)
rows = [[word, ", ".join(neighbors[word])] for word in ("cats", "hide", "huts", "wet")]
print(aligned_table([["word", "nearest"], *rows], right_from=2))
print(f"the nearest word is of the same kind for {same:.0%} of the words")
assert same > 0.8 and len(words) == 22

# %% [markdown]
# Nobody told the model that cats and dogs are alike. It only had to predict the next word, and words with the same
# neighbors get similar vectors: for more than 80% of the 22 words the nearest one is of the same kind.
#
# One word is missing in the table: "fish" is an animal and a verb. **Predict:** where does its one vector lie, and
# where do the hidden states lie that the model has after reading it in a sentence?

# %%


def states(text):
    """The hidden state after every word."""
    with torch.no_grad():
        return run.model.backbone(run.model.embed(torch.tensor([run.tokenizer.encode(text)])))[0][0]


contexts = {"fish, the animal": [], "fish, the verb": [], "cats": [], "hide": []}
for _ in range(60):
    begin = f"the {rng.choice(kinds['properties'])}"
    contexts["fish, the animal"].append(states(f"{begin} fish")[-1])
    contexts["fish, the verb"].append(states(f"{begin} {rng.choice(['cats', 'owls', 'hens'])} fish")[-1])
    contexts["cats"].append(states(f"{begin} cats")[-1])
    contexts["hide"].append(states(f"{begin} {rng.choice(['cats', 'owls', 'hens'])} hide")[-1])
clouds = {name: torch.stack(vectors) for name, vectors in contexts.items()}


def likeness(a, b):
    return float(cosine_similarity(clouds[a].mean(0), clouds[b].mean(0), dim=0))


noun, verb = "fish, the animal", "fish, the verb"
print(f"'fish' the animal is like 'cats': {likeness(noun, 'cats'):.2f}, like 'hide': {likeness(noun, 'hide'):.2f}")
print(f"'fish' the verb is like 'cats': {likeness(verb, 'cats'):.2f}, like 'hide': {likeness(verb, 'hide'):.2f}")
assert likeness(noun, "cats") > likeness(noun, "hide") + 0.1 and likeness(verb, "hide") > likeness(verb, "cats") + 0.1
everything_NH = torch.cat(list(clouds.values()))
axes_H2 = torch.linalg.svd(everything_NH - everything_NH.mean(0), full_matrices=False).Vh[:2].T
figure = new_figure(6, 3.6)
axes = figure.subplots()
for color, marker, (name, cloud_NH) in zip(COLORS, "osx+", clouds.items(), strict=False):
    points_N2 = (cloud_NH - everything_NH.mean(0)) @ axes_H2
    axes.scatter(points_N2[:, 0].tolist(), points_N2[:, 1].tolist(), color=color, marker=marker, label=name)
axes.set(title="hidden states after a word, two main axes", xlabel="axis 1", ylabel="axis 2")
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# The embedding gives "fish" one vector, whatever it means. The hidden states fall into two clouds, one on
# the side of "cats", one on the side of "hide"; a second axis still separates the words. These are **contextual
# vectors**: the same word, another vector in another context.
#
# ## Tied weights
#
# The embedding has a row for each token, and so has the output layer. **Tying** uses one matrix for both. It was not
# invented to save memory, but with a large vocabulary that is most of the model.

# %%
core, V, E = LstmSettings(hidden=128), 20_000, 128
untied = token_parameters(ModelSettings(embedding=E, tie_embeddings=False), core, V).total
tied = token_parameters(ModelSettings(embedding=E, tie_embeddings=True), core, V).total
assert untied - tied == 20_000 * 128 - 128 * 128 and round(untied / 1e6, 2) == 5.27 and round(tied / 1e6, 2) == 2.73
f"20,000 tokens, width 128: {untied:,} parameters, tied {tied:,}"

# %% [markdown]
# 5.27 against 2.73 million parameters. Whether it also predicts better at equal size is a question for a comparison:
# `seqlab compare --recipe tying`. Do not confuse it with sharing weights over time, which every recurrence does.
#
# ## Finding documents
#
# It is often said that contextual vectors make better document search than words do. We test it on paragraphs of the
# Python reference: the last twelve words of a paragraph are the query, the rest is the document. A small language
# model gives the vectors of all words; **pooling** makes one of them: their mean, their maximum, or the last one. The
# opponent counts words, and weights rare ones more (tf-idf). **Predict** the order.

# %%
paragraphs = [" ".join(part.split()) for part in "".join(open_corpus(("python-docs",)).blocks()).split("\n\n")]
paragraphs = [part for part in dict.fromkeys(paragraphs) if len(part.split()) >= 40][:200]
Path("docs.txt").write_text("\n".join(paragraphs))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # some words of the held-out part are unknown
    reader = seqlab.train("docs.txt", hidden=96, embedding=64, out="runs/reader", **small)
    documents = [" ".join(part.split()[:-12]) for part in paragraphs]
    queries = [" ".join(part.split()[-12:]) for part in paragraphs]
    ids = [[reader.tokenizer.encode(text) for text in half] for half in (documents, queries)]


def pooled(tokens, how):
    with torch.no_grad():
        embedded_1TE = reader.model.embed(torch.tensor([tokens]))
        states_TH = embedded_1TE[0] if how == "mean of embeddings" else reader.model.backbone(embedded_1TE)[0][0]
    return {"last state": states_TH[-1], "maximum of states": states_TH.max(0).values}.get(how, states_TH.mean(0))


frequency = Counter(word for part in paragraphs for word in set(re.findall(r"\w+", part.lower())))
place = {word: at for at, word in enumerate(frequency)}


def counted(text):
    vector = torch.zeros(len(place))
    for word, count in Counter(re.findall(r"\w+", text.lower())).items():
        vector[place[word]] = (1 + math.log(count)) * math.log(len(paragraphs) / frequency[word])
    return vector


def reciprocal_rank(documents_ND, queries_ND):
    """The mean of 1 / rank of the right document."""
    scores_NN = normalize(queries_ND) @ normalize(documents_ND).T
    return float((1 / (scores_NN >= scores_NN.diagonal()[:, None]).sum(1)).mean())


counts = [torch.stack([counted(text) for text in half]) for half in (documents, queries)]
found = {"word counts (tf-idf)": reciprocal_rank(*counts)}
for how in ("mean of embeddings", "mean of states", "maximum of states", "last state"):
    vectors = [torch.stack([pooled(tokens, how) for tokens in half]) for half in ids]
    middle = vectors[0].mean(0)  # all vectors of a model point roughly the same way: remove that
    found[how] = reciprocal_rank(vectors[0] - middle, vectors[1] - middle)
figure = new_figure(7, 2.6)
axes = figure.subplots()
axes.barh(list(found)[::-1], list(found.values())[::-1], color=COLORS[0])
axes.set(
    title=f"finding one of {len(paragraphs)} paragraphs", xlabel="mean reciprocal rank (1: always first)", xlim=(0, 1)
)
light_grid(axes)
print({name: round(value, 3) for name, value in found.items()})
figure

# %%
learned = {name: value for name, value in found.items() if name != "word counts (tf-idf)"}
chance = sum(1 / rank for rank in range(1, len(paragraphs) + 1)) / len(paragraphs)
print(f"by chance: {chance:.3f}")
assert len(paragraphs) == 200 and found["word counts (tf-idf)"] > 1.5 * max(learned.values())
assert found["mean of states"] > 2 * chance and found["mean of states"] > found["last state"]

# %% [markdown]
# Measured: word counts are at least 1.5 times as good as the best vectors of this model, and they need no training.
# Among the vectors, the mean is better than the last state, which mostly knows what comes next. All beat chance.
#
# Limits: a model that has read one small text for seconds. Encoders that were trained for search, on millions of
# pairs, beat word counts on many collections, not on all. The lesson is the opponent: whoever reports search by
# vectors has to show word counts beside it.
#
# Go on with `seqlab compare --recipe mini-encoder`, which prints contextual vectors of an encoder word by word.
#
# ## Exercises
#
# 1. `nearest(vectors, row, count)`: `vectors` is a tensor (rows x width). Return the list of the `count` other rows
#    with the largest cosine to `row`, the most similar first.
# 2. `pool(states, mask, how)`: `states` is (batch x time x width), `mask` (batch x time) is true at real tokens. Return
#    the `"mean"`, the `"max"` or the `"last"` state of the real tokens of each row.
# 3. `mean_reciprocal_rank(scores)`: a square list of lists; `scores[q][d]` rates document d for query q, and document q
#    is the right one. The rank of the right document is the number of documents with at least its score.
