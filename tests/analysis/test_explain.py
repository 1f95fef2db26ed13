"""Where the time of a run went: exact for any run, and known for runs made by hand."""

from dataclasses import fields, replace

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from recordings import recording

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.explain import BEYOND, BOUNDS, PARTS, UNDIVIDED, apportioned, costs_behind, explain
from tilesim.analysis.time_account import LOOPS, account
from tilesim.errors import TilesimError
from tilesim.formats.reader import read

TILE = Problem(128, 128, 64 * 8, tile=(128, 128, 64))
H200 = Costs(k_step=0.0, device="h200")
OVERLAPPED = replace(H200, overlap=True, epilogue=500)
PRESETS = ("", "h200", "a100", "t4", "b200")


@st.composite
def runs(draw):
    """Simulated runs, with K-steps of a given time or of a GPU's hardware; some taken for recordings."""
    schedule, problem = draw(strategies.planned())
    device = replace(draw(strategies.devices()), name=draw(st.sampled_from(PRESETS)))
    costs = draw(strategies.costs())
    if gpu := draw(st.sampled_from(PRESETS)):
        problem = replace(problem, dtype="fp16")
        costs = replace(
            costs, k_step=draw(st.sampled_from([0.0, 400.0])), device=gpu, stages=draw(st.integers(0, 6))
        )
    run = simulate(schedule, problem, device, costs)
    if draw(st.booleans()):
        return run
    known = {"sm_mhz": 1500, "stages": 2, "kernel": "planned-tma-overlap"}
    meta = draw(st.dictionaries(st.sampled_from(sorted(known)), st.none())).keys()
    return Trace(problem, device, schedule, run.spans, "measured", 32, {name: known[name] for name in meta})


@given(runs())
def test_what_holds_of_any_run(run):
    found = explain(run)
    assert tuple(found.parts) == PARTS and all(type(ns) is int for ns in found.parts.values())
    assert sum(found.parts.values()) == found.makespan == run.makespan
    assert sum(round(10 * percent) for percent in found.percent.values()) == 1000
    # Only what a recording took less than the model says is negative.
    assert min(ns for part, ns in found.parts.items() if part != BEYOND) >= 0
    assert run.origin == "measured" or found.parts[BEYOND] == 0
    # Either main loops are divided, or a sentence says why not.
    assert bool(found.unknown) != bool(found.k_steps)
    assert found.unknown or found.parts[UNDIVIDED] == 0
    assert sum(found.k_steps.values()) == pytest.approx(0 if found.unknown else 1)
    # All that is no main loop is as the account has it.
    loops = sum(account(run)[part] for part in LOOPS)
    terms = PARTS[PARTS.index("first load") + 1 : PARTS.index("hand-over")]
    assert sum(found.parts[part] for part in terms) == pytest.approx(loops / run.device.slots, abs=len(PARTS))


@given(st.lists(st.integers(0, 10**30), min_size=1).filter(any), st.integers(0, 10**18))
def test_apportioned_shares_add_up_and_are_less_than_one_off(values, whole):
    found = apportioned(values, whole)
    assert sum(found) == whole
    total = sum(values)
    assert all(abs(one * total - value * whole) < total for one, value in zip(found, values, strict=True))


def test_each_part_belongs_to_one_bound():
    named = [part for parts in BOUNDS.values() for part in parts]
    assert sorted([*named, BEYOND]) == sorted(PARTS)


@pytest.mark.parametrize(
    ("schedule", "costs", "part", "ns"),
    [
        ("naive", Costs(100, launch=70), "launch", 3 * 70),
        ("naive", Costs(100, prologue=70), "first load", 3 * 70),
        ("naive", Costs(100, epilogue=70), "write", 3 * 70),
        ("naive", Costs(100), UNDIVIDED, 3 * 800),
        ("persistent", replace(OVERLAPPED, tile_gap=70), "hand-over", 2 * 70),
        ("persistent", replace(OVERLAPPED, epilogue_overlap_penalty=70), "slowed by a write", 2 * 70),
    ],
)
def test_three_tiles_in_a_row_take_what_their_costs_say(schedule, costs, part, ns):
    run = simulate(schedule, replace(TILE, n=128 * 3), Device(1), costs)
    assert explain(run).parts[part] == pytest.approx(ns, abs=2)


