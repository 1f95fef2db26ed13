"""x"""

from tilesim.problems import DTYPE_BYTES, Problem


def asked_bytes(problem: Problem) -> int:
    """Bytes of A and B that the tiles load, each its own: tiles x K-steps x a pair of operands.

    >>> asked_bytes(Problem(4096, 4096, 4096))
    1610612736
    """
    pair = (problem.tile_m + problem.tile_n) * problem.tile_k * DTYPE_BYTES[problem.dtype]
    return problem.tiles * problem.k_steps * pair
