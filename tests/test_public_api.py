"""What others build on: names, signatures, and how little `import tilesim` loads."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from inspect import signature

import pytest

import tilesim
from tilesim import SCHEDULES, Costs, Device, Plan, Problem, Trace, errors, metrics, plan, simulate


def test_the_names():
    assert sorted(tilesim.__all__) == [
        "Costs", "Device", "Plan", "Problem", "SCHEDULES", "Trace", "WorkItems", "plan", "simulate",
    ]  # fmt: skip
    assert all(hasattr(tilesim, name) for name in tilesim.__all__)


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (plan, ["schedule", "problem", "device"]),
        (simulate, ["schedule", "problem", "device", "costs=None", "seed=0"]),
        (Problem, ["m", "n", "k", "tile=(128, 256, 64)", "dtype='bf16'", "order='row-major'"]),
        (Device, ["sms", "ctas_per_sm=1", "busy_sms=0", "name=''"]),
        (Device.named, ["name"]),
        (Trace, ["problem", "device", "schedule", "spans", "origin='simulated'", "tick_ns=1", "meta"]),
        (Trace.save, ["self", "path"]),
        (Trace.load, ["path"]),
        (Trace.summary, ["self"]),
        (Trace.film, ["self", "path=None"]),
        (SCHEDULES.register, ["function"]),
        (Costs.ideal, []),
    ],
)
def test_the_signatures(function, parameters):
    """A signature may grow at its end, by parameters with a default."""
    given = [
        p.name if p.default in (p.empty,) or p.name == "meta" else f"{p.name}={p.default!r}"
        for p in signature(function).parameters.values()
    ]
    extra = [name for name in given[len(parameters) :] if name != "options"]
    assert given[: len(parameters)] == parameters
    assert all("=" in name for name in extra)


@pytest.mark.parametrize("schedule", ["naive", "persistent-dynamic"])
def test_traces_and_plans_show_themselves_in_a_line(schedule):
    problem, device = Problem(m=4096, n=4096, k=512), Device.named("h200")
    trace, made = simulate(schedule, problem, device), plan(schedule, problem, device)
    for text in (repr(trace), repr(made)):
        assert "\n" not in text and len(text) < 200
    assert schedule in repr(trace) and "4096x4096x512" in repr(trace) and "512 tiles" in repr(trace)
    assert f"{trace.makespan / 1000:.3f} µs" in repr(trace)
    assert f"{made.ctas} thread blocks" in repr(made) and "512" in repr(made)


def test_a_summary_is_every_figure_and_what_it_is_of():
    tiles = Problem(384, 384, 4, tile=(128, 128, 4))
    trace = simulate("naive", tiles, Device(4), Costs.ideal(), seed=7)
    found = trace.summary()
    assert metrics.summary(trace).items() <= found.items()
    assert {"tilesim", "schedule", "problem", "device", "origin", "costs", "seed"} <= set(found)
    assert json.loads(json.dumps(found))["problem"]["tile"] == [128, 128, 4]
    figures = [found[name] for name in ("utilization", "launches", "seed", "schedule")]
    assert figures == [0.75, 9, 7, "naive"]


def test_the_core_classes_are_frozen_and_slotted_and_their_arrays_read_only():
    problem, device = Problem(1, 1, 1), Device(1)
    runs = plan("naive", problem, device), simulate("naive", problem, device)
    for one in (problem, device, Costs(), *runs):
        assert not hasattr(one, "__dict__")
        name = next(iter(type(one).__slots__))
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, None)
    made = plan("persistent-dynamic", Problem(1, 1, 1), Device(1))
    assert isinstance(made, Plan)
    trace = runs[1]
    for array in (made.segments, made.shared, made.offsets, trace.spans):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_all_errors_are_of_one_family():
    assert issubclass(errors.TilesimError, ValueError)
    kinds = [kind for name, kind in vars(errors).items() if name.endswith("Error") and name != "TilesimError"]
    assert len(kinds) >= 6
    assert all(issubclass(kind, errors.TilesimError) for kind in kinds)


HEAVY = {"click", "numba", "manim", "torch", "triton", "PIL", "scipy", "tilesim_scenes", "tilesim_kernels"}
COMMAND = "from tilesim.cli import main\nfor word in {}:\n try: main([word])\n except SystemExit: pass"
STARTS = {
    "a simulation": (
        "import tilesim; tilesim.simulate('naive', tilesim.Problem(1, 1, 1), tilesim.Device(1))", HEAVY
    ),
    "a process of a sweep": ("import tilesim.__main__, tilesim.analysis.sweep", {"click", "manim"}),
    "help and list": (COMMAND.format(["--help", "list"]), HEAVY - {"click"}),
    "doctor": (COMMAND.format(["doctor"]), {"torch", "triton", "numba", "pyarrow"}),
}  # fmt: skip


@pytest.mark.parametrize(("code", "others"), STARTS.values(), ids=STARTS)
def test_nothing_is_loaded_before_it_is_needed(code, others):
    code += "\nimport sys\nprint()\nprint(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.splitlines()[-1].split())
    assert "numpy" in loaded and not loaded & others
