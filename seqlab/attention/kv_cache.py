"""The KV cache: vectors that attention keeps. Each row grows at its own end."""

import torch
from torch import Tensor


def append(cache_BSD: Tensor, new_BTD: Tensor, lengths_B: Tensor) -> Tensor:
    """Each row's first `lengths_B` cached vectors, followed by its new ones; vectors after those are arbitrary."""
    S, T = cache_BSD.shape[1], new_BTD.shape[1]
    if S == 0:
        return new_BTD
    both = torch.cat([cache_BSD, new_BTD], dim=1)
    if bool((lengths_B == S).all()):
        return both
    slot_P = torch.arange(S + T, device=lengths_B.device)
    index_BP = torch.where(slot_P < lengths_B[:, None], slot_P, slot_P - lengths_B[:, None] + S).clamp(max=S + T - 1)
    return both.gather(1, index_BP[:, :, None].expand(-1, -1, both.shape[2]))


def keep_last(cache_BSD: Tensor, lengths_B: Tensor, most: int | None) -> Tensor:
    """The last `most` of each row's `lengths_B` vectors, then zeros up to the end of the longest row."""
    longest = int(lengths_B.max()) if lengths_B.numel() else 0
    if most is not None and longest > most:
        first_B = (lengths_B - most).clamp(min=0)
        index_BP = (first_B[:, None] + torch.arange(most, device=lengths_B.device)).clamp(max=cache_BSD.shape[1] - 1)
        cache_BSD = cache_BSD.gather(1, index_BP[:, :, None].expand(-1, -1, cache_BSD.shape[2]))
        longest = most
    kept_BSD = cache_BSD[:, :longest]
    empty_BS = torch.arange(longest, device=lengths_B.device) >= lengths_B[:, None]
    return kept_BSD.masked_fill(empty_BS[:, :, None], 0.0) if bool(empty_BS.any()) else kept_BSD
