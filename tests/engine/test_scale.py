"""A million tiles: compiled code and Python agree to the byte, in little memory, with Numba and without."""

import hashlib
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import costs, devices, planned, split_plans

from tilesim import Costs, Device, Problem, Trace, compiled, plan, simulate
from tilesim.engine import run
from tilesim.engine.events import latest
from tilesim.errors import PlanError, TraceError
from tilesim.spans.checks import is_sound
from tilesim.spans.columns import LONGEST_NS, MOST_CYCLES, PLACES, SPAN

pytest.importorskip("numba")

COSTS = Costs(
    k_step=700, mainloop_overhead=90, launch=168, prologue=400, tile_gap=150, epilogue=900, overlap=True,
    epilogue_serialisation=500, epilogue_overlap_penalty=80, partial=300, merge=70, fixup=20,
    coresidency=(1.0, 1.3), jitter=0.05,
)  # fmt: skip
H200 = Device.named("h200")


def never(function, steps=()):
    """In place of `compiled.load`: nothing is compiled."""


def uncompiled(function, steps=()):
    """The same: the function that would be compiled, in Python."""
    return function


def with_functions(load, call):
    """What `call` returns where `load` makes the compiled functions; or the error's sentence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "fast", lambda function, rows, steps=(): load(function, steps))
        try:
            return call()
        except (PlanError, TraceError) as error:
            return str(error)


def is_the_same_compiled(call):
    in_python, fast = with_functions(never, call), with_functions(compiled.load, call)
    if isinstance(in_python, str):
        assert fast == in_python
    else:
        assert fast.tobytes() == in_python.tobytes()


@given(planned(), devices(), costs(), st.integers(0, 9))
def test_every_schedule_runs_the_same_compiled(case, device, costs, seed):
    schedule, problem = case
    is_the_same_compiled(lambda: simulate(schedule, problem, device, costs, seed).spans)


@given(split_plans(), devices(max_sms=3), costs(max_k_step=30))
def test_any_split_plan_runs_the_same_compiled(case, device, costs):
    problem, made = case
    is_the_same_compiled(lambda: run.run(made, problem, device, costs))


@pytest.mark.parametrize("costs", [COSTS, Costs.ideal()], ids=["noisy", "ideal"])
@pytest.mark.parametrize("schedule", ["naive", "cluster-launch-control", "stream-k"])
def test_large_plans_run_the_same_compiled(schedule, costs):
    problem, device = Problem(128 * 80, 256 * 60, 512), Device.named("h200", ctas_per_sm=2)
    is_the_same_compiled(lambda: simulate(schedule, problem, device, costs, seed=4).spans)


def test_rows_of_one_instant_are_sorted_however_many_there_are():
    problem = Problem(1, 50_000, 1, tile=(1, 1, 1))
    device = Device(400, 50, 3, sm_order=tuple(range(400))[::-1])
    spans = run.run(plan("naive", problem, device), problem, device, Costs.ideal())
    order = np.lexsort((spans["slot"], spans["sm"], spans["start"], spans["issue"]))
    assert (order == np.arange(len(spans))).all()
    assert len(np.unique(spans["issue"])) == 3


def test_times_that_no_key_holds_are_played_in_python():
    """Keys are times, events and ranks in one int64; Python's integers hold any."""
    device, costs = Device(4, ctas_per_sm=2), Costs(k_step=10**15)
    problem = Problem(1, 1, 300, tile=(1, 1, 1))
    assert latest(device.slots) < simulate("naive", problem, device, costs).makespan
    is_the_same_compiled(lambda: simulate("naive", problem, device, costs).spans)


@settings(max_examples=100)
@given(
    planned(max_side=4), devices(max_sms=3), costs(), st.sampled_from(SPAN.names), st.integers(0, 99),
    st.integers(-3, 3) | st.integers(-(2**31), 2**31 - 1),
)  # fmt: skip
def test_what_one_pass_believes_all_checks_believe(case, device, costs, field, row, by):
    schedule, problem = case
    spans = np.array(simulate(schedule, problem, device, costs).spans)
    spans[field][row % len(spans)] = by if field in PLACES else spans[field][row % len(spans)] + by

    def checked():
        return Trace(problem, device, schedule, spans).spans

    found = with_functions(never, checked)
    believed = not isinstance(found, str) and found.tobytes() == spans.tobytes()
    assert with_functions(uncompiled, lambda: is_sound(problem, device, spans)) == believed
    again = with_functions(uncompiled, checked)
    assert again == found if isinstance(found, str) else again.tobytes() == found.tobytes()


