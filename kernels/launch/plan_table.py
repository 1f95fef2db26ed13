"""A Plan as the arrays that the planned kernel reads, and the room it works in."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from tilesim.plans import Plan
from tilesim.problems import Problem

from ..errors import KernelError

WORDS = 8
"""int32 in a row of the table: pid_m pid_n k0 k1 place peers, and two spare ones."""

WHOLE = -1
"""The place of a segment that is a whole tile."""


@dataclass(frozen=True, slots=True, eq=False)
class Upload:
    """A plan in a GPU's memory; see kernels/planned.py for each array.

    `flags` holds a word per place and the fault behind them. `tiles`: int32 [places], whose partial it is.
    `longest`: the most segments that a thread block has from the start. `residents`: thread blocks that the
    plan counts on per SM.
    """

    table: torch.Tensor
    offsets: torch.Tensor
    steps: torch.Tensor
    ticket: torch.Tensor
    partials: torch.Tensor
    flags: torch.Tensor
    tiles: np.ndarray
    ctas: int
    queue: int
    rows: int
    longest: int
    residents: int

    @property
    def split(self) -> bool:
        """Whether any tile is cut along K."""
        return len(self.tiles) > 0

    def room(self) -> dict[str, torch.Tensor]:
        """New room to work in, by the kernel's names of it, so that launches on two streams never meet."""
        if not self.split and self.rows == self.queue:
            return {}
        flags = torch.zeros_like(self.flags)
        return dict(
            ticket=torch.zeros_like(self.ticket),
            partials=torch.empty_like(self.partials, device=self.table.device),
            flags=flags,
            fault=flags[-1:],
        )

    def without_partials(self) -> "Upload":
        """The same plan to be kept, which takes little memory; launches need other `room`."""
        return replace(self, partials=self.partials.to("meta"))

    def check(self) -> None:
        """Raise KernelError, naming the tile, where a thread block waited in vain; the flags are reset."""
        fault = int(self.flags[-1])
        if fault:
            self.flags.zero_()
            tile = self.tiles[fault - 1]
            raise KernelError(f"tile {tile} waited for a partial that never came; its thread blocks gave up")


def rows_of(plan: Plan) -> np.ndarray:
    """Every segment in plan order, the queue last: SEGMENT array."""
    return np.concatenate([plan.segments, plan.shared])


def table_of(rows: np.ndarray, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """(table, tiles): int32 [rows, WORDS] and the tile of each place, int32 [places].

    A split tile's partials have consecutive places in plan order; the last of its segments owns it.
    """
    table = np.zeros((len(rows), WORDS), np.int32)
    table[:, 0], table[:, 1] = np.divmod(rows["tile"], problem.tiles_n)
    table[:, 2], table[:, 3], table[:, 4] = rows["k0"], rows["k1"], WHOLE
    by_tile = np.argsort(rows["tile"], kind="stable")
    tile = rows["tile"][by_tile]
    owner = np.append(tile[1:] != tile[:-1], True)
    places = np.append(0, np.cumsum(~owner))  # how many partials come before each row
    table[by_tile[~owner], 4] = places[:-1][~owner]
    peers = np.diff(places[1:][owner], prepend=0)
    cut = by_tile[owner][peers > 0]
    table[cut, 5] = peers[peers > 0]
    table[cut, 4] = (places[1:][owner] - peers)[peers > 0]
    return table, tile[~owner].astype(np.int32)


def upload(plan: Plan, problem: Problem, device: str, residents: int = 1) -> Upload:
    """`plan` on `device`, "cuda" or, for the interpreter, "cpu".

    Raises KernelError where the partials of its split tiles do not fit into the GPU's memory.
    """
    rows = rows_of(plan)
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

    return Upload(
        table=tensor(np.concatenate([table, np.zeros((2, WORDS), np.int32)])),  # a thread block reads ahead
        offsets=tensor(plan.offsets),
        steps=tensor(np.diff(done[plan.offsets])),
        ticket=torch.zeros(1, dtype=torch.int32, device=device),
        partials=torch.empty(len(tiles), problem.tile_m * problem.tile_n, dtype=torch.float32, device=device),
        flags=torch.zeros(len(tiles) + 1, dtype=torch.int32, device=device),
        tiles=tiles,
        ctas=plan.ctas,
        queue=len(plan.segments),
        rows=len(rows),
        longest=int(np.diff(plan.offsets).max()),
        residents=residents,
    )
