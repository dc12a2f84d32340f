# %% [markdown]
# # Teacher forcing and exposure bias
#
# While it trains, a decoder reads the true previous token; when it generates, it reads its own. What does a first
# mistake do to the rest of a sequence, and does training on its own outputs help?

# %%
import torch

import seqlab
from seqlab.plotting import COLORS, light_grid, new_figure
from seqlab.tasks.translate import free_running_logits, pair_batch
from seqlab.text_table import aligned_table

torch.set_num_threads(1)  # small models are fastest on one
STEPS = 400


def train(forcing, **task):
    """Reverse up to eight letters; the decoder gets one vector of the source and no attention."""
    return seqlab.train(
        "reverse", arch="gru", hidden=64, embedding=32, steps=STEPS, lr=0.01, threads=1, out=f"runs/{forcing}",
        overwrite=True,
        settings={
            "corpus.difficulty": 8, "task.attention": "none", "task.beam": 1, "task.forcing": forcing,
            "train.evaluate_every": STEPS, **{f"task.{name}": value for name, value in task.items()},
        },
    )  # fmt: skip


runs = {"teacher forcing": train("teacher")}
runs["teacher forcing"].predict("a b c d e f")[0].as_dict()

# %% [markdown]
# The training loop of teacher forcing needs no decisions: the inputs are the true tokens, shifted by one, so all
# positions can be trained at once. Generation is a loop: begin with the begin symbol, predict a token, feed it back,
# predict the next, until the end symbol comes.
#
# **Predict:** we score the same trained model twice on held-out letters, once reading the true letters (as in
# training) and once reading its own. Where along the sequence do the two differ?

# %%
LETTERS = 7  # the sequences with 7 or 8 letters


def score(run):
    """Right (1) or wrong (0), for every sequence and position: reading true letters, reading its own."""
    split = run.task().splits["validation"]
    batch = pair_batch(split, [row for row, pair in enumerate(split.examples) if len(pair.target) >= 2 * LETTERS - 1])
    with torch.no_grad():
        forced_BTV = run.model(batch.source, batch.inputs_BT, batch.mask_BT)
        free_BTV = free_running_logits(run.model, batch, teacher_ratio=0.0)
    return [(logits_BTV.argmax(-1) == batch.targets_BT)[:, :LETTERS] for logits_BTV in (forced_BTV, free_BTV)]


forced_BT, free_BT = score(runs["teacher forcing"])
figure = new_figure(7, 3)
axes = figure.subplots()
for color, (name, right_BT) in zip(
    COLORS, (("reads the true letters", forced_BT), ("reads its own", free_BT)), strict=False
):
    axes.plot(range(1, LETTERS + 1), (100 * right_BT.double().mean(0)).tolist(), ".-", color=color, label=name)
axes.set(title="trained with teacher forcing", xlabel="position", ylabel="letters right (%)", ylim=(0, 100))
axes.legend()
light_grid(axes)
figure

# %%
seen_wrong_BT = (~free_BT).cumsum(1) - (~free_BT).long() > 0  # some earlier letter was wrong
exact = {"true letters": float(forced_BT.all(1).double().mean()), "its own": float(free_BT.all(1).double().mean())}
after = {"true letters": float(forced_BT[seen_wrong_BT].double().mean())}
after["its own"] = float(free_BT[seen_wrong_BT].double().mean())
rows = [[f"reads {name}", f"{exact[name]:.1%}", f"{after[name]:.0%}"] for name in exact]
print(aligned_table([["", "whole sequence right", "letters right after a mistake"], *rows]))
gap_T = forced_BT.double().mean(0) - free_BT.double().mean(0)
assert abs(exact["true letters"] - exact["its own"]) < 0.01
assert after["its own"] < 0.5 * after["true letters"]
assert abs(gap_T[0]) < 0.01 and gap_T[-3:].mean() > gap_T[:2].mean() + 0.1

