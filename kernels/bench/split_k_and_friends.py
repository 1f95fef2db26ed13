"""split-k-and-friends: products whose last wave is nearly empty, by every schedule that has an answer to it,
whose plans the table-driven kernel executes."""

from typing import Any

from tilesim.problems import Problem

from ..launch.named import TABLE_DRIVEN
from .bench import bench

SIZES = ((1408, 3840, 4096), (896, 4864, 4096), (1408, 6912, 4096), (4096, 4096, 4096))
"""165, 133, 297 and 512 tiles for 132 SMs: the last leave little to win."""

SCHEDULES = (
    "naive",
    "persistent",
    "split-k:2",
    "split-k:4",
    "split-k:8",
    "stream-k",
    "stream-k-hybrid:1",
    "stream-k-hybrid:2",
    "persistent-dynamic",
)


def split_k_and_friends(samples: int = 100) -> dict[str, Any]:
    """Time each schedule's plan on SIZES in bf16: what `bench` returns, who also says what it raises."""
    problems = [Problem(*size, order="grouped:8") for size in SIZES]
    return bench(*problems, kernels=[TABLE_DRIVEN + name for name in SCHEDULES], samples=samples)
