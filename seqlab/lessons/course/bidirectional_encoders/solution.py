"""Model answers to the exercises on bidirectional encoders."""

from itertools import accumulate


def read_both_ways(step, inputs, start):
    forward = list(accumulate(inputs, step, initial=start))[1:]
    backward = list(accumulate(reversed(inputs), step, initial=start))[1:]
    return list(zip(forward, reversed(backward), strict=True))


def mask_tokens(ids, mask, vocab_size, rng):
    inputs, targets = list(ids), [None] * len(ids)
    for at, token in enumerate(ids):
        if rng.random() < 0.15:
            targets[at] = token
            what = rng.random()
            if what < 0.8:
                inputs[at] = mask
            elif what < 0.9:
                inputs[at] = rng.randrange(vocab_size)
    return inputs, targets


def encoder_parameters(vocab_size, width, layers, feedforward, positions):
    norm = 2 * width
    embeddings = (vocab_size + positions + 2) * width + norm
    attention = 4 * (width * width + width)
    inner = 2 * width * feedforward + feedforward + width
    pooler = width * width + width
    return embeddings + layers * (attention + inner + 2 * norm) + pooler