# %% [markdown]
# At the first letter the two are equal; then the gap opens and grows: after a mistake, the model that reads its own
# letters gets less than half as many right as the same model reading true ones. This is **exposure bias**: it meets
# inputs that never occurred in training.
#
# It is often said that teacher forcing hides how many sequences come out right. Measured: exactly as many whole
# sequences are right in both cases. That must be so, because until the first mistake both read the same letters. What
# teacher forcing hides is the damage **after** the first mistake.
#
# ## One wrong letter
#
# To see the damage alone, we let every decoder read the true letters except one: the third is replaced by another
# letter. We also train with **scheduled sampling** (Bengio et al. 2015), which feeds the model's own prediction with a
# probability that rises from zero to one half, and with its own predictions only. **Predict** who recovers best.

# %%
runs["scheduled sampling"] = train("scheduled", decay="linear", teacher_ratio=0.5, decay_steps=STEPS)
runs["own outputs only"] = train("free")


def disturb(run):
    """The share of right letters by position if the third letter that it reads is another one."""
    split = run.task().splits["validation"]
    batch = pair_batch(split, [row for row, pair in enumerate(split.examples) if len(pair.target) >= 2 * LETTERS - 1])
    inputs_BT, letters = batch.inputs_BT.clone(), batch.targets_BT[:, :LETTERS].unique()
    place_B = torch.searchsorted(letters, inputs_BT[:, 3].contiguous())
    inputs_BT[:, 3] = letters[(place_B + 1) % len(letters)]  # input 0 is the begin symbol
    with torch.no_grad():
        right_BT = run.model(batch.source, inputs_BT, batch.mask_BT).argmax(-1) == batch.targets_BT
    return right_BT[:, :LETTERS].double().mean(0)


figure = new_figure(7, 3)
axes, rows, late, whole = figure.subplots(), [], {}, {}
for color, (name, run) in zip(COLORS, runs.items(), strict=False):
    right_T, metrics = disturb(run), run.evaluate().metrics
    late[name], whole[name] = float(right_T[-2:].mean()), metrics["exact"]
    axes.plot(range(1, LETTERS + 1), (100 * right_T).tolist(), ".-", color=color, label=name)
    rows.append([name, f"{metrics['nats_per_token']:.3f}", f"{whole[name]:.0f}%", f"{late[name]:.0%}"])
axes.axvline(3.5, color="gray", linestyle=":")
axes.text(3.55, 96, "a wrong letter was read", va="top")
axes.set(title="after one wrong letter", xlabel="position", ylabel="letters right (%)", ylim=(0, 100))
axes.legend(loc="lower left")
light_grid(axes)
print(aligned_table([["trained with", "loss (true letters)", "exact", "last two after a wrong letter"], *rows]))
assert late["own outputs only"] > 1.5 * late["teacher forcing"]
assert whole["teacher forcing"] > whole["own outputs only"] + 5
figure

# %% [markdown]
# Both halves of the textbook story are visible, and they pull apart. The decoder that always read its own outputs gets
# at least 1.5 times as many letters right after a disturbance: it is robust. But at this budget it has learned the
# task less well: teacher forcing gets more sequences exactly right, by more than 5 points. Robustness after mistakes
# is worth little to a model that makes more of them. Early in training its own outputs are noise to learn from, and
# they cost time: positions can no longer be trained in parallel. Scheduled sampling lies between the two.
#
# It is often said that scheduled sampling is a practical compromise that reduces exposure bias at little cost.
# Measured: it reduces the bias, and here the cost is greater than the gain. Longer training may change that: judge by
# what the decoder generates, never by the loss on true tokens, which always favors teacher forcing.
#
# Limits: one task, one seed and a few hundred steps. `seqlab compare --recipe exposure` repeats it with three seeds
# and thousands of steps. In your own translator: `seqlab train a.en a.de --set task.forcing=scheduled`.
#
# ## Exercises
#
# 1. `true_token_probability(step, steps, last)`: the linear schedule: 1 at step 0, `last` at `steps` and after it.
# 2. `decode(predict, begin, truth, use_truth)`: `predict(previous, state)` returns the predicted token and the next
#    state; the first state is `None`. Return the predictions for all positions of `truth`; before position t > 0 the
#    decoder reads `truth[t - 1]` if `use_truth[t]`, else its own prediction. At position 0 it reads `begin`.
# 3. `after_mistake(predicted, truth)`: two lists of equally long lists. Return the share of right tokens among those
#    that come after the first mistake of their sequence, or `None` if there are none.
