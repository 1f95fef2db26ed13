"""Every registered schedule, on any problem, device and costs."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_no_slot_waits, check_run
from strategies import EVERY_SCHEDULE, costs, devices, planned, problems

import tilesim.schedules
from tilesim import SCHEDULES, Costs, Device, Problem, Trace, plan, simulate
from tilesim.engine import run
from tilesim.errors import ScheduleError
from tilesim.orders import rasterize

IDEAL = Costs.ideal()
SCHEDULES_OF_THE_SPINE = ["naive", "persistent", "persistent-contiguous", "persistent-dynamic"]


def test_the_spine_is_registered():
    assert set(SCHEDULES_OF_THE_SPINE) <= set(SCHEDULES)


def covered(made, problem):
    """How often each K-step of each tile is computed: int, shape [tiles, k_steps]."""
    count = np.zeros((problem.tiles, problem.k_steps), int)
    for rows in (made.segments, made.shared):
        for row in rows:
            count[row["tile"], row["k0"] : row["k1"]] += 1
    return count


@given(planned(), devices())
def test_a_plan_covers_every_k_step_once(case, device):
    schedule, problem = case
    assert (covered(plan(schedule, problem, device), problem) == 1).all()


@given(planned(), devices(), costs(), st.integers(0, 99))
def test_a_run_follows_its_plan_and_its_costs(case, device, costs, seed):
    schedule, problem = case
    made = plan(schedule, problem, device)
    spans = run.run(made, problem, device, costs, seed)
    check_run(made, device, costs, spans)
    trace = simulate(schedule, problem, device, costs, seed)
    assert sorted(trace.spans.tolist()) == sorted(spans.tolist())
    assert trace.spans["issue"].min() == 0


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
    assert trace.makespan == spans["done"].max()
    assert trace.makespan >= (spans["done"] - spans["issue"]).max()
    busy = int((spans["drain"] - spans["start"]).sum())
    assert trace.makespan * device.slots >= busy
    if not costs.jitter and min(costs.coresidency) >= 1:
        steps = problem.tiles * problem.k_steps
        assert trace.makespan * device.slots >= steps * costs.k_step - len(spans)
    assert 0 < trace.utilization <= trace.busy_share <= 1


@given(planned(), devices(), costs(), st.integers(0, 2**63 - 1))
def test_the_same_seed_gives_the_same_bytes(tmp_path_factory, case, device, costs, seed):
    schedule, problem = case
    folder = tmp_path_factory.mktemp("seed")
    for name in ("a.npz", "b.npz"):
        simulate(schedule, problem, device, costs, seed).save(folder / name)
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


@given(st.sampled_from(EVERY_SCHEDULE), st.integers(0, 99))
def test_another_seed_gives_other_times_only_with_jitter(schedule, seed):
    problem, device = Problem(1024, 1024, 4096), Device(4)

    def times(jitter, seed):
        return simulate(schedule, problem, device, Costs(jitter=jitter), seed).spans.tolist()

    assert times(0.0, seed) == times(0.0, seed + 1)
    assert times(0.1, seed) != times(0.1, seed + 1)


@pytest.mark.parametrize("jitter", [0.02, 0.2])
@pytest.mark.parametrize("k_steps", [1, 16])
def test_jitter_is_relative_to_the_k_step_and_k_steps_add_up(jitter, k_steps):
    problem = Problem(100, 100, k_steps, tile=(1, 1, 1))
    spans = simulate("naive", problem, Device(1), Costs(k_step=1e6, jitter=jitter), seed=3).spans
    logs = np.log((spans["drain"] - spans["start"]) / (1e6 * k_steps))
    assert abs(logs.std() / jitter * k_steps**0.5 - 1) < 0.05
    assert abs(logs.mean()) < 0.05 * jitter


@given(problems(), devices(), costs(), st.integers(0, 99))
def test_naive_blocks_start_in_order_on_the_first_free_slot(problem, device, costs, seed):
    made = plan("naive", problem, device)
    assert made.ctas == problem.tiles
    assert made.segments["cta"].tolist() == list(range(problem.tiles))
    assert made.segments["tile"].tolist() == rasterize(problem).tolist()
    check_no_slot_waits(made, device, costs, run.run(made, problem, device, costs, seed))


@given(problems(), devices())
def test_persistent_strides_over_all_ctas_that_fit_an_idle_device(problem, device):
    made = plan("persistent", problem, device)
    assert made.ctas == device.sms * device.ctas_per_sm
    order = rasterize(problem).tolist()
    for cta in range(made.ctas):
        assert made.segments["tile"][made.segments["cta"] == cta].tolist() == order[cta :: made.ctas]


@given(problems(), devices())
def test_persistent_contiguous_gives_ranges_that_differ_by_one_at_most(problem, device):
    made = plan("persistent-contiguous", problem, device)
    assert made.ctas == device.sms * device.ctas_per_sm
    assert made.segments["tile"].tolist() == rasterize(problem).tolist()
    sizes = np.diff(made.offsets)
    assert sizes.max() - sizes.min() <= 1


@given(problems(), devices(), costs())
def test_persistent_dynamic_serves_whoever_asks_first(problem, device, costs):
    made = plan("persistent-dynamic", problem, device)
    assert made.ctas == device.sms * device.ctas_per_sm
    assert not len(made.segments)
    assert made.shared["tile"].tolist() == rasterize(problem).tolist()
    spans = run.run(made, problem, device, costs)
    assert (np.diff(spans["issue"]) >= 0).all()


@given(problems(), devices(), costs())
def test_cluster_launch_control_starts_what_finds_a_slot_and_hands_out_the_rest(problem, device, costs):
    made = plan("cluster-launch-control", problem, device)
    assert made.ctas == min(device.slots, problem.tiles)
    assert made.segments["cta"].tolist() == list(range(made.ctas))
    assert made.segments["tile"].tolist() + made.shared["tile"].tolist() == rasterize(problem).tolist()
    spans = run.run(made, problem, device, costs)
    assert (np.diff(spans["issue"][made.ctas :]) >= 0).all()


@given(problems(), devices())
def test_surplus_persistent_ctas_queue_behind_busy_sms(problem, device):
    made = plan("persistent", problem, device)
    spans = run.run(made, problem, device, Costs.ideal())
    first_wave = {int(span["cta"]) for span in spans if span["issue"] == 0}
    with_work = min(made.ctas, problem.tiles)
    assert first_wave == set(range(min(device.slots, with_work)))


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
        ("", "there is no schedule ''"),
        ("naive:4", "'naive:4' has 1 parameter but takes none; write it as 'naive'$"),
        ("naive:", "write it as 'naive'"),
        (7, "the schedule is 7"),
        (None, "the schedule is None"),
    ],
)
def test_a_schedule_that_does_not_exist(name, sentence):
    with pytest.raises(ScheduleError, match=sentence):
        simulate(name, Problem(1, 1, 1), Device(1))


BROKEN = {
    "no_python": ("def (", r"schedules/no_python.py cannot be loaded \(SyntaxError: invalid syntax"),
    "no_module": ("import nowhere", "cannot be loaded .*No module named 'nowhere'"),
    "no_function": ("", r"schedules/no_function.py must define a function no_function\(problem, device\)"),
    "no_callable": ("no_callable = 3", "must define a function no_callable"),
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
def test_a_million_tiles_are_cheap_to_plan(schedule):
    made = plan(schedule, Problem(2**17, 2**17, 128, tile=(128, 128, 64), order="hilbert"), Device(132))
    segments = len(made.segments) + len(made.shared)
    cut = {"split-k:2": 2**20, "stream-k": 131, "stream-k-hybrid": 131}.get(schedule, 0)
    assert 0 <= segments - 2**20 <= cut
    assert made.segments.nbytes + made.shared.nbytes == 16 * segments


def test_simulate_returns_a_trace_that_says_how_it_was_made():
    costs = Costs(k_step=5, launch=3)
    trace = simulate("persistent", Problem(100, 100, 100), Device(3), costs, seed=9)
    assert isinstance(trace, Trace)
    assert (trace.origin, trace.tick_ns, trace.schedule) == ("simulated", 1, "persistent")
    assert trace.meta["seed"] == 9
    assert Costs.from_mapping(trace.meta["costs"]) == costs
    assert trace.meta["launches"] == 3
