"""Roofs of memory: in order, and above everything that ships as measured."""

import pytest

from tilesim.analysis.roofs import product_bytes, roofs
from tilesim.devices.presets import presets
from tilesim.errors import DeviceError
from tilesim.ladder.file import ladders
from tilesim.ladder.reports import report
from tilesim.problems import DTYPE_BYTES

L2_MB = presets()["h200"]["l2_mb"]
SHIPPED = [row for ladder in ladders() for row in ladder.rows if row.dram_bytes]


def test_roofs_rise():
    rates = [roof.gb_per_s for roof in roofs("h200")]
    assert rates == sorted(rates) and len(set(rates)) == len(rates)


@pytest.mark.parametrize("name", ["h100", "", "nothing"])
def test_a_device_whose_rates_are_not_known_has_no_roofs(name):
    with pytest.raises(DeviceError, match="has no roofs"):
        roofs(name)


def test_no_shipped_product_moves_less_than_its_matrices_once():
    """Counted bytes alone do: what C's last tiles wrote is still in the L2 when the profiler stops."""
    assert SHIPPED
    for row in SHIPPED:
        stored = row.m * row.n * DTYPE_BYTES[row.dtype]
        least = product_bytes(row.m, row.n, row.k, row.dtype)
        assert row.dram_bytes + min(stored, L2_MB * 1e6) >= 0.999 * least, row
    assert any(row.dram_bytes < product_bytes(row.m, row.n, row.k, row.dtype) for row in SHIPPED)


@pytest.mark.parametrize("level, name", [(0, "dram_bytes"), (1, "l2_bytes")])
def test_no_shipped_kernel_is_above_its_roof(level, name):
    for row in SHIPPED:
        intensity = row.flops / getattr(row, name)
        # Two measurements, each of which repeats to within a percent.
        assert row.tflops <= 1.02 * intensity * roofs("h200")[level].gb_per_s / 1000, row


def test_no_shipped_sum_reads_faster_than_dram():
    rates = [
        row["gb_per_s"] for row in report("reductions")["rows"] if row["name"] != "copy" and row["n"] > 2**27
    ]
    assert 0.95 < max(rates) / roofs("h200")[0].gb_per_s <= 1
