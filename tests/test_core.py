"""Problem, Device, Costs and Plan: what they derive, and what they refuse with which sentence."""

import json
from dataclasses import asdict, fields, replace
from itertools import pairwise
from math import ceil, inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import problems

from tilesim import Costs, Device, Plan, Problem, plan, simulate
from tilesim.costs import WHOLE as TIMES
from tilesim.costs import badge
from tilesim.devices.presets import presets
from tilesim.errors import CostsError, DeviceError, PlanError, ProblemError
from tilesim.plans import MORE, SEGMENT, UNASSIGNED, plan_lines, segments


def refuses(error, sentence, make):
    with refused(sentence, error):
        make()


@given(problems())
def test_tiles_and_k_steps_are_rounded_up(problem):
    assert problem.tiles_m == ceil(problem.m / problem.tile[0])
    assert problem.tiles_n == ceil(problem.n / problem.tile[1])
    assert problem.k_steps == ceil(problem.k / problem.tile[2])
    assert problem.tiles == problem.tiles_m * problem.tiles_n
    assert (problem.tile_m, problem.tile_n, problem.tile_k) == problem.tile
    assert problem.flops == 2 * problem.m * problem.n * problem.k


def test_numbers_may_come_from_numpy(tmp_path):
    problem = Problem(*np.array([300, 200, 100]), tile=tuple(np.array([64, 64, 32])))
    device = Device(np.int64(4), np.int32(2), np.uint8(1))
    simulate("naive", problem, device, seed=np.int64(1)).save(tmp_path / "a.npz")
    assert problem == Problem(300, 200, 100, tile=(64, 64, 32))
    assert device == Device(4, 2, 1)


@pytest.mark.parametrize("size", [0, 2**40 + 1, 1.0, "8", None, True])
def test_a_size_is_a_whole_number_from_1(size):
    said = f" is {size!r}; it must be a whole number from 1"
    for axis in range(3):
        sizes = (*[64] * axis, size, *[64] * (2 - axis))
        refuses(ProblemError, "mnk"[axis] + said, lambda sizes=sizes: Problem(*sizes))
        refuses(ProblemError, f"tile[{axis}]{said}", lambda sizes=sizes: Problem(64, 64, 64, tile=sizes))


@pytest.mark.parametrize("tile", [(1, 2), (1, 2, 3, 4), "128x128x64", None])
def test_a_tile_has_three_sizes(tile):
    said = f"tile is {tile!r}; it must be a list of 3, each a whole number"
    refuses(ProblemError, said, lambda: Problem(1, 1, 1, tile=tile))


def test_too_many_tiles_or_k_steps():
    one = (1, 1, 1)
    assert Problem(2**16, 2**15, 1, tile=one).tiles == 2**31
    said = "makes 2147549184 tiles; at most 2147483648"
    refuses(ProblemError, said, lambda: Problem(2**16, 2**15 + 1, 1, tile=one))
    refuses(ProblemError, f"K = {2**31} in steps of 1 makes", lambda: Problem(1, 1, 2**31, tile=one))


@pytest.mark.parametrize(
    ("dtype", "hint"),
    [("bf17", "did you mean 'bf16'"), ("float32", "fp32, tf32, fp16"), (None, "fp32, tf32, fp16")],
)
def test_an_unknown_dtype(dtype, hint):
    refuses(ProblemError, hint, lambda: Problem(1, 1, 1, dtype=dtype))


def test_presets_are_complete_and_say_where_they_come_from():
    needed = {"t4", "v100", "a100", "rtx4090", "h100", "h100-pcie", "h200", "b200", "mi300x"}
    assert needed <= set(presets())
    sms = {"t4": 40, "v100": 80, "a100": 108, "rtx4090": 128, "h100": 132, "h100-pcie": 114, "h200": 132}
    for name, preset in presets().items():
        device = Device.named(name)
        assert device.sms == sms.get(name, device.sms)
        assert device.slots == device.sms
        assert device.title == preset["title"]
        assert preset["title"].removeprefix("NVIDIA ").removeprefix("AMD ").startswith(preset["short"])
        assert all(rate > 0 for rate in preset["peak_tflops"].values())
        assert simulate("naive", Problem(512, 512, 512, dtype="fp16"), device).makespan > 0


