"""ASCII lanes: small runs drawn out, so that a change shows as a picture in a diff."""

from dataclasses import replace
from textwrap import dedent

import numpy as np
import pytest
from hypothesis import given
from strategies import costs, devices, planned

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.formats import gantt

NINE = Problem(384, 384, 128, tile=(128, 128, 16))
COSTS = Costs(k_step=100, launch=100, prologue=100, tile_gap=100, epilogue=200)
OVERLAPPED = Costs(k_step=100, launch=100, prologue=100, epilogue=400, overlap=True)


def drawn(picture):
    return dedent(picture).strip("\n")


def test_naive():
    assert gantt.draw(simulate("naive", NINE, Device(4), COSTS), 72) == drawn("""
        naive on 4 SMs, simulated: 9 tiles, 3600 ns
              0         0.5       1         1.5       2         2.5       3         3.5 µs
              |         |         |         |         |         |         |         |
        SM 0  >>>>[0==============---->>>>[4==============---->>>>[8==============----
        SM 1  >>>>[1==============---->>>>[5==============----........................
        SM 2  >>>>[2==============---->>>>[6==============----........................
        SM 3  >>>>[3==============---->>>>[7==============----........................
        > launch or hand-over   [= main loop, its tile's number in it   - epilogue   . idle
    """)


def test_persistent_writes_one_tile_under_the_next():
    assert gantt.draw(simulate("persistent", NINE, Device(4), OVERLAPPED), 60) == drawn("""
        persistent on 4 SMs, simulated: 9 tiles, 3000 ns
              0         0.5       1         1.5       2         2.5       3 µs
              |         |         |         |         |         |         |
        SM 0  >>>>[0==============[~~~~~~~4=======[~~~~~~~8=======--------
        SM 1  >>>>[1==============[~~~~~~~5=======--------................
        SM 2  >>>>[2==============[~~~~~~~6=======--------................
        SM 3  >>>>[3==============[~~~~~~~7=======--------................
        > launch or hand-over   [= main loop, its tile's number in it   - epilogue\
   ~ main loop with the epilogue of the tile before under it   . idle
    """)


