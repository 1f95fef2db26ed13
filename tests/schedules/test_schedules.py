"""Every registered schedule, on any problem, device and costs."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import EVERY_SCHEDULE, costs, devices, planned, problems

import tilesim.schedules
from tilesim import SCHEDULES, Costs, Device, Problem, plan, simulate
from tilesim.errors import ScheduleError
from tilesim.orders import rasterize

IDEAL = Costs.ideal()


@given(planned(), devices(), costs(shared=False, jitter=False))
def test_busy_time_is_conserved(case, device, costs):
    schedule, problem = case
    spans = simulate(schedule, problem, device, costs).spans
    steps = (spans["k1"] - spans["k0"]).tolist()
    expected = [max(1, round(count * float(costs.k_step))) + costs.mainloop_overhead for count in steps]
    assert (spans["drain"] - spans["start"]).tolist() == expected


@given(planned(), devices(), costs(shared=False), st.integers(0, 99))
def test_a_tile_costs_the_same_under_every_schedule(case, device, costs, seed):
    schedule, problem = case

    def work(name):
        spans = simulate(name, problem, device, costs, seed).spans
        whole = spans[(spans["k0"] == 0) & (spans["k1"] == problem.k_steps)]
        return dict(zip(whole["tile"].tolist(), (whole["drain"] - whole["start"]).tolist(), strict=True))

    alone = work("naive")
    assert work(schedule).items() <= alone.items()


@given(planned(), devices(), costs(), st.integers(0, 99))
def test_makespan_is_no_shorter_than_it_can_be(case, device, costs, seed):
    schedule, problem = case
    trace = simulate(schedule, problem, device, costs, seed)
    spans = trace.spans
    assert spans["issue"].min() == 0 and trace.makespan == spans["done"].max()
    assert trace.makespan * device.slots >= (spans["drain"] - spans["start"]).sum()
    if not costs.jitter and min(costs.coresidency) >= 1:
        steps = problem.tiles * problem.k_steps
        assert trace.makespan * device.slots >= steps * costs.k_step - len(spans)
    assert 0 < trace.utilization <= trace.busy_share <= 1


@pytest.mark.parametrize("jitter", [0.02, 0.2])
@pytest.mark.parametrize("k_steps", [1, 16])
def test_jitter_is_relative_to_the_k_step_and_k_steps_add_up(jitter, k_steps):
    problem = Problem(100, 100, k_steps, tile=(1, 1, 1))
    spans = simulate("naive", problem, Device(1), Costs(k_step=1e6, jitter=jitter), seed=3).spans
    logs = np.log((spans["drain"] - spans["start"]) / (1e6 * k_steps))
    assert abs(logs.std() / jitter * k_steps**0.5 - 1) < 0.05
    assert abs(logs.mean()) < 0.05 * jitter


@given(problems(), devices())
def test_which_thread_block_computes_which_whole_tiles(problem, device):
    order, ctas = rasterize(problem).tolist(), device.sms * device.ctas_per_sm
    naive, strided, contiguous, dynamic, claimed = (
        plan(name, problem, device)
        for name in (
            "naive", "persistent", "persistent-contiguous", "persistent-dynamic", "cluster-launch-control",
        )
    )  # fmt: skip
    assert naive.segments["cta"].tolist() == list(range(problem.tiles))
    assert naive.segments["tile"].tolist() == contiguous.segments["tile"].tolist() == order
    assert np.ptp(np.diff(contiguous.offsets)) <= 1
    assert strided.ctas == contiguous.ctas == dynamic.ctas == ctas
    for cta in range(ctas):
        assert strided.segments["tile"][strided.segments["cta"] == cta].tolist() == order[cta::ctas]
    assert not len(dynamic.segments) and dynamic.shared["tile"].tolist() == order
    assert claimed.ctas == min(device.slots, problem.tiles)
    assert claimed.segments["cta"].tolist() == list(range(claimed.ctas))
    assert claimed.rows["tile"].tolist() == order


def test_surplus_ctas_make_a_second_wave_of_a_persistent_kernel():
    problem = Problem(128, 128 * 8, 64, tile=(128, 128, 64))
    assert simulate("persistent", problem, Device(4), IDEAL).makespan == 2000
    assert simulate("persistent", problem, Device(4, busy_sms=1), IDEAL).makespan == 4000
    assert simulate("persistent-dynamic", problem, Device(4, busy_sms=1), IDEAL).makespan == 3000
    claimed = simulate("cluster-launch-control", problem, Device(4, busy_sms=1), IDEAL)
    assert (claimed.makespan, claimed.meta["launches"]) == (3000, 3)


@given(planned(), st.integers(1, 40))
def test_more_sms_never_hurt_under_ideal_costs(case, sms):
    schedule, problem = case
    smaller = simulate(schedule, problem, Device(sms), IDEAL)
    larger = simulate(schedule, problem, Device(2 * sms), IDEAL)
    assert larger.makespan <= smaller.makespan


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("persistant", "did you mean 'persistent'"),
        ("Naive", "did you mean 'naive'"),
        ("naive:4", "'naive:4' has 1 parameter; write it as 'naive'$"),
        ("naive:", "write it as 'naive'"),
        (7, "the schedule is 7"),
    ],
)
def test_a_schedule_that_does_not_exist(name, sentence):
    with pytest.raises(ScheduleError, match=sentence):
        simulate(name, Problem(1, 1, 1), Device(1))


BROKEN = {
    "no_python": ("def (", r"schedules/no_python.py cannot be loaded \(SyntaxError: invalid syntax"),
    "no_module": ("import nowhere", "cannot be loaded .*No module named 'nowhere'"),
    "no_function": ("", r"schedules/no_function.py must define a function no_function\(problem, device\)"),
    "no_device": ("def no_device(problem): ...", r"must define a function no_device\(problem, device\)"),
    "no_plan": ("def no_plan(problem, device): ...", "'no-plan' returned None of type NoneType; it must ret"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose files are schedules until the test ends."""
    monkeypatch.setattr(tilesim.schedules, "__path__", [*tilesim.schedules.__path__, str(tmp_path)])
    yield tmp_path
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(f"tilesim.schedules.{file.stem}", None)
        vars(tilesim.schedules).pop(file.stem, None)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_breaks_its_own_schedule_alone(name, folder):
    text, sentence = BROKEN[name]
    before = list(SCHEDULES)
    (folder / f"{name}.py").write_text(text)
    schedule = name.replace("_", "-")
    assert list(SCHEDULES) == sorted([*before, schedule])
    with pytest.raises(ScheduleError, match=sentence):
        plan(schedule, Problem(1, 1, 1), Device(1))
    assert plan("naive", Problem(1, 1, 1), Device(1)).ctas == 1
    with pytest.raises(ScheduleError, match=f"choose from .*{schedule}"):
        plan("zzz", Problem(1, 1, 1), Device(1))


