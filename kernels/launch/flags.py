"""Flags for launches whose thread blocks wait for each other: zero before a launch, which leaves them so.

What is allocated while a CUDA graph is captured would be set to zero at each replay, by a kernel of its own
that takes as long as a small product. So captured launches get flags from a pool that was zeroed once. Each
keeps its own for good, since nobody tells when a graph is gone; what finds the pool empty is zeroed as ever.
"""

import torch

POOLED = 2**22
"""int32 of a GPU's pool, enough for some thousand captured launches."""

_left: dict[int, torch.Tensor] = {}
"""By the GPU's index: what of its pool no launch has."""


def flags(rows: int, columns: int) -> torch.Tensor:
    """Zeros on the current GPU that no other launch has: int32 [rows, columns]."""
    here, size = torch.cuda.current_device(), rows * columns
    if torch.cuda.is_current_stream_capturing():
        left = _left.get(here)
        if left is not None and size <= len(left):
            _left[here] = left[size:]
            return left[:size].view(rows, columns)
    elif here not in _left:
        _left[here] = torch.zeros(POOLED, dtype=torch.int32, device="cuda")
    return torch.zeros(rows, columns, dtype=torch.int32, device="cuda")