@given(st.integers(1, 300), st.integers(1, 8), st.data())
def test_slots(sms, ctas, data):
    busy = data.draw(st.integers(0, sms - 1))
    order = tuple(data.draw(st.permutations(range(sms)))) if sms < 20 else ()
    device = Device(sms, ctas, busy, sm_order=order)
    assert device.slots == (sms - busy) * ctas
    assert device.free_sms == (order or tuple(range(sms)))[busy:]
    assert device.filling == ctas * device.free_sms


def test_slots_that_are_not_filled_one_round_after_the_other():
    order = (2, 0, 2, 1, 1, 0)
    assert Device(3, 2, sm_order=order).filling == order
    assert Device(3, 2, sm_order=order).free_sms == (2, 0, 1)
    assert Device(3, 2, 1, sm_order=order).filling == (0, 1, 1, 0)


def test_a_named_device_keeps_its_name_at_another_size_and_is_chosen_from_what_is_given_of_it():
    device, problem = Device.named("h200", sms=4, ctas_per_sm=2, busy_sms=1), Problem(128, 256, 6400)
    assert (device.name, device.sms, device.slots) == ("h200", 4, 6)
    whole = Device.named("h200", ctas_per_sm=2)
    assert simulate("naive", problem, device).makespan == simulate("naive", problem, whole).makespan
    default = Device.named("h200", sms=4)
    assert Device.chosen({}, default) == default
    assert Device.chosen({"ctas_per_sm": 2}, default) == Device.named("h200", sms=4, ctas_per_sm=2)
    assert Device.chosen({"sms": 8}, default) == Device.named("h200", sms=8)
    assert Device.chosen({"device": "A100", "sms": 8}, default) == Device.named("a100", sms=8)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Device(0), "sms is 0; it must be a whole number from 1"),
        (lambda: Device(2**40), "sms is 1099511627776"),
        (lambda: Device(1.5), "sms is 1.5"),
        (lambda: Device(4, ctas_per_sm=0), "ctas_per_sm is 0"),
        (lambda: Device(4, busy_sms=-1), "busy_sms is -1"),
        (lambda: Device(4, busy_sms=4), "4 of 4 SMs are busy; at least one must be free"),
        (lambda: Device(3, sm_order=(0, 1, 1)), "the SM order must list each SM from 0 to 2 once"),
        (lambda: Device(3, sm_order=(0, 1)), "the SM order must list each SM"),
        (lambda: Device(2, 2, sm_order=(0, 1, 1)), "the SM order must list each SM from 0 to 1 once, or"),
        (lambda: Device(2, 2, sm_order=(0, 1, 1, 1)), "or each 2 times"),
        (lambda: Device(4, name="h20"), "name is 'h20'; did you mean 'h200'"),
        (lambda: Device.named("tpu"), "there is no device 'tpu'; choose from t4,"),
        (lambda: Device.named("h200", sms=0), "sms is 0"),
    ],
)
def test_a_device_that_cannot_be(make, sentence):
    refuses(DeviceError, sentence, make)


NUMBERS = [*TIMES, "k_step", "jitter", "clock_mhz"]


@pytest.mark.parametrize("value", [-0.5, nan, inf, "3", None, True, 10**400, 2e15])
def test_a_cost_is_a_finite_number_from_0(value):
    for name in NUMBERS:
        if (name, value) != ("partial", None):
            refuses(CostsError, f"{name} is ", lambda name=name: Costs(**{name: value}))
    rest = {"overlap", "coresidency", "device", "scaled_to", "source"}
    assert {*NUMBERS, *rest} == {field.name for field in fields(Costs)}, "every cost is checked"


