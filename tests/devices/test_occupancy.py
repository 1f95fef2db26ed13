"""How many thread blocks an SM holds: as NVIDIA's calculator, its guides and a GPU say."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.devices.occupancy import LIMITS, occupancy
from tilesim.devices.presets import presets
from tilesim.errors import DeviceError
from tilesim.ladder.reports import report

NVIDIA = sorted(set(presets()) - {"mi300x"})
DEVICES = st.sampled_from(NVIDIA)
THREADS, REGISTERS, SHARED = st.integers(1, 1024), st.integers(1, 255), st.integers(0, 2**18)
CALCULATED = list(csv.DictReader(Path(__file__).with_name("cuda_occupancy.csv").open(encoding="utf-8")))
"""By cuda_occupancy.c, with the header cuda_occupancy.h of the CUDA Toolkit 13.0."""


@pytest.mark.parametrize("device", NVIDIA)
def test_residents_are_those_of_nvidias_calculator(device):
    rows = [row for row in CALCULATED if row["device"] == device]
    for row in rows:
        asked = [int(row[name]) for name in ("threads", "registers", "shared_bytes")]
        assert occupancy(device, *asked).residents == int(row["residents"]), row
    assert rows


@given(DEVICES, THREADS, REGISTERS, SHARED)
def test_what_binds_has_no_room_for_another_block(device, threads, registers, shared):
    found = occupancy(device, threads, registers, shared)
    assert [use.limit for use in found.uses] == list(LIMITS) and 0 <= found.share <= 1
    for use in found.uses:
        assert found.residents * use.of_block <= use.of_sm
        assert (use.limit in found.binding) == (use.blocks == found.residents)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: occupancy("mi300x", 128, 64), "AMD MI300X shares an SM out to blocks is not known"),
        (lambda: occupancy("h2000", 128, 64), "h200"),
        (lambda: occupancy("h200", 1025, 64), "threads is 1025"),
        (lambda: occupancy("h200", 128, 256), "registers is 256"),
        (lambda: occupancy("h200", 128, 64, -1), "shared_bytes is -1"),
    ],
)
def test_what_no_sm_can_do_is_refused_in_a_sentence(call, says):
    with pytest.raises(DeviceError, match=says):
        call()


def test_an_h200_and_its_driver_hold_as_many_blocks_as_the_rules_say():
    """142 kernels that only spin, and 8 matrix products: by the driver, and as the blocks stamped."""
    measured, bound = report("execution_model"), set()
    for row in [*measured["rows"], *measured["kernels"]]:
        found = occupancy("h200", row["threads"], row["registers"], row["shared_bytes"])
        assert found.residents == row["driver"] == row["seen"], row
        bound |= set(found.binding)
    assert bound == set(LIMITS)
