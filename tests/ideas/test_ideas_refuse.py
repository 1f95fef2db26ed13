"""What no idea can be asked: each bad input is refused in a sentence that names it."""

import pytest

from tilesim import Problem
from tilesim.errors import TilesimError
from tilesim.ideas import pipelining, tiling_hierarchy


def tiled(warps, **changes):
    return tiling_hierarchy.levels(Problem(4096, 4096, 4096, **changes), warps)


REFUSED = [
    (lambda: pipelining.times({2: 5.0, 3: 4.0}), "1 stage and more are needed"),
    (lambda: pipelining.times({1: 5.0, 2: 5.0}), "must be faster"),
    (lambda: tiled(8, dtype="fp32"), "wgmma does not multiply fp32"),
    (lambda: tiled(6), "6 warps are not whole warp groups"),
    (lambda: tiled(8, tile=(100, 256, 64)), "2 warp groups cannot split a tile of 100x256"),
    (lambda: tiled(8, tile=(64, 8, 64)), "2 warp groups cannot split a tile of 64x8"),
]


@pytest.mark.parametrize(("call", "says"), REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(call, says):
    with pytest.raises(TilesimError, match=says):
        call()