@pytest.mark.parametrize(
    ("epilogue", "second"), [(1000, f"[1{'~' * 18}{'-' * 25}"), (760, f"[{'~' * 18}1{'-' * 19}")]
)
def test_a_number_stands_over_an_epilogue_where_it_has_no_room_behind_it(epilogue, second):
    two, costs = (
        Problem(128, 256, 128, tile=(128, 128, 16)),
        Costs(k_step=100, epilogue=epilogue, overlap=True),
    )
    lane = gantt.draw(simulate("persistent", two, Device(1), costs), (1600 + epilogue) // 40).splitlines()[3]
    assert lane == f"SM 0  [0{'=' * 18}{second}"


@pytest.mark.parametrize(
    ("width", "lane"), [(36, "[0=[1=[2=[3=[4=[5=[6=[7=[8=[9=[10[11"), (24, "[0[1[2[3[4[5[6[7[8[9[=[=")]
)
def test_a_number_stands_where_it_has_just_room(width, lane):
    trace = simulate("persistent", Problem(128, 12 * 128, 64, tile=(128, 128, 64)), Device(1), Costs.ideal())
    assert gantt.draw(trace, width).splitlines()[3] == f"SM 0  {lane}"
    assert len(gantt.draw(trace).splitlines()[3]) == len("SM 0  ") + 100
    assert gantt.draw(replace(trace, meta={"gpu": "Mine"}), width).startswith("persistent on Mine, ")


def test_two_blocks_share_an_sm():
    problem, costs = Problem(128, 640, 128, tile=(128, 128, 16)), Costs(k_step=100, coresidency=(1, 2))
    assert gantt.draw(simulate("naive", problem, Device(1, ctas_per_sm=2), costs), 40) == drawn("""
        naive on 1 SM, simulated: 5 tiles, 4000 ns
                0         1         2         3         4 µs
                |         |         |         |         |
        SM 0.0  [0==============[2==============[4======
        SM 0.1  [1==============[3==============........
        [= main loop, its tile's number in it   . idle
    """)


def test_a_tile_cut_in_two_shows_its_wait_and_its_fix_up():
    spans = np.zeros(2, simulate("naive", NINE, Device(1)).spans.dtype)
    for name, values in {
        "cta": (0, 1), "k0": (0, 2), "k1": (2, 4), "sm": (0, 1), "drain": (500, 200), "ready": (500, 600),
        "fixup": (500, 800), "done": (600, 1000),
    }.items():  # fmt: skip
        spans[name] = values
    trace = Trace(Problem(64, 64, 4, tile=(64, 64, 1)), Device(2), "split-k:2", spans)
    assert gantt.draw(trace, 20) == drawn("""
        split-k:2 on 2 SMs, simulated: 1 tile, 1000 ns
              0         0.5       1 µs
              |         |         |
        SM 0  [0========--........
        SM 1  [0==????????++++----
        [= main loop, its tile's number in it   ? wait for partials   + adding partials\
   - epilogue   . idle
    """)


def test_sms_without_work_are_counted_in_one_line():
    """SM 2 of 6 is another kernel's: it is neither idle nor drawn."""
    problem = Problem(128, 256, 128, tile=(128, 128, 16))
    device = Device(6, busy_sms=1, sm_order=(2, 5, 0, 1, 3, 4))
    assert gantt.draw(simulate("naive", problem, device, COSTS), 24) == drawn("""
        naive on 6 SMs, simulated: 2 tiles, 1200 ns
              0         0.5       1 µs
              |         |         |
        SM 0  >>>>[1==============----
        SM 5  >>>>[0==============----
        ... 3 idle SMs
        > launch or hand-over   [= main loop, its tile's number in it   - epilogue
    """)


@given(planned(), devices(), costs())
def test_every_free_sm_is_drawn_or_counted(case, device, costs):
    schedule, problem = case
    trace = simulate(schedule, problem, device, costs)
    lines = gantt.draw(trace, 40).splitlines()
    lanes = [line for line in lines if line.startswith("SM ")]
    counted = [int(line.split()[1]) for line in lines if line.startswith("... ")]
    assert len(lanes) == len(set(trace.spans["sm"].tolist())) * device.ctas_per_sm
    assert len(lanes) // device.ctas_per_sm + sum(counted) == len(device.free_sms)
    assert counted != [0] and len(counted) <= 1


def test_the_axis_has_the_unit_in_which_the_run_takes_at_least_one():
    units = {999: "ns", 1000: "µs", 999_999: "µs", 1_000_000: "ms"}
    for ns, unit in units.items():
        run = simulate("naive", Problem(1, 1, 1), Device(1), Costs(k_step=ns))
        assert gantt.draw(run, 50).splitlines()[1].endswith(f" {unit}")


@pytest.mark.parametrize("width", [20, 33, 1000])
def test_every_lane_is_as_wide_as_asked_for(width):
    trace = simulate("stream-k", Problem(2048, 2048, 512), Device(5, 2, 1), OVERLAPPED)
    lines = gantt.draw(trace, width).splitlines()
    lanes = [line for line in lines if line.startswith("SM ")]
    assert [lane[:6] for lane in lanes] == [f"SM {sm}.{slot}" for sm in range(1, 5) for slot in range(2)]
    assert {len(lane) for lane in lanes} == {len("SM 1.0  ") + width}
    assert not any(line.endswith(" ") for line in lines)


def test_a_main_loop_that_is_shorter_than_a_column_is_still_seen():
    spans = simulate("naive", NINE, Device(9), Costs(k_step=1, epilogue=100_000)).spans
    trace = Trace(NINE, Device(9), "naive", spans)
    lanes = [line for line in gantt.draw(trace, 40).splitlines() if line.startswith("SM ")]
    assert all(lane.count("[") == 1 for lane in lanes)