def test_a_run_of_too_long_or_no_time_or_too_many_cycles_is_not_believed_in_one_pass():
    one = Problem(1, 1, 1), Device(1)
    spans = np.zeros(1, SPAN)
    spans["k1"] = 1
    for done, sound in {0: False, 1: True, LONGEST_NS: True, LONGEST_NS + 1: False}.items():
        spans["done"] = done
        assert with_functions(uncompiled, lambda: is_sound(*one, spans)) == sound
    spans["done"] = 1
    for cycles, sound in {MOST_CYCLES: True, MOST_CYCLES + 1: False}.items():
        spans["cycles"] = cycles
        assert with_functions(uncompiled, lambda: is_sound(*one, spans)) == sound


def test_a_trace_of_frozen_rows_that_own_their_memory_copies_nothing():
    spans = simulate("naive", Problem(1, 5, 1, tile=(1, 1, 1)), Device(2)).spans
    problem = Problem(1, 5, 1, tile=(1, 1, 1))
    assert with_functions(uncompiled, lambda: Trace(problem, Device(2), "naive", spans).spans) is spans
    view = np.array(spans)[:]
    view.flags.writeable = False
    assert with_functions(uncompiled, lambda: Trace(problem, Device(2), "naive", view[:]).spans).base is None


MILLION = Problem(128 * 1000, 256 * 1000, 512)


def test_a_million_tiles():
    trace = simulate("stream-k", MILLION, H200, COSTS)
    assert np.bincount(trace.spans["tile"], minlength=MILLION.tiles).min() == 1
    assert 0.7 < trace.utilization < trace.busy_share <= 1
    assert trace.waves == -(-len(trace.spans) // 132)
    assert trace.makespan == trace.spans["done"].max()
    believed = with_functions(never, lambda: Trace(MILLION, H200, "stream-k", np.array(trace.spans)).spans)
    assert believed.tobytes() == trace.spans.tobytes()


@pytest.mark.parametrize("schedule", ["stream-k", "cluster-launch-control"])
def test_a_run_takes_at_most_100_bytes_for_a_tile_beyond_its_plan(schedule, monkeypatch):
    problem = Problem(128 * 400, 256 * 500, 512)
    monkeypatch.setattr("tilesim.engine.simulate.plan", lambda *_: made)
    made = plan(schedule, problem, H200)
    simulate(schedule, problem, H200, COSTS)
    tracemalloc.start()
    trace = simulate(schedule, problem, H200, COSTS)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 80 * len(trace.spans) < most < 100 * len(trace.spans)


RUN = """
import hashlib, sys
{before}
from tilesim import Costs, Device, Problem, compiled, simulate
for tiles in (compiled.LARGE - 1, compiled.LARGE):
    trace = simulate("persistent", Problem(1, tiles, 2, tile=(1, 1, 1)), Device(132), Costs(jitter=0.05))
    print(hashlib.sha256(trace.spans).hexdigest(), bool(sys.modules.get("numba")))
"""


@pytest.fixture(scope="module")
def digests():
    """Those of two runs, of which a process prints the digests."""

    def digest(tiles):
        problem, noisy = Problem(1, tiles, 2, tile=(1, 1, 1)), Costs(jitter=0.05)
        return hashlib.sha256(simulate("persistent", problem, Device(132), noisy).spans).hexdigest()

    return [digest(compiled.LARGE - 1), digest(compiled.LARGE)]


@pytest.mark.parametrize(
    ("before", "loaded"), [("", ["False", "True"]), ("sys.modules['numba'] = None", ["False", "False"])]
)
def test_numba_is_loaded_for_a_large_plan_alone_and_changes_nothing(before, loaded, digests):
    command = [sys.executable, "-c", RUN.format(before=before)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = [f"{digest} {word}" for digest, word in zip(digests, loaded, strict=True)]
    assert (run.stdout.splitlines(), run.stderr) == (expected, "")


KEPT = """
import sys
import numpy as np
from tilesim import compiled

def total(values):
    found = 0
    for i in range(len(values)):
        found += values[i]
    return found

if sys.argv[1:]:  # no folder can be written
    import numba.core.caching as caching
    caching.CacheImpl._locator_classes = caching.CompileResultCacheImpl._locator_classes = []
print(compiled.load(total)(np.arange(5)), end="")
"""


def kept(folder, *words):
    """What a process says whose file has a function that is compiled and kept in a folder."""
    (folder / "kept.py").write_text(KEPT)
    command = [sys.executable, str(folder / "kept.py"), *words]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return run.stdout + run.stderr


def test_a_cache_that_is_damaged_is_made_anew(tmp_path):
    assert kept(tmp_path) == "10"
    (index,) = tmp_path.rglob("*.nbi")
    index.write_bytes(b"damaged")
    assert kept(tmp_path) == "10" and index.read_bytes() != b"damaged"


def test_without_a_folder_for_a_cache_nothing_is_kept(tmp_path):
    assert kept(tmp_path, "nowhere") == "10" and not list(tmp_path.rglob("*.nbi"))