def test_a_time_is_a_whole_number_of_ns():
    rounded = {name: getattr(Costs(**{name: 2.6}), name) for name in TIMES}
    assert {name: (value, type(value)) for name, value in rounded.items()} == dict.fromkeys(TIMES, (3, int))


def test_costs_come_back_from_json():
    costs = Costs(k_step=1.5, mainloop_overhead=2, coresidency=(1, 1.5), overlap=True, source="x")
    for one in (costs, replace(costs, partial=7), Costs.ideal()):
        assert Costs.from_mapping(json.loads(json.dumps(asdict(one)))) == one


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"k_step": 0}, "k_step is 0; without a device a K-step must take time"),
        ({"jitter": 10.5}, "jitter is 10.5; it must be"),
        ({"overlap": 1}, "overlap is 1; it must be true or false"),
        ({"coresidency": ()}, "coresidency is (); it must be a list that is not empty"),
        ({"coresidency": (2.0,)}, "coresidency is [2.0]; its first factor must be 1"),
        ({"coresidency": (1, 0)}, "coresidency[1] is 0; it must be a number above 0"),
        ({"coresidency": (1, nan)}, "coresidency[1] is nan; it must be a number"),
        ({"coresidency": "1x"}, "coresidency is '1x'; it must be a list"),
        ({"device": "h2000"}, "device is 'h2000'; did you mean 'h200'?"),
        ({"scaled_to": 5}, "scaled_to is 5; it must be one of t4, "),
        ({"kstep": 5}, "there is no field of the costs 'kstep'; did you mean 'k_step'?"),
    ],
)
def test_costs_that_cannot_be(values, sentence):
    refuses(CostsError, sentence, lambda: Costs.from_mapping(values))


def test_ideal_costs_are_a_microsecond_per_k_step():
    ideal = Costs.ideal()
    assert (ideal.k_step, ideal.coresidency, ideal.overlap) == (1000, (1.0,), False)
    assert not any(getattr(ideal, name) for name in NUMBERS if name != "k_step")
    assert ideal.partial is None
    for tile in [(128, 128, 64), (8, 8, 8), (1000, 3, 7)]:
        for dtype in ("fp32", "int8"):
            problem = Problem(5, 5, 50, tile=tile, dtype=dtype)
            trace = simulate("naive", problem, Device(1), Costs.ideal())
            assert trace.makespan == problem.tiles * problem.k_steps * 1000


@pytest.mark.parametrize(
    ("made", "device", "text"),
    [
        (Costs(k_step=5, device="h200", scaled_to="a100"), "h200", "H200 overheads for an A100 on an H200"),
        (Costs(k_step=5, device="h200", scaled_to="a100"), "", "H200 overheads on an A100"),
        (Costs(k_step=5, device="a100"), "", "A100 timings"),
        (Costs(k_step=5, device="a100"), "t4", "A100 timings on a T4"),
        (Costs(), "t4", "ideal costs"),
    ],
)
def test_a_badge_names_whose_costs_they_are_and_where_else_they_are_used(made, device, text):
    on = Device.named(device, sms=4) if device else Device(4)
    assert badge(made, on) == badge(asdict(made), on) == text
    for meta in ({}, 5, None, [1], {"k_step": 5, "x": 1}, {"k_step": "x"}, {"k_step": 10**400}):
        assert badge(meta, on) == "unknown costs", "a trace's meta may hold anything"


FOUR = Problem(2, 2, 8, tile=(1, 1, 1))
WHOLE = [(0, tile, 0, 8) for tile in range(4)]


