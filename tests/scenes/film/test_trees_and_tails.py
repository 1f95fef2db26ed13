"""Reduction: with other parameters than its own."""

import pytest
from reading import faults
from watching import watch

from tilesim.cli.packages import scene_class
from tilesim.errors import TilesimError

REDUCTION = scene_class("reduction")


@pytest.mark.parametrize("warps", [1, 32])
def test_blocks_of_one_warp_and_of_the_most_climb_their_trees(warps):
    assert not faults(watch(REDUCTION, "square", {"warps": warps}))


@pytest.mark.parametrize(
    ("warps", "says"), [(3, "are 96; they must be"), (0, "from 1 to 32"), (64, "from 1")]
)
def test_a_block_that_climbs_no_tree_is_refused_in_a_sentence(warps, says):
    with pytest.raises(TilesimError, match=says):
        REDUCTION.checked({"warps": warps})
