"""What attention remembers: rows of vectors that grow at each row's own end."""

import torch
from torch import Tensor


def append(held_BSD: Tensor, new_BTD: Tensor, held_B: Tensor) -> Tensor:
    """Each row's `held_B` vectors followed by its new ones; what stands beyond is of no meaning."""
    S, T = held_BSD.shape[1], new_BTD.shape[1]
    if S == 0:
        return new_BTD
    both = torch.cat([held_BSD, new_BTD], dim=1)
    if bool((held_B == S).all()):
        return both
    place_P = torch.arange(S + T, device=held_B.device)
    index_BP = torch.where(place_P < held_B[:, None], place_P, place_P - held_B[:, None] + S).clamp(max=S + T - 1)
    return both.gather(1, index_BP[:, :, None].expand(-1, -1, both.shape[2]))


def keep_last(held_BSD: Tensor, held_B: Tensor, most: int | None) -> Tensor:
    """Each row's last `most` of its `held_B` vectors, then zeros up to the longest row's end."""
    longest = int(held_B.max()) if held_B.numel() else 0
    if most is not None and longest > most:
        first_B = (held_B - most).clamp(min=0)
        index_BP = (first_B[:, None] + torch.arange(most, device=held_B.device)).clamp(max=held_BSD.shape[1] - 1)
        held_BSD = held_BSD.gather(1, index_BP[:, :, None].expand(-1, -1, held_BSD.shape[2]))
        longest = most
    kept_BSD = held_BSD[:, :longest]
    empty_BS = torch.arange(longest, device=held_B.device) >= held_B[:, None]
    return kept_BSD.masked_fill(empty_BS[:, :, None], 0.0) if bool(empty_BS.any()) else kept_BSD
