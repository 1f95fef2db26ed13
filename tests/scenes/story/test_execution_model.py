"""What execution_model says follows from the reports and the device that it is given."""

from copy import deepcopy
from itertools import pairwise

import pytest

from tilesim.devices.presets import facts
from tilesim.errors import TilesimError
from tilesim.ladder.reports import report
from tilesim_scenes.story.ideas.execution_model import tell


def copied(bench):
    return deepcopy(dict(report(bench)))


def test_the_order_explains_every_launch_that_was_recorded():
    story = tell()
    rows = report("sm_order")["rows"]
    assert story.order.launches == sum(row["launches"] for row in rows) == 1800
    assert story.number.startswith("1,800") and "every" in story.finding
    less = copied("sm_order")
    less["rows"][0]["explained"] -= 1
    other = tell(ordered=less)
    assert other.number.startswith("1,799") and "every" not in other.finding


def test_blocks_fill_the_small_groups_first_and_then_gpc_by_gpc():
    order = tell().order
    group_of = {sm: number for number, group in enumerate(order.groups) for sm in group}
    visited = [group_of[sm] for sm in order.order]
    changes = sum(a != b for a, b in pairwise(visited))
    assert changes == len(order.groups) - 1 and sorted(order.order) == list(range(132))
    assert order.small == 8 and {group_of[sm] for sm in order.order[:8]} == {0, 1}
    assert order.order[0] != 0


def test_residents_and_what_binds_follow_from_the_kernel_and_the_device():
    story = tell()
    assert (story.residents, story.occupancy.binding) == (2, ("shared memory",))
    assert "shared memory" in story.refused and story.badge[1] == "measured"
    assert tell(tile=(64, 64, 64)).residents == 4
    both = tell(tile=(128, 256, 64))
    assert both.residents == 1 and "registers" in both.refused and "shared memory" in both.refused


def test_what_was_not_seen_is_called_a_model():
    assert tell(device="a100").badge[1] == "model"
    other = copied("execution_model")
    for row in other["kernels"]:
        row["seen"] += 1
    story = tell(other)
    assert story.badge[1] == "model" and story.agree == story.counted - len(other["kernels"])


def test_a_device_without_a_known_order_is_told_by_its_limits():
    story = tell(device="a100")
    assert story.order is None and story.number == "1 block" and "A100" in story.finding
    assert "ptr" in story.kernel["name"] and "tma" not in facts("a100")["features"].value


def test_partitions_are_measured_only_where_every_fourth_warp_slows_another():
    assert tell().in_turn and tell().inside_badge[1] == "measured"
    other = copied("execution_model")
    other["beside"][4] = other["beside"][0]
    assert not tell(other).in_turn and tell(other).inside_badge[1] == "model"


@pytest.mark.parametrize(
    "asked, says",
    [
        ({"tile": (64, 64, 32)}, "no tiles of 64x64x32"),
        ({"device": "t4"}, "no SM of NVIDIA T4 can run a block"),
        ({"device": "mi300x"}, "AMD MI300X"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(asked, says):
    with pytest.raises(TilesimError, match=says):
        tell(**asked)
