"""Room for what attention keeps of a text."""

import torch

from seqlab.decode.engine import EngineState


def grown(state: EngineState, tokens: int, most: int | None) -> EngineState:
    """With room in keys_B..S and values_B..S. for so many tokens more; at `most` they go round."""
    keys, values = state.arrays[-2:]
    room = keys.shape[-1]
    needed = int(state.lengths_B.max()) + tokens
    needed = needed if most is None else min(needed, most)
    if needed <= room:
        return state.copy()
    wanted = max(needed, 2 * room, 32)
    more = (wanted if most is None else min(wanted, most)) - room
    keys = torch.cat([keys, keys.new_zeros(*keys.shape[:-1], more)], dim=-1)
    values = torch.cat([values, values.new_zeros(*values.shape[:-2], more, values.shape[-1])], dim=-2)
    return EngineState(state.lengths_B.clone(), (*(array.clone() for array in state.arrays[:-2]), keys, values))
