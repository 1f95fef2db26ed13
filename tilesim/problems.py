"""Problem: one matrix product C[M,N] = A[M,K] · B[K,N], and how its output is cut into tiles.

Or a list of work items, where what runs is no matrix product.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from tilesim import orders
from tilesim.errors import ProblemError, shown
from tilesim.storage.decode import Rule, between, check, one_of, text
from tilesim.text import plural

DTYPE_BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1}
"""Bytes of an element of A and B."""

MAX_TILES = 2**31
MAX_SIZE = 2**40
LONGEST_ITEM = 200
"""Characters of a work item's name."""

Size = Annotated[int, between(1, MAX_SIZE)]
Dtype = Annotated[str, one_of(DTYPE_BYTES)]


@dataclass(frozen=True, slots=True)
class Problem:
    """C[m,n] = A[m,k] · B[k,n] in output tiles of tile_m x tile_n, summed tile_k at a time.

    `tile` is (tile_m, tile_n, tile_k); a tile may be larger than the matrix and edge tiles are masked.
    `order` is the sequence in which tiles are visited: row-major, column-major, grouped:G, morton, hilbert.

    `items`: names of work items, as of attention, a grouped product or a megakernel's tasks, which
    `of_items` makes a problem of: each is a tile of one element and one K-step, numbered as listed. `sizes`:
    of each, in whatever unit, where known. Such a problem has no schedule; it is read, drawn and compared.

    Raises ProblemError for a size below 1, more than 2^31 tiles or K-steps, an unknown dtype or order, and
    for items that are no names or not as many as there are tiles.
    """

    m: Size
    n: Size
    k: Size
    tile: tuple[Size, Size, Size] = (128, 256, 64)
    dtype: Dtype = "bf16"
    order: str = "row-major"
    items: tuple[Annotated[str, text(1, LONGEST_ITEM), Rule(str.strip, ", not blank")], ...] = ()
    sizes: tuple[Annotated[int, between(0, MAX_SIZE)], ...] = ()

    @staticmethod
    def of_items(names: Sequence[str], sizes: Sequence[int] = ()) -> "Problem":
        """A list of work items, and of their sizes where they are known.

        >>> Problem.of_items(["attention 0", "attention 1", "project"]).tiles
        3
        """
        if not isinstance(names, list | tuple) or not names:
            raise ProblemError(f"the work items are {shown(names)}; they must be a list of at least one name")
        return Problem(len(names), 1, 1, tile=(1, 1, 1), items=tuple(names), sizes=tuple(sizes))

    def __post_init__(self) -> None:
        check(self, ProblemError)
        if self.tiles > MAX_TILES:
            raise ProblemError(
                f"{self.m}x{self.n} in tiles of {self.tile_m}x{self.tile_n} makes {self.tiles} tiles; "
                f"at most {MAX_TILES} are allowed"
            )
        if self.k_steps >= MAX_TILES:
            raise ProblemError(
                f"K = {self.k} in steps of {self.tile_k} makes {self.k_steps} K-steps; "
                f"fewer than {MAX_TILES} are allowed"
            )
        orders.check(self.order)
        _check_items(self)

    @property
    def tile_m(self) -> int:
        return self.tile[0]

    @property
    def tile_n(self) -> int:
        return self.tile[1]

    @property
    def tile_k(self) -> int:
        return self.tile[2]

    @property
    def tiles_m(self) -> int:
        """Rows of output tiles."""
        return -(-self.m // self.tile_m)

    @property
    def tiles_n(self) -> int:
        """Columns of output tiles."""
        return -(-self.n // self.tile_n)

    @property
    def tiles(self) -> int:
        """Output tiles."""
        return self.tiles_m * self.tiles_n

    @property
    def k_steps(self) -> int:
        """K-steps of one tile; a last partial one counts as one."""
        return -(-self.k // self.tile_k)

    @property
    def k_step_bytes(self) -> int:
        """Bytes of A and B that a K-step of a tile multiplies: what a stage of shared memory holds.

        >>> Problem(2048, 2048, 2048, tile=(128, 256, 64), dtype="bf16").k_step_bytes // 1024
        48
        """
        return (self.tile_m + self.tile_n) * self.tile_k * DTYPE_BYTES[self.dtype]

    @property
    def requested_bytes(self) -> int:
        """Bytes of A and B that the tiles load, each its own.

        Those of an edge tile count in full, as the hardware multiplies the padding.

        >>> Problem(4096, 4096, 4096).requested_bytes
        1610612736
        """
        return self.tiles * self.k_steps * self.k_step_bytes

    @property
    def flops(self) -> int:
        """Multiplications and additions that the product needs, padding not counted."""
        return 2 * self.m * self.n * self.k

    @property
    def noun(self) -> str:
        """What a tile is called: "tile" or "item"."""
        return "item" if self.items else "tile"

    @property
    def title(self) -> str:
        """What is computed, whatever its tiles.

        >>> Problem(4096, 4096, 512).title, Problem.of_items(["attention", "project"]).title
        ('4096x4096x512', '2 work items')
        """
        return plural(self.tiles, "work item") if self.items else f"{self.m}x{self.n}x{self.k}"

    def as_json(self) -> dict[str, Any]:
        """Its fields as JSON values; items and sizes where there are any."""
        return {
            name: value for name, value in asdict(self).items() if value or name not in ("items", "sizes")
        }


def check_product(problem: Problem) -> None:
    """Raise ProblemError for work items, which no schedule and no costs are of."""
    if problem.items:
        raise ProblemError(
            f"{problem.title} have no schedule: only a matrix product is planned and simulated"
        )


def _check_items(problem: Problem) -> None:
    items, sizes = problem.items, problem.sizes
    if not items and not sizes:
        return
    if sizes and len(sizes) != len(items):
        raise ProblemError(
            f"there are {len(items)} work items and {len(sizes)} sizes; each has one, or none has"
        )
    shape = (problem.m, problem.n, problem.k, *problem.tile, problem.order)
    if shape != (len(items), 1, 1, 1, 1, 1, "row-major"):
        raise ProblemError(
            f"{plural(len(items), 'work item')} cannot be tiles of {problem.m}x{problem.n}x{problem.k}"
        )
