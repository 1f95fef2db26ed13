"""A Plan as the arrays that the planned kernel reads, and the workspace of its launches."""

from dataclasses import dataclass

import numpy as np
import torch

from tilesim.plans import Plan, owners
from tilesim.problems import Problem

from ..errors import KernelError

WORDS = 8
"""int32 in a row of the table: pid_m pid_n k0 k1 partial peers, and two unused ones."""

NO_PARTIAL = -1


@dataclass(frozen=True, slots=True, eq=False)
class PlanTable:
    """A plan in a GPU's memory; see gemm/table.py for each array. `flags` holds a word per partial and the
    fault behind them. `tiles`: int32 [partials], the tile of each. `most_segments`: the most segments that a
    thread block has from the start."""

    table: torch.Tensor
    offsets: torch.Tensor
    k_steps: torch.Tensor
    queue_head: torch.Tensor
    partials: torch.Tensor
    flags: torch.Tensor
    tiles: np.ndarray
    ctas: int
    queue_start: int
    rows: int
    most_segments: int
    ctas_per_sm: int

    @property
    def split(self) -> bool:
        return len(self.tiles) > 0

    def workspace(self) -> dict[str, torch.Tensor]:
        """New partials, flags and queue head by the kernel's names, for a launch on a stream of its own."""
        if not self.split and self.rows == self.queue_start:
            return {}
        flags = torch.zeros_like(self.flags)
        return dict(
            queue_head=torch.zeros_like(self.queue_head),
            partials=torch.empty_like(self.partials, device=self.table.device),
            flags=flags,
            fault=flags[-1:],
        )

    def check(self) -> None:
        """Raise KernelError, naming the tile, where a wait for a partial timed out; the flags are reset."""
        fault = int(self.flags[-1])
        if fault:
            self.flags.zero_()
            tile = self.tiles[fault - 1]
            raise KernelError(f"tile {tile} waited for a partial that never came; its thread blocks gave up")


def table_of(rows: np.ndarray, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """(table, tiles): int32 [rows, WORDS], and the tile of each partial, int32 [partials]. A split tile's
    partials are consecutive, in plan order; the last of its segments owns it."""
    table = np.zeros((len(rows), WORDS), np.int32)
    table[:, 0], table[:, 1] = np.divmod(rows["tile"], problem.tiles_n)
    table[:, 2], table[:, 3], table[:, 4] = rows["k0"], rows["k1"], NO_PARTIAL
    by_tile = np.argsort(rows["tile"], kind="stable")
    tile = rows["tile"][by_tile]
    owner = owners(rows["tile"])[by_tile]
    before = np.append(0, np.cumsum(~owner))  # partials before each row
    table[by_tile[~owner], 4] = before[:-1][~owner]
    peers = np.diff(before[1:][owner], prepend=0)
    split = by_tile[owner][peers > 0]
    table[split, 5] = peers[peers > 0]
    table[split, 4] = (before[1:][owner] - peers)[peers > 0]
    return table, tile[~owner].astype(np.int32)


def upload(plan: Plan, problem: Problem, device: str, ctas_per_sm: int = 1) -> PlanTable:
    """`plan` on `device`, "cuda" or, for the interpreter, "cpu". Raises KernelError where the partials of its
    split tiles do not fit into the GPU's memory."""
    rows = plan.rows
    table, tiles = table_of(rows, problem)
    size = 4 * len(tiles) * problem.tile_m * problem.tile_n
    if device == "cuda" and size > torch.cuda.get_device_properties().total_memory // 2:
        raise KernelError(
            f"the plan has {len(tiles)} partials, which take {size / 1e9:.1f} GB; at most half of the GPU's"
            " memory is given to them"
        )
    done = np.append(0, np.cumsum(plan.segments["k1"] - plan.segments["k0"], dtype=np.int64))

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, np.int32)).to(device)

    return PlanTable(
        table=tensor(np.concatenate([table, np.zeros((2, WORDS), np.int32)])),  # a thread block reads ahead
        offsets=tensor(plan.offsets),
        k_steps=tensor(np.diff(done[plan.offsets])),
        queue_head=torch.zeros(1, dtype=torch.int32, device=device),
        partials=torch.empty(len(tiles), problem.tile_m * problem.tile_n, dtype=torch.float32, device=device),
        flags=torch.zeros(len(tiles) + 1, dtype=torch.int32, device=device),
        tiles=tiles,
        ctas=plan.ctas,
        queue_start=len(plan.segments),
        rows=len(rows),
        most_segments=int(np.diff(plan.offsets).max()),
        ctas_per_sm=ctas_per_sm,
    )