def test_partials_are_waited_for_and_added():
    costs = Costs(100, partial=300, merge=40, fixup=5)
    found = explain(simulate("split-k:2", TILE, Device(2), costs)).parts
    assert (found["waiting for partials"], found["fix-up"]) == (300 // 2, 46 // 2)


def test_a_slot_without_work_is_idle_and_one_that_is_done_is_in_its_tail():
    one = explain(simulate("naive", TILE, Device(4), Costs(100)))
    assert (one.parts["idle"], one.parts["tail"], one.bound) == (600, 0, "idle slots")
    five = explain(simulate("naive", replace(TILE, n=128 * 5), Device(4), Costs(100)))
    assert (five.parts["idle"], five.parts["tail"]) == (0, 600)


def test_a_long_product_is_bound_by_the_tensor_cores():
    found = explain(simulate("persistent", Problem(4096, 4096, 4096), Device.named("h200")))
    assert found.bound == "the tensor cores"
    assert found.percent["tensor cores at peak rate"] > 80


def test_a_product_of_a_tiny_k_is_bound_by_its_launches():
    tiny = Problem(4096, 4096, 64, tile=(128, 128, 64))
    found = explain(simulate("naive", tiny, Device.named("h200", ctas_per_sm=2)))
    assert found.bound == "launches"
    assert found.percent["launch"] + found.percent["first load"] > 40


def test_a_kernel_that_multiplies_slowly_is_bound_by_its_main_loop():
    found = explain(simulate("naive", TILE, Device(1), replace(H200, k_step=5000.0)))
    assert found.bound == "the kernel's main loop"
    assert found.parts["below peak rate"] > found.parts["tensor cores at peak rate"] > 0


def test_a_single_stage_is_bound_by_latency():
    found = explain(simulate("naive", replace(TILE, k=2**16), Device(1), replace(H200, stages=1)))
    assert found.bound == "latency"
    assert found.k_steps["latency"] == 1


SIMULATED = simulate("naive", TILE, Device(2))
NAMED = simulate("naive", TILE, Device.named("h200"))
NO_RATE = simulate("naive", replace(TILE, dtype="fp8"), Device.named("a100", sms=1), Costs(5))


@pytest.mark.parametrize(
    ("run", "word"),
    [
        (simulate("naive", TILE, Device(2), Costs.ideal()), "ideal costs"),
        (simulate("naive", TILE, Device(2), Costs(50)), "custom costs"),
        (replace(SIMULATED, meta={}), "does not contain the costs"),
        (replace(SIMULATED, meta={"costs": {"launch": "x"}}), "does not contain the costs"),
        (replace(SIMULATED, meta={"costs": 7}), "does not contain the costs"),
        (replace(SIMULATED, origin="measured"), "does not name its device"),
        (replace(NO_RATE, origin="measured"), "fp8"),
        # As in a file that somebody edited.
        (replace(NAMED, schedule="split-k:99", origin="measured"), "split-k:99"),
    ],
)
def test_what_cannot_be_divided_says_why_in_a_sentence(run, word):
    found = explain(run)
    assert word in found.unknown and "\n" not in found.unknown
    assert found.parts[UNDIVIDED] > 0 and not found.k_steps
    with pytest.raises(TilesimError):
        costs_behind(run)


@pytest.mark.parametrize(
    "name",
    [
        "naive-4096x4096x4096-grouped8", "persistent-4096x4096x512-grouped8",
        "naive-2048x2048x4096-tile128x128x64-grouped8", "stream-k-1408x3840x4096-grouped8",
        "persistent-dynamic-4096x4096x4096-grouped8",
    ],
)  # fmt: skip
def test_the_model_leaves_little_of_a_recording_unexplained(name):
    found = explain(recording(name))
    assert found.parts[BEYOND] and abs(found.percent[BEYOND]) < 2
    assert found.bound == "the tensor cores"


def test_a_kernel_of_others_is_divided_by_the_costs_of_the_schedule_that_it_is_like():
    run = replace(recording("naive-4096x4096x512-grouped8"), schedule="my_kernel")
    assert costs_behind(run) == costs_behind(replace(run, schedule="naive"))
    assert not explain(run).unknown


def test_a_kernel_of_others_on_a_device_that_is_named_is_held_against_what_that_can_do(pytestconfig):
    run = read(str(pytestconfig.rootpath / "tests" / "own_kernel.csv"), {"device": "h200"})
    found = explain(run)
    assert not found.unknown
    assert found.percent[BEYOND] > 30


def test_a_recording_has_the_stages_that_it_says():
    run = recording("naive-4096x4096x512-grouped8")
    alone = replace(run, meta=run.meta | {"stages": 1})
    assert explain(alone).parts["latency not hidden"] > explain(run).parts["latency not hidden"]


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10**16), st.floats(-1e12, 1e12), st.text(max_size=3),
    st.lists(st.floats(0.1, 9), max_size=2), st.just("h200"),
).filter(lambda value: not isinstance(value, str) or value.isprintable())  # fmt: skip


@given(
    st.sampled_from([SIMULATED, recording("split-k2-1024x1024x8192-grouped8")]),
    st.dictionaries(st.sampled_from([field.name for field in fields(Costs)]), ANYTHING, max_size=3),
    st.dictionaries(st.sampled_from(["sm_mhz", "stages", "costs"]), ANYTHING, max_size=2),
)
def test_whatever_a_file_says_of_its_costs_the_parts_add_up(run, costs, meta):
    found = explain(replace(run, meta={"costs": {"device": "h200", "k_step": 0.0} | costs} | meta))
    assert sum(found.parts.values()) == run.makespan
    assert min(ns for part, ns in found.parts.items() if part != BEYOND) >= 0
