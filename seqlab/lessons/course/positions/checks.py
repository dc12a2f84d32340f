"""Checks of the exercises."""

import torch

from seqlab.attention.positions import Rotary, Sinusoidal


def _encoding(position, width):
    return Sinusoidal().add(torch.zeros(1, 1, width, dtype=torch.float64), torch.tensor([[position]]))[0, 0]


def check_sinusoid(answer):
    """the sinusoid of a position"""
    for position, width in ((0, 4), (3, 8), (50, 16)):
        given_D, expected_D = torch.as_tensor(answer.sinusoid(position, width)), _encoding(position, width)
        assert given_D.shape == (width,), f"the shape is {tuple(given_D.shape)}; expected ({width},)."
        assert torch.allclose(given_D.double(), expected_D, atol=1e-5), (
            f"position {position} begins with {[round(x, 3) for x in given_D[:4].tolist()]}; expected "
            f"{[round(x, 3) for x in expected_D[:4].tolist()]}: sine and cosine alternate, and pairs share an angle."
        )


def check_rotate(answer):
    """rotary positions"""
    torch.manual_seed(0)
    rotary = Rotary()
    for position, width in ((0, 4), (2, 8), (31, 6)):
        x_K = torch.randn(width, dtype=torch.float64)
        rotations = rotary.rotations(torch.tensor([[position]]), width, torch.float64)
        expected_K = rotary.rotate(x_K[None, None, None], rotations)[0, 0, 0]
        given_K = torch.as_tensor(answer.rotate(x_K, position))
        assert given_K.shape == (width,), f"the shape is {tuple(given_K.shape)}; expected ({width},)."
        assert torch.allclose(given_K.double(), expected_K, atol=1e-5), (
            f"at position {position} it is off by {(given_K - expected_K).abs().max():.3f}: turn (a, b) into "
            "(a cos - b sin, a sin + b cos)."
        )


def check_shift_matrix(answer):
    """a shift as a matrix"""
    for distance, width in ((1, 4), (9, 8)):
        matrix_DD = torch.as_tensor(answer.shift_matrix(distance, width)).double()
        for position in (0, 5, 40):
            expected_D = _encoding(position + distance, width)
            off = (matrix_DD @ _encoding(position, width) - expected_D).abs().max()
            assert off < 1e-5, (
                f"times the encoding of {position} it misses that of {position + distance} by {off:.3f}: it has a "
                "block of cosines and sines for each pair of features, with the angle of the distance."
            )
