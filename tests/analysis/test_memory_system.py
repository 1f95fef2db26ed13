"""The constants of a memory system: by rule from the shipped figures, and from figures that are none."""

import copy
import json

import pytest
from recordings import DATA
from refusals import refused

from tilesim.analysis.memory_system import MemorySystem, TileLatency
from tilesim.devices.presets import presets
from tilesim.errors import DeviceError, ReportError

FILE = DATA / "memory/h200.json"
SHIPPED = json.loads(FILE.read_text("utf-8"))
SECTIONS = [name for name, value in SHIPPED.items() if isinstance(value, list)]
H200 = MemorySystem.named("h200")
PRESET = presets()["h200"]
ROW = (
    "kind", "together", "neighbours", "sms", "stages", "tile", "dtype", "warps", "ctas_per_sm", "by",
    "source", "space", "order", "footprint", "stage_bytes", "brought_by",
)  # fmt: skip
"""What tells one case from another."""


def wrong(right):
    """What a row is of, of every row that is not `right`."""
    rows = [row for section in SECTIONS for row in SHIPPED[section]]
    return [{name: row[name] for name in ROW if name in row} for row in rows if not right(row)]


def figures(row):
    return {name: value for name, value in row.items() if isinstance(value, dict)}


def test_every_figure_has_its_spread():
    def right(row):
        return figures(row) and all(0 < v["p20"] <= v["p50"] <= v["p80"] for v in figures(row).values())

    assert set(SHIPPED["machine"]) == {"gpu", "driver", "cuda", "torch", "triton", "date"}
    assert SHIPPED["method"] and SHIPPED["repeats"] >= 5 and SHIPPED["sms"] == PRESET["sms"]
    assert not wrong(right)


def test_no_case_is_there_twice():
    for section in SECTIONS:
        labels = [json.dumps({n: v for n, v in row.items() if n in ROW}) for row in SHIPPED[section]]
        assert labels and len(labels) == len(set(labels))


def test_the_two_clocks_agree():
    """Of single loads, which one warp alone does one after another; a tick of the timer is 32 ns."""

    def right(row):
        mhz = 1000 * row["cycles"]["p50"] / row["ns"]["p50"]
        return mhz == pytest.approx(row["sm_mhz"]["p50"], rel=0.005) and mhz < 1.005 * PRESET["max_sm_mhz"]

    assert all(right(row) for row in SHIPPED["latency"])


def test_farther_is_later_and_slower():
    near_to_far = [H200.shared_latency, H200.l2_latency, H200.far_l2_latency, H200.dram_latency]
    assert near_to_far == sorted(near_to_far)
    assert [one.ns for one in near_to_far] == sorted(one.ns for one in near_to_far)
    assert H200.read_gb_per_s["L2"] > H200.read_gb_per_s["DRAM"]
    assert 0 < H200.tlb_cycles < 0.05 * H200.dram_latency.cycles
    for by in ("tma", "cp.async"):
        assert H200.tile_latency[by, "L2"].cycles(2**14) < H200.tile_latency[by, "DRAM"].cycles(2**14)


def test_nothing_is_faster_than_the_hardware_is_said_to_be():
    peak = PRESET["memory_gb_per_s"]
    assert 0.9 * peak < H200.read_gb_per_s["DRAM"] < peak
    assert 0.8 * peak < H200.copy_gb_per_s < H200.write_gb_per_s < peak
    assert H200.near_l2_bytes <= SHIPPED["l2_bytes"] / 2 < H200.l2_bytes < SHIPPED["l2_bytes"]
    assert H200.sm_bytes_per_clock < 128  # of an SM's port to the L2


def test_tensor_cores_reach_what_the_whitepaper_says_in_every_tile():
    """A multiplication and an addition are two of the FLOPs in its table 2 (H100, V1.04)."""
    for row in SHIPPED["multiplying"]:
        peak = 4096 if row["dtype"] == "fp8" else 2048
        assert 0.998 * peak < row["macs_per_clock"]["p50"] <= peak
    assert set(H200.macs_per_clock) == {"bf16", "fp16", "fp8"}


def test_neighbours_that_read_the_same_share_what_the_l2_gives():
    alone, two, three = (H200.merged_gb_per_s[together] for together in (1, 2, 3))
    assert two > 1.7 * alone and three > 2 * alone
    apart = [row for row in SHIPPED["merging"] if not row["neighbours"] and row["together"] == 2]
    assert apart[0]["source"] == "L2" and apart[0]["gb_per_s"]["p50"] == pytest.approx(alone, rel=0.03)


def test_littles_law():
    """With more stages in flight an SM that is alone gets as many times as much, until its port is full."""
    rows = [row for row in SHIPPED["tile_loads"] if (row["sms"], row["source"]) == (1, "DRAM")]
    for by in ("tma", "cp.async"):
        small = [row for row in rows if (row["by"], row["stage_bytes"]) == (by, 2**14)]
        cycles = {row["stages"]: row["cycles"]["p50"] for row in small}
        for stages in (2, 3, 4):
            assert cycles[stages] == pytest.approx(cycles[1] / stages, rel=0.2)


def test_a_line_through_latencies():
    made = copy.deepcopy(SHIPPED)
    for row in made["tile_loads"]:
        row["cycles"]["p50"] = 300 + row["stage_bytes"] / 100
    found = MemorySystem.of(made)
    for line in found.tile_latency.values():
        assert line == pytest.approx(TileLatency(300, 100))


def changed(*path_and_value):
    """The shipped figures with one value changed, or taken away."""
    *path, last, value = path_and_value
    made = copy.deepcopy(SHIPPED)
    place = made
    for name in path:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


SMALL = [row for row in SHIPPED["tile_loads"] if row["stage_bytes"] == 2**14]
BROKEN = [
    (changed("latency", None), "this tilesim bench memory report has no 'latency'"),
    (changed("latency", 3), "this is not a report of tilesim bench memory"),
    (changed("latency", SHIPPED["latency"][1:]), "has no row with space shared memory"),
    (changed("latency", SHIPPED["latency"][:4]), "chase has 0 plateaus"),
    (changed("bandwidth", [r for r in SHIPPED["bandwidth"] if r["kind"] != "copy"]), "no row with kind copy"),
    (changed("latency", 5, "cycles", "p50", -1), "cycles is -1; it must be a number above 0"),
    (changed("tile_loads", SMALL), "only one size"),
    (changed("sharing", [5]), "not a report of tilesim bench memory"),
    ([], "not a report of tilesim bench memory"),
]


@pytest.mark.parametrize(("values", "sentence"), BROKEN, ids=[sentence for _, sentence in BROKEN])
def test_what_is_no_report_is_one_sentence(tmp_path, values, sentence):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(values))
    with refused(sentence, DeviceError, path):
        MemorySystem.read(path)


def test_what_a_gpu_lacks_is_left_out():
    assert MemorySystem.of(changed("multiplying", [])).macs_per_clock == {}
    assert MemorySystem.of(changed("tile_loads", [])).tile_latency == {}


def test_files_that_are_not_there():
    with pytest.raises(DeviceError, match="nowhere"):
        MemorySystem.read("nowhere.json")
    with pytest.raises(ReportError, match="no report of h20 'memory'"):
        MemorySystem.named("h20")
    assert MemorySystem.read(FILE) == H200
