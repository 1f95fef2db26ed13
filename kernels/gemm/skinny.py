"""skinny: the naive kernel for products of few rows, which are limited by reading B.

It computes the transposed tile: B's columns fill the at least 64 rows of a wgmma, and A's rows its as few as
16 columns. Since time depends on the bytes in flight, K-steps are long and stages many.
"""

from tilesim.kernel_config import KernelConfig

from ..launch.here import INTERPRETED
from .jobs import job_of
from .naive import naive


def values(config: KernelConfig) -> dict[str, bool]:
    # where there is TMA, there is programmatic dependent launch
    if config.loads == "tma" and not INTERPRETED:
        return {"SWAP": True, "DEPENDENT_LAUNCH": True, "launch_pdl": True}
    return {"SWAP": True}


job = job_of(naive, values)
