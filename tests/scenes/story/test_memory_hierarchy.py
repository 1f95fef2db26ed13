"""What memory_hierarchy says follows from the facts of a device, and from the measurement."""

from copy import deepcopy

import pytest

from tilesim.devices.presets import presets
from tilesim.errors import TilesimError
from tilesim.ideas.memory_hierarchy import levels
from tilesim.ladder.reports import report, row
from tilesim_scenes.memory_hierarchy import MemoryHierarchy
from tilesim_scenes.story.ideas.memory_hierarchy import latency, rate, size, tell


def changed(change):
    """The shipped report with each row changed."""
    other = deepcopy(dict(report("memory_hierarchy")))
    other["rows"] = [one | change(one) for one in other["rows"]]
    return other


def test_bytes_are_those_that_were_counted_at_4096():
    story, counted = tell(), row(report("memory_hierarchy"), m=4096)
    assert [one.bytes for one in story.passed] == [
        counted[name] for name in ("arrived_bytes", "l2_bytes", "dram_read_bytes")
    ]
    assert story.gpu == "NVIDIA H200" and story.shape == "4096×4096×4096"
    assert [one.where for one in story.passed] == ["SMs", "L2", "HBM"]


def test_the_number_is_how_often_a_byte_is_used():
    story = tell()
    assert float(story.number[1:]) == pytest.approx(story.passed[0].bytes / story.passed[2].bytes, abs=0.05)
    half = tell(changed(lambda row: {"dram_read_bytes": row["dram_read_bytes"] / 2}))
    assert half.reuse == pytest.approx(2 * story.reuse) and half.number != story.number


def test_the_aside_is_the_same_figure_of_another_product():
    small = row(report("memory_hierarchy"), m=2048)
    shape, reuse = tell().elsewhere
    assert (shape, reuse) == ("2048×2048×2048", small["arrived_bytes"] / small["dram_read_bytes"])
    assert f"×{reuse:.1f}" in tell().aside and tell(given={"device": "a100"}).aside == tell().shape


def test_where_most_comes_from_far_the_finding_says_so():
    far = tell(changed(lambda row: {"dram_read_bytes": row["arrived_bytes"]}))
    assert far.number == "×1.0" and far.finding != tell().finding


def test_a_cube_that_was_measured_is_shown_where_4096_was_not():
    other = deepcopy(dict(report("memory_hierarchy")))
    other["rows"] = [one for one in other["rows"] if one["m"] == 8192]
    assert tell(other).shape == "8192×8192×8192"


def test_without_counters_bytes_are_simulated_and_so_is_the_time():
    other = deepcopy(dict(report("memory_hierarchy")))
    for one in other["rows"]:
        del one["dram_read_bytes"]
    story = tell(other)
    assert story.gpu == "" and "H200" in story.simulated_with and len(story.passed) == 2


@pytest.mark.parametrize("device", presets())
def test_every_device_has_its_own_levels(device):
    story = tell(given={"device": device})
    assert story.levels == levels(device) and bool(story.gpu) == (device == "h200")
    assert story.names[3] == story.far.name and story.far.name in story.farther
    assert presets()[device]["short"] in story.badge and story.reuse > 1


def test_sizes_rates_and_latencies_are_those_of_the_levels():
    registers, shared, l2, hbm = levels("h200")
    assert [size(one) for one in (registers, shared, l2, hbm)] == ["256 KB", "228 KB", "50 MB", "141 GB"]
    assert [rate(one) for one in (registers, shared, l2, hbm)] == [
        "402 TB/s", "33 TB/s", "9.4 TB/s", "4.5 TB/s",
    ]  # fmt: skip
    assert [latency(one) for one in (shared, l2, hbm)] == ["23 cycles", "283 cycles", "686 cycles"]


def test_a_device_that_there_is_not_is_refused_in_a_sentence():
    with pytest.raises(TilesimError, match="h300"):
        MemoryHierarchy.checked({"device": "h300"})
