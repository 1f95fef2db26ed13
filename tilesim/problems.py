"""Problem: one matrix product C[M,N] = A[M,K] · B[K,N], and how its output is cut into tiles."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from tilesim import orders
from tilesim.errors import ProblemError
from tilesim.storage.decode import between, check, one_of
from tilesim.text import plural

DTYPE_BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1}
"""Bytes of an element of A and B."""
MAX_TILES = 2**31
MAX_SIZE = 2**40

Size = Annotated[int, between(1, MAX_SIZE)]
Dtype = Annotated[str, one_of(DTYPE_BYTES)]


@dataclass(frozen=True, slots=True)
class Problem:
    """C[m,n] = A[m,k] · B[k,n] in output tiles of tile_m x tile_n, summed tile_k at a time.

    `tile` is (tile_m, tile_n, tile_k); a tile may be larger than the matrix and edge tiles are masked.
    `order` is the sequence in which tiles are visited: row-major, column-major, grouped:G, morton, hilbert.

    Raises ProblemError for a size below 1, more than 2^31 tiles or K-steps, and an unknown dtype or order.
    """

    m: Size
    n: Size
    k: Size
    tile: tuple[Size, Size, Size] = (128, 256, 64)
    dtype: Dtype = "bf16"
    order: str = "row-major"

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
        """Bytes of A and B that a K-step of a tile multiplies: what a stage of shared memory holds."""
        return (self.tile_m + self.tile_n) * self.tile_k * DTYPE_BYTES[self.dtype]

    @property
    def requested_bytes(self) -> int:
        """Bytes of A and B that the tiles load, each its own; those of an edge tile in full."""
        return self.tiles * self.k_steps * self.k_step_bytes

    @property
    def flops(self) -> int:
        """Multiplications and additions that the product needs, padding not counted."""
        return 2 * self.m * self.n * self.k

    @property
    def noun(self) -> str:
        """What one of `tiles` is."""
        return "tile"

    @property
    def title(self) -> str:
        """What is computed, whatever its tiles."""
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def parts(self) -> str:
        """What is computed, and in what parts.

        >>> Problem(128, 640, 4, tile=(128, 128, 4)).parts
        '128x640x4 bf16, row-major: 5 tiles of 128x128x4, 1 K-step each'
        """
        tile = "x".join(map(str, self.tile))
        tiles, steps = plural(self.tiles, "tile"), plural(self.k_steps, "K-step")
        return f"{self.title} {self.dtype}, {self.order}: {tiles} of {tile}, {steps} each"

    def called(self, tile: int) -> str:
        """What a tile is called: its number."""
        return str(tile)

    def as_json(self) -> dict[str, Any]:
        """Its fields as JSON values."""
        return asdict(self) | {"tile": list(self.tile)}
