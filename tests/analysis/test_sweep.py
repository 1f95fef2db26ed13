"""Sweeps: every combination once and in order, with the figures of `simulate`, on any number of processes."""

from dataclasses import replace
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Costs, Device, Problem, metrics, simulate
from tilesim.analysis.sweep import Combination, Row, blank, combinations, row, sweep
from tilesim.costs import badge
from tilesim.errors import DeviceError, ProblemError, SweepError

H200 = Device.named("h200")
ONE = {"schedule": ["naive"], "m": [256], "n": [512], "k": [64]}
FIGURES = ("makespan_ns", "utilization", "busy_share", "waves", "launches")

small = st.lists(st.integers(1, 300), min_size=1, max_size=2, unique=True)
AXES = st.fixed_dictionaries(
    {
        "schedule": st.lists(st.sampled_from(["naive", "persistent", "stream-k"]), min_size=1, unique=True),
        **dict.fromkeys("mnk", small),
    },
    optional={
        "sms": st.lists(st.integers(1, 5), min_size=1, max_size=2, unique=True),
        "ctas_per_sm": st.lists(st.integers(1, 2), min_size=1, unique=True),
        "tile": st.lists(st.sampled_from([(64, 64, 32), (128, 256, 64)]), min_size=1, unique=True),
        "order": st.lists(st.sampled_from(["row-major", "grouped:2"]), min_size=1, unique=True),
        "dtype": st.lists(st.sampled_from(["bf16", "fp16"]), min_size=1, unique=True),
    },
)


def as_asked(one: Row, axes: dict) -> tuple:
    """A row's place on each axis, those that move slowest first."""
    names = [name for name in Row._fields if name in axes]
    values = {name: getattr(one, name) for name in names}
    if "tile" in values:
        values["tile"] = tuple(map(int, values["tile"].split("x")))
    return tuple(axes[name].index(values[name]) for name in names)


@given(AXES)
def test_every_combination_is_there_once_and_the_last_axis_moves_fastest(axes):
    rows = [blank(one) for one in combinations(axes, H200)]
    places = [as_asked(one, axes) for one in rows]
    assert len(places) == prod(map(len, axes.values()))
    assert places == sorted(set(places))
    assert {one.device for one in rows} == {"h200"}


def test_a_size_can_be_as_large_as_another():
    cubes = combinations(ONE | {"m": [64, 128], "n": ["m"], "k": ["n", 32]}, H200)
    sizes = [(one.problem.m, one.problem.n, one.problem.k) for one in cubes]
    assert sizes == [(64, 64, 64), (64, 64, 32), (128, 128, 128), (128, 128, 32)]


def test_what_is_the_same_is_there_once():
    assert len(combinations(ONE | {"n": ["m", 256]}, H200)) == 1


@pytest.mark.parametrize(
    ("axes", "error", "words"),
    [
        ({"m": [0]}, ProblemError, "m is 0"),
        ({"dtype": ["bf61"]}, ProblemError, "did you mean 'bf16'"),
        ({"device": ["h20"]}, DeviceError, "did you mean 'h200'"),
        ({"order": []}, SweepError, "the sweep has no value for order; it needs at least one"),
        ({"m": range(1, 1001), "n": range(1, 1001)}, SweepError, "has 1000000 combinations; at most 100000"),
    ],
)
def test_what_no_sweep_can_be_made_of(axes, error, words):
    with pytest.raises(error, match=words):
        combinations(ONE | axes, H200)


@given(AXES)
def test_figures_are_those_of_a_simulation(axes):
    for one in combinations(axes, H200)[::7][:4]:
        trace = simulate(one.schedule, one.problem, one.device)
        known, found = metrics.summary(trace), row(one)
        assert {name: getattr(found, name) for name in FIGURES} == {name: known[name] for name in FIGURES}
        assert found.tflops * 1000 * trace.makespan == pytest.approx(one.problem.flops)
        assert (found.tiles, found.k_steps, found.error) == (one.problem.tiles, one.problem.k_steps, "")
        assert found.costs == badge(trace.meta["costs"], one.device)


def test_what_a_schedule_refuses_is_said_in_its_row():
    refused, done = sweep(combinations(ONE | {"schedule": ["split-k:2", "naive"]}, H200))
    assert refused.error.startswith("split-k:2 cuts each tile into 2 slices; the tiles")
    assert refused[: Row._fields.index("launches")] == ("split-k:2", *done[1 : Row._fields.index("launches")])
    assert {refused.launches, refused.makespan_ns, refused.tflops} == {None}
    assert done.error == "" and done.makespan_ns > 0


def test_what_costs_refuse_is_said_in_its_row(tmp_path):
    (old,) = sweep(combinations(ONE | {"device": ["v100"]}, H200))
    assert "no bf16 rate" in old.error
    (lost,) = sweep(combinations(ONE, H200), costs=tmp_path / "none.json")
    assert "none.json: there is no such file" in lost.error


def test_costs_and_seed_are_used(tmp_path):
    (tmp_path / "own.json").write_text('{"k_step": 500, "jitter": 0.1, "source": "own"}')
    one = Combination("naive", Problem(1024, 1024, 640), Device(4))
    costs = Costs(k_step=500, jitter=0.1, source="own")
    for seed in (0, 1):
        found = row(one, tmp_path / "own.json", seed)
        assert (found.makespan_ns, found.costs) == (simulate(*one, costs, seed).makespan, "custom costs")
    assert row(one, tmp_path / "own.json", 0) != row(one, tmp_path / "own.json", 1)


def test_the_table_is_the_same_with_any_number_of_processes():
    axes = ONE | {"schedule": ["naive", "persistent", "split-k:2"], "n": range(128, 2049, 128)}
    every, told = combinations(axes, H200), []
    assert sweep(every, jobs=2, progress=told.append) == sweep(every)
    assert sum(told) == len(every) and len(told) > 1


def test_a_row_says_what_is_its_combination():
    problem = Problem(1, 2, 3, (4, 5, 6), "fp8", "hilbert")
    one = Combination("persistent", problem, replace(H200, ctas_per_sm=2))
    assert blank(one)[:12] == ("persistent", "h200", 132, 2, 1, 2, 3, "4x5x6", "hilbert", "fp8", 1, 1)