def test_schedules_are_a_read_only_mapping_that_imports_what_is_looked_up(folder):
    count = len(SCHEDULES)
    (folder / "two_words.py").write_text("def two_words(problem, device, s): ...")
    (folder / "_shared.py").write_text("")
    assert len(SCHEDULES) == len(list(SCHEDULES)) == count + 1
    assert "two-words" in SCHEDULES
    assert not {"two_words", "_shared", "-shared", "", None} & set(SCHEDULES)
    assert "tilesim.schedules.two_words" not in sys.modules
    assert SCHEDULES["two-words"].__name__ == dict(SCHEDULES.items())["two-words"].__name__ == "two_words"
    assert SCHEDULES.get("two_words") is None
    with pytest.raises(KeyError, match="persistant"):
        SCHEDULES["persistant"]
    with pytest.raises(TypeError):
        SCHEDULES["naive"] = None


@pytest.mark.parametrize("seed", [-1, 0.5, "x", 2**63, True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match=r"the seed is .*; it must be a whole number from 0"):
        simulate("naive", Problem(1, 1, 1), Device(1), seed=seed)


@pytest.mark.parametrize("schedule", EVERY_SCHEDULE)
def test_a_plan_takes_16_bytes_for_a_segment_and_cuts_no_tile_that_it_need_not(schedule):
    made = plan(schedule, Problem(128 * 200, 128 * 100, 128, tile=(128, 128, 64)), Device(132))
    cut = {"split-k:2": 20_000, "stream-k": 131, "stream-k-hybrid": 131}.get(schedule, 0)
    assert 0 <= len(made.rows) - 20_000 <= cut
    assert made.segments.nbytes + made.shared.nbytes == 16 * len(made.rows)
