"""Checks of the exercises."""

import random

import torch


def check_greedy(answer):
    """greedy decoding"""
    draw = random.Random(0)
    for _ in range(50):
        table = [[draw.random() for _ in range(5)] for _ in range(5)]
        limit, begin, end = draw.randrange(1, 9), 3, 4
        expected, token = [], begin
        for seen in range(limit):
            token = max((table[(token + seen) % 5][index], index) for index in range(5))[1]
            if token == end:
                break
            expected.append(token)

        def step(token, seen, table=table):
            return table[(token + seen) % 5], seen + 1

        given = list(answer.greedy(step, 0, begin, end, limit))
        assert given == expected, (
            f"it is {given!r}; expected {expected}: take the best token, feed it back with the new state, and stop "
            f"before the end token or after {limit} tokens."
        )


def check_encode(answer):
    """sources of different lengths in one batch"""
    rows = [[1.0, -0.5, 2.0], [0.3], [0.7, 0.1]]

    def cell(x_B, h_B):
        return torch.tanh(0.8 * h_B + torch.as_tensor(x_B) + 0.5)  # padding with zeros is not enough

    given = torch.as_tensor(answer.encode(cell, rows))
    for row, result in zip(rows, given, strict=True):
        h_1 = torch.zeros(1)
        for x in row:
            h_1 = cell(torch.tensor([x]), h_1)
        assert torch.allclose(result, h_1[0], atol=1e-5), (
            f"the state after {row} is {float(result):.3f}; expected {float(h_1):.3f}: a row that has ended must keep "
            "its state while the others go on."
        )


def check_needed_numbers(answer):
    """how much one number can hold"""
    for length, letters, bits in ((12, 16, 32), (8, 2, 8), (9, 2, 8), (5, 10, 4), (100, 27, 32)):
        expected = 1
        while (2**bits) ** expected < letters**length:
            expected += 1
        given = answer.needed_numbers(length, letters, bits)
        assert given == expected, (
            f"for {length} of {letters} letters and {bits} bits it is {given!r}; expected {expected}: count the "
            "sequences, then the bits to number them, then round up."
        )