def planned(*rows, ctas=4):
    return Plan(np.array(sorted(rows), SEGMENT), ctas)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([*WHOLE[:2], *WHOLE[3:]], "tile 2 is never computed"),
        ([*WHOLE, (1, 3, 0, 8)], "K-steps 0 to 8 of tile 3 are computed more than once"),
        ([*WHOLE[:3], (0, 3, 0, 7)], "K-steps 7 to 8 of tile 3 are never computed"),
        ([*WHOLE[:3], (0, 3, 1, 8)], "K-steps 0 to 1 of tile 3 are never computed"),
        ([*WHOLE[:3], (0, 3, 0, 3), (1, 3, 5, 8)], "K-steps 3 to 5 of tile 3 are never computed"),
        ([*WHOLE[:3], (0, 3, 0, 6), (1, 3, 5, 8)], "K-steps 5 to 6 of tile 3 are computed more than once"),
        ([*WHOLE, (0, 4, 0, 8)], "there is no tile 4; the problem has tiles 0 to 3"),
        ([*WHOLE[:3], (0, 3, 0, 9)], "tile 3 has a segment of K-steps 0 to 9; they must lie in 0 to 8"),
        ([*WHOLE[:3], (0, 3, 4, 4)], "tile 3 has a segment of K-steps 4 to 4"),
        ([], "tile 0 is never computed"),
    ],
)
def test_a_plan_that_leaves_out_or_repeats_work(rows, sentence):
    refuses(PlanError, sentence, lambda: planned(*rows).check(FOUR))


def test_coverage_counts_the_queue_too():
    made = Plan(np.array(WHOLE[:2], SEGMENT), 1, segments(UNASSIGNED, [2, 3], 0, 8))
    made.check(FOUR)
    again = Plan(np.array(WHOLE[:3], SEGMENT), 1, segments(UNASSIGNED, [2, 3], 0, 8))
    refuses(PlanError, "tile 2 are computed more than once", lambda: again.check(FOUR))


@pytest.mark.parametrize("ctas", [[1, 0], [0, 2], [-1, 0]])
def test_segments_belong_to_thread_blocks_in_order(ctas):
    said = "segments must be sorted by a thread block from 0 to 1"
    refuses(PlanError, said, lambda: Plan(segments(ctas, 0, 0, 1), 2))
    refuses(PlanError, "has 0 thread blocks; it needs at least one", lambda: Plan(segments([], 0, 0, 1), 0))


def test_offsets_cut_the_segments_by_thread_block():
    made = Plan(segments([0, 0, 2], [5, 6, 7], 0, 1), 4)
    assert made.offsets.tolist() == [0, 2, 2, 3, 3]
    cut = [made.segments["tile"][a:b].tolist() for a, b in pairwise(made.offsets)]
    assert cut == [[5, 6], [], [7], []]
    assert not any(a.flags.writeable for a in (made.segments, made.shared, made.offsets, made.rows))


def test_lines_of_a_plan_say_what_they_leave_out():
    made = Plan(segments([0, 0, 1], [0, 1, 1], [0, 0, 4], [8, 4, 8]), 3, segments(UNASSIGNED, [2, 3], 0, 8))
    assert list(plan_lines(made, FOUR, 1)) == [
        ("0", "0 ... (2 in all)"), (MORE, "2 more"), ("shared queue", "2 ... (2 in all)"),
    ]  # fmt: skip
    assert list(plan_lines(made, FOUR, 3)) == [
        ("0", "0 1[0:4]"), ("1", "1[4:8]"), ("2", "from the shared queue"), ("shared queue", "2 3"),
    ]  # fmt: skip


def test_plans_are_checked_when_they_are_made_and_equal_themselves_alone(monkeypatch):
    """The arrays of two would compare row by row, and a plan could be in no set."""
    one, other = (plan("naive", Problem(1, 1, 1), Device(1)) for _ in range(2))
    assert one != other and len({one, other, one}) == 2
    lazy = {"lazy": lambda problem, device: planned(*WHOLE[:3])}
    monkeypatch.setattr("tilesim.schedules.SCHEDULES", lazy)
    refuses(PlanError, "tile 3 is never computed", lambda: plan("lazy", FOUR, Device(1)))
