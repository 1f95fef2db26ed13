"""Levels of memory: nearer is faster on every device; and what a GPU's counters say of a product."""

import pytest

from tilesim import Device, Problem
from tilesim.devices.presets import adding, entry_of, presets
from tilesim.errors import DeviceError
from tilesim.ideas.l2_order import traced
from tilesim.ideas.memory_hierarchy import levels, sourced
from tilesim.ladder.reports import report

GPU = Device.named("h200")


@pytest.mark.parametrize("device", presets())
def test_nearer_levels_are_faster_and_sooner_and_every_figure_has_a_source_or_a_rule(device):
    found = levels(device)
    rates, cycles = [level.gb_per_s for level in found], [level.cycles for level in found[1:]]
    assert rates == sorted(rates, reverse=True) and cycles == sorted(cycles) and found[0].cycles is None
    assert found[3].size > 40 * max(level.size for level in found[:3])
    for level, count in zip(found, [presets()[device]["sms"]] * 2 + [0] * 2, strict=True):
        assert level.size == count * level.per_sm if count else level.per_sm == 0
        assert sourced(device, level) and all(sourced(device, level))


def test_only_gpus_with_hbm_have_hbm():
    far = {device: levels(device)[3].name for device in presets()}
    assert {device for device, name in far.items() if name == "DRAM"} == {"t4", "rtx4090"}


def test_the_figures_of_an_h200_are_those_of_its_whitepaper():
    """NVIDIA H100 whitepaper, table 2: 256 KB of registers and 228 KB of shared memory an SM, 50 MB of L2."""
    registers, shared, l2, hbm = levels("h200")
    sizes = registers.per_sm / 1024, shared.per_sm / 1024, l2.size / 1e6, hbm.size / 1e9
    assert sizes == (256, 228, 50, 141)


def test_a_device_of_which_too_little_is_known_is_refused_in_a_sentence():
    bare = {"title": "Bare", "short": "Bare", "facts": [{"source": "mine"} | dict(
        sms=4, max_sm_mhz=1000, l2_mb=1, memory_gb_per_s=100, peak_tflops={"bf16": 1.0})]}  # fmt: skip
    with adding("bare", bare), pytest.raises(DeviceError, match="it lacks memory_gb, registers_"):
        levels("bare")
    known = entry_of("h200")
    halves = {**known, "facts": [*known["facts"], {"source": "mine", "peak_tflops": {"bf16": 989.0}}]}
    with adding("halves", halves), pytest.raises(DeviceError, match="peak_tflops of fp32"):
        levels("halves")
    with pytest.raises(DeviceError, match="h300"):
        levels("h300")


@pytest.mark.parametrize("tile", [(128, 256, 64), (64, 64, 32)])
def test_tiles_ask_for_each_byte_of_a_once_a_column_of_tiles(tile):
    problem = Problem(1024, 2048, 512, tile=tile)
    of_a, of_b = 2 * 1024 * 512 * (2048 // tile[1]), 2 * 512 * 2048 * (1024 // tile[0])
    assert problem.requested_bytes == of_a + of_b


@pytest.mark.parametrize("row", report("memory_hierarchy")["rows"], ids=lambda row: str(row["m"]))
def test_what_tiles_ask_for_arrives_to_the_byte_and_narrows_on_its_way(row):
    problem = Problem(row["m"], row["n"], row["k"], tuple(row["tile"]), row["dtype"], row["order"])
    assert row["requested_bytes"] == problem.requested_bytes == pytest.approx(row["arrived_bytes"], rel=1e-3)
    assert row["arrived_bytes"] > row["l2_bytes"] > row["dram_read_bytes"]
    once = 2 * (row["m"] + row["n"]) * row["k"]
    assert row["dram_read_bytes"] >= 0.95 * once


@pytest.mark.parametrize(("size", "off"), [(2048, 0.05), (4096, 0.75), (8192, 0.05)])
def test_the_model_sends_what_was_counted_but_where_a_and_b_are_about_as_large_as_the_l2(size, off):
    """At 4096 A and B are 67 MB, an L2 of 50 MB: HBM sends 1.7 times what the model says."""
    row = next(row for row in report("memory_hierarchy")["rows"] if row["m"] == size)
    problem = Problem(size, size, size, order="grouped:8")
    sent = traced(problem, GPU).hbm_bytes
    assert row["dram_read_bytes"] == pytest.approx(sent, rel=off)
    assert problem.requested_bytes / sent > 5
