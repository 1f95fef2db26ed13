"""Workspaces: what the launches of a job on one stream share."""

from functools import lru_cache

import torch
import triton

from ..launch.here import INTERPRETED
from ..launch.job import Job
from .first import capturing

KEPT = 8
"""Of the last jobs and streams: each has a partial of every thread block, some 20 MB."""


def workspace(work: Job, index: int | None) -> dict[str, torch.Tensor]:
    """What launches of a job share on a GPU's stream, where they follow one another: flags are left at 0.

    A graph gets one of its own, as it may run beside others.
    """
    if INTERPRETED or capturing():
        return work.workspace()
    return _kept(work, triton.runtime.driver.active.get_current_stream(index))


@lru_cache(maxsize=KEPT)
def _kept(work: Job, stream: int) -> dict[str, torch.Tensor]:
    return work.workspace()
