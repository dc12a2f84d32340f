# %% [markdown]
# # A fixed window
#
# What can a network never learn if it reads only the last few words?
#
# "The students who did well on the exam **were** happy": the verb agrees with *students*, although *exam* is closer.
# A feed-forward network reads a fixed number of words: its window. With a window of one word it is a bigram network.
#
# These sentences let us choose the distance between subject and verb. The label is the number of the subject, which
# decides between *was* and *were*. The last word before the verb is another noun, as *exam* is above.

# %%
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from seqlab.plotting import COLORS, light_grid, new_figure

NOUNS, FILLERS, WIDTH, HIDDEN = 8, 12, 16, 32
WORDS = 2 * NOUNS + FILLERS  # nouns come in singular and plural


def sentences(count: int, distance: int, seed: int) -> tuple[Tensor, Tensor]:
    """The words before the verb; the subject is `distance` words away from it. And whether the subject is plural."""
    draw = torch.Generator().manual_seed(seed)
    plural_B = torch.randint(2, (count,), generator=draw)
    words_BT = torch.randint(2 * NOUNS, WORDS, (count, distance), generator=draw)
    words_BT[:, -1] = torch.randint(2 * NOUNS, (count,), generator=draw)
    words_BT[:, 0] = torch.randint(NOUNS, (count,), generator=draw) + NOUNS * plural_B
    return words_BT, plural_B


words_BT, plural_B = sentences(3, distance=5, seed=0)
words_BT, plural_B

# %% [markdown]
# ## Two networks
#
# Both embed the words and have a hidden layer of the same width. The window joins the embeddings of its words into
# one long input. The recurrence reads one word at a time and keeps a **state**, its memory; the next lessons take it
# apart.
#
# **Predict** before you run the cell: the window has 4 words. How often is it right at distance 4, and how often at
# distance 5?


# %%
class Window(nn.Module):
    def __init__(self, span: int):
        super().__init__()
        self.span, self.embedding = span, nn.Embedding(WORDS + 1, WIDTH)  # the last one means: no word here
        self.layers = nn.Sequential(nn.Linear(span * WIDTH, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 2))

    def forward(self, words_BT: Tensor) -> Tensor:
        seen_BT = pad(words_BT, (self.span, 0), value=WORDS)[:, -self.span :]
        return self.layers(self.embedding(seen_BT).flatten(1))


class Recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.recurrent = nn.Embedding(WORDS, WIDTH), nn.GRU(WIDTH, HIDDEN, batch_first=True)
        self.output = nn.Linear(HIDDEN, 2)

    def forward(self, words_BT: Tensor) -> Tensor:
        return self.output(self.recurrent(self.embedding(words_BT))[0][:, -1])


def train(model: nn.Module, distances: list[int], steps: int = 300) -> nn.Module:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(steps):
        words_BT, plural_B = sentences(64, distances[step % len(distances)], seed=1000 + step)
        optimizer.zero_grad()
        cross_entropy(model(words_BT), plural_B).backward()
        optimizer.step()
    return model


def accuracy(model: nn.Module, distance: int) -> float:
    words_BT, plural_B = sentences(2000, distance, seed=1)
    with torch.no_grad():
        return (model(words_BT).argmax(1) == plural_B).float().mean().item()


torch.manual_seed(0)
distances = [2, 3, 4, 5, 6, 8, 12, 16]
models = {"window of 4": train(Window(4), distances), "recurrence": train(Recurrence(), distances)}
curves = {name: {distance: accuracy(model, distance) for distance in distances} for name, model in models.items()}

figure = new_figure(6.5, 3)
axes = figure.subplots()
for (name, curve), color in zip(curves.items(), COLORS, strict=False):
    axes.plot([*curve], [*curve.values()], "o-", label=name, color=color)
axes.set(title="Agreement by distance", xlabel="words from subject to verb", ylabel="accuracy", ylim=(0.4, 1.03))
axes.legend()
light_grid(axes)
figure

# %% [markdown]
# Up to distance 4 the window is right more than 95% of the time. From distance 5 on it guesses: between 44% and 56%
# right. No width, no data and no training can help, because the subject is not in the input. The recurrence is right
# more than 95% of the time at distance 16, too.

# %%
window_of_4, recurrence = curves.values()
assert min(window_of_4[2], window_of_4[3], window_of_4[4]) > 0.95
assert all(0.44 < window_of_4[distance] < 0.56 for distance in distances if distance >= 5)
assert recurrence[16] > 0.95

# %% [markdown]
# ## Why not a wider window?
#
# First, it is larger: every further word adds weights to the first layer. Second, **every position has weights of its
# own**. What the network learns about a subject at one distance does not carry over to another. To see it, train a
# window of 8 and a recurrence on distances up to 6 and test both at distance 8, which the window could see.

# %%
torch.manual_seed(0)
short = [2, 3, 4, 5, 6]
wide, shared = train(Window(8), short), train(Recurrence(), short)
for name, model in {"window of 8": wide, "recurrence": shared}.items():
    print(f"{name:12} distance 6: {accuracy(model, 6):.2f}   distance 8: {accuracy(model, 8):.2f}")
one_word_more = sum(map(Tensor.numel, Window(9).parameters())) - sum(map(Tensor.numel, Window(8).parameters()))
print(f"a window of 9 has {one_word_more} weights more")
assert one_word_more == 512
assert accuracy(wide, 6) > 0.95 and accuracy(wide, 8) < 0.75
assert accuracy(shared, 6) > 0.95 and accuracy(shared, 8) > 0.95

# %% [markdown]
# At distance 6 both are right more than 95% of the time. At distance 8 the window falls below 75%, and the recurrence
# stays above 95%: it uses the same weights for every word. One more word costs the window 512 weights and the
# recurrence none.
#
# What this does not show: that a recurrence remembers over any distance. Lesson 3 measures where it stops. On running
# text most of what can be predicted depends on the last few characters, so a window is a strong baseline there:
# `seqlab compare python-docs --archs feedforward,rnn,lstm` compares them, `--set backbone.span=1` is the bigram
# network, and `seqlab inspect RUN --text "..." --view memory` shows how far back a trained model really looks.
#
# ## Exercises
#
# Write a file `answer.py` that defines these functions. `seqlab learn 1 --check answer.py` checks them.
#
# 1. `context(words, span)`: the list of words that a window of `span` words sees after the list `words`, with `None`
#    in front where there is no word.
# 2. `window_parameters(words, width, span, hidden)`: how many parameters the network `Window` has, as a number, for a
#    vocabulary of `words` (and one embedding more for "no word here"), two outputs, and with the biases.
# 3. `indistinguishable(first, second, span)`: whether two lists of words get the same prediction from every network
#    with that window, whatever its weights are.
