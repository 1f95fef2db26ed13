"""Warps that wait for memory: properties, and Little's law."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.analysis.memory_system import MemorySystem
from tilesim.ideas import latency_hiding as hiding

WARPS = st.integers(1, 64)


@st.composite
def times(draw):
    """(latency, interval), the interval no longer than the latency."""
    latency = draw(st.integers(1, 2000))
    return latency, draw(st.integers(1, latency))


@given(WARPS, times())
def test_one_warp_more_never_loses_and_wins_nothing_once_there_are_enough(warps, pair):
    most = 1 / pair[1]
    rate = hiding.throughput(warps, *pair)
    assert rate == pytest.approx(most) if warps >= hiding.enough(*pair) else rate < most
    assert hiding.throughput(warps + 1, *pair) >= rate


@given(WARPS, times())
def test_littles_law_holds_of_what_is_under_way(warps, pair):
    rate, wait = hiding.throughput(warps, *pair), hiding.wait(warps, *pair)
    assert hiding.in_flight(rate, wait) == pytest.approx(warps)


@pytest.mark.parametrize("gpu, latency, cores, needed", [("G80", 24, 8, 192), ("GF100", 18, 32, 576)])
def test_volkovs_table_of_arithmetic_comes_out(gpu, latency, cores, needed):
    """Operations that an SM needs under way, and as many threads of one each (GTC 2010)."""
    assert hiding.in_flight(cores, latency) == needed
    assert 32 * hiding.enough(latency, interval=max(1, 32 // cores)) == needed


def test_an_sm_gets_its_part_of_memory_but_no_more_than_it_can_take():
    h200 = MemorySystem.named("h200")
    intervals = [hiding.of_memory(h200, 1536, sms)[1] for sms in (1, 2, 33, 66, 132)]
    assert intervals[0] == intervals[1] == round(1536 / h200.sm_bytes_per_clock)
    assert intervals[4] == pytest.approx(2 * intervals[3], abs=1)
