"""Model answers."""

import math

import torch


def greedy(step, state, begin, end, limit):
    tokens, token = [], begin
    while len(tokens) < limit:
        scores, state = step(token, state)
        token = max(range(len(scores)), key=lambda index: scores[index])
        if token == end:
            break
        tokens.append(token)
    return tokens


def encode(cell, rows):
    h_B = torch.zeros(len(rows))
    for t in range(max(map(len, rows))):
        x_B = torch.tensor([float(row[t]) if t < len(row) else 0.0 for row in rows])
        kept_B = torch.tensor([t < len(row) for row in rows])
        h_B = torch.where(kept_B, cell(x_B, h_B), h_B)
    return h_B


def needed_numbers(length, letters, bits):
    return math.ceil(length * math.log2(letters) / bits)
