"""Model answers to the exercises on decoding."""

import math


def with_temperature(logits, temperature):
    if temperature == 0:
        return [float(at == logits.index(max(logits))) for at in range(len(logits))]
    weights = [math.exp((logit - max(logits)) / temperature) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def nucleus(probabilities, p):
    kept, total = set(), 0.0
    for at in sorted(range(len(probabilities)), key=lambda at: -probabilities[at]):
        if total >= p:
            break
        kept.add(at)
        total += probabilities[at]
    return kept


def beam_search(step, state, last, width, length):
    beams = [(0.0, [], last, state)]
    for _ in range(length):
        longer = []
        for total, tokens, token, before in beams:
            log_ps, after = step(token, before)
            longer += [(total + log_p, [*tokens, new], new, after) for new, log_p in enumerate(log_ps)]
        beams = sorted(longer, key=lambda beam: -beam[0])[:width]
    return beams[0][1]
