"""Schedules of one's own: a function, a registered one, one in a file, one of an installed package."""

import json
import sys
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from command_line import said

import tilesim.schedules
from tilesim import SCHEDULES, Costs, Device, Plan, Problem, Trace, plan, simulate
from tilesim.engine.simulate import replay
from tilesim.errors import PlanError, ScheduleError
from tilesim.kernel_costs.default import default_costs, read_costs
from tilesim.plans import segments
from tilesim.schedules import label
from tilesim.schedules.persistent import persistent
from tilesim.schedules.split_k import split_k

PROBLEM, DEVICE = Problem(512, 512, 256), Device.named("h200", sms=4)
SMALL = ["--m", "512", "--n", "512", "--k", "256", "--sms", "4"]


def backwards(problem: Problem, device: Device, stride: int = 1) -> Plan:
    """A thread block per tile, the last tile first."""
    tiles = np.arange(problem.tiles)
    return Plan(segments(tiles, tiles[::-1], 0, problem.k_steps), problem.tiles)


class Stateful:
    def __call__(self, problem, device):
        return backwards(problem, device)


class TestAFunction:
    def test_is_simulated_as_a_schedule_of_that_plan_would_be(self):
        costs = Costs(k_step=100, launch=50, jitter=0.1)
        run = simulate(backwards, PROBLEM, DEVICE, costs, seed=3)
        assert run.schedule == "backwards"
        forwards = simulate("naive", PROBLEM, DEVICE, replace(costs, jitter=0))
        one = simulate(backwards, PROBLEM, DEVICE, replace(costs, jitter=0))
        assert one.spans["tile"].tolist() == (PROBLEM.tiles - 1 - forwards.spans["tile"]).tolist()
        assert one.spans["done"].tolist() == forwards.spans["done"].tolist()

    @pytest.mark.parametrize(
        ("function", "name"),
        [
            (lambda problem, device: backwards(problem, device), "lambda"),
            (partial(backwards, stride=3), "backwards:3"),
            (partial(split_k, s=2), "split_k:2"),
            (Stateful(), "Stateful"),
            (persistent, "persistent"),
        ],
    )
    def test_is_called_by_its_name(self, function, name):
        assert simulate(function, PROBLEM, DEVICE).schedule == label(function) == name
        assert plan(function, PROBLEM, DEVICE).rows.tolist() == function(PROBLEM, DEVICE).rows.tolist()

    def test_may_not_be_called_as_a_schedule_that_it_is_not(self):
        def naive(problem, device):
            return backwards(problem, device)

        with pytest.raises(ScheduleError, match="the function 'naive' is not the schedule of that name"):
            simulate(naive, PROBLEM, DEVICE)

    @pytest.mark.parametrize(
        ("made", "like"),
        [
            (backwards, "naive"),
            (lambda problem, device: persistent(problem, device), "persistent"),
            (lambda problem, device: plan("stream-k:3", problem, device), "stream-k"),
            (lambda problem, device: plan("persistent-dynamic", problem, device), "persistent-dynamic"),
        ],
    )
    def test_has_the_costs_of_the_schedule_that_its_plan_is_like(self, made, like):
        source = simulate(made, PROBLEM, DEVICE).meta["costs"]["source"]
        assert source == default_costs(like, PROBLEM, DEVICE).source

    def test_that_fails_is_one_sentence_with_its_line_and_its_cause(self):
        def fails(problem, device):
            return [][problem.tiles]

        with pytest.raises(ScheduleError) as raised:
            plan(fails, PROBLEM, DEVICE)
        line = fails.__code__.co_firstlineno + 1
        assert str(raised.value) == (
            f"the schedule 'fails' failed in line {line} (IndexError: list index out of range)"
        )
        assert isinstance(raised.value.__cause__, IndexError)

    @pytest.mark.parametrize(
        ("function", "error", "words"),
        [
            (lambda problem, device: 5, ScheduleError, "'lambda' returned 5 of type int; it must return a"),
            (lambda problem: None, ScheduleError, "must define a function lambda"),
            (lambda problem, device: sys.exit(3), ScheduleError, "SystemExit: 3"),
            (lambda p, d: Plan(segments([0], [0], 0, 1), 1), PlanError, "K-steps 1 to 4 of tile 0"),
            (5, ScheduleError, "the schedule is 5; it must be a name"),
        ],
    )
    def test_that_is_no_schedule(self, function, error, words):
        with pytest.raises(error, match=words):
            simulate(function, replace(PROBLEM, m=128, n=256), DEVICE)


class TestRegister:
    def test_makes_a_name_of_a_function(self):
        assert SCHEDULES.register(backwards) is backwards
        assert SCHEDULES["backwards"] is backwards and "backwards" in list(SCHEDULES)
        run = simulate("backwards:2", PROBLEM, DEVICE)
        assert run.schedule == "backwards:2"
        assert run.spans.tolist() == simulate(backwards, PROBLEM, DEVICE).spans.tolist()
        again = simulate("backwards", PROBLEM, DEVICE, Costs())
        assert replay(run, Costs()).spans.tolist() == again.spans.tolist()

    def test_has_the_costs_of_the_schedule_that_its_plan_is_like(self):
        """By default, and where a name or a file of costs has several to choose from."""
        SCHEDULES.register(backwards)
        source = default_costs("naive", PROBLEM, DEVICE).source
        assert "naive-tma" in source
        assert default_costs("backwards:3", PROBLEM, DEVICE).source == source
        assert simulate("backwards", PROBLEM, DEVICE).meta["costs"]["source"] == source
        assert read_costs("h200", "backwards", PROBLEM, DEVICE).source == source

    def test_again_from_the_same_module_replaces(self):
        for value in (1, 2):

            @SCHEDULES.register
            def mine(problem, device, value=value):
                return backwards(problem, device)

        assert SCHEDULES["mine"].__defaults__ == (2,)

    def test_does_not_take_another_schedules_name(self):
        def persistent(problem, device):
            return backwards(problem, device)

        with pytest.raises(ScheduleError, match="there is already a schedule 'persistent' in tilesim"):
            SCHEDULES.register(persistent)
        SCHEDULES.add("mine", backwards, "a.py")
        with pytest.raises(ScheduleError, match=r"'mine' in a\.py; rename the one in b\.py"):
            SCHEDULES.add("mine", backwards, "b.py")
        assert SCHEDULES.source("mine") == "a.py"

    @pytest.mark.parametrize("function", [lambda problem, device: None, partial(backwards, stride=2), 5])
    def test_needs_a_name(self, function):
        with pytest.raises(ScheduleError, match="has no name; define it with def"):
            SCHEDULES.register(function)

    def test_needs_a_function_of_a_problem_and_a_device(self):
        def mine(problem):
            return None

        with pytest.raises(ScheduleError, match=r"must define a function mine\(problem, device\)"):
            SCHEDULES.register(mine)

    def test_list_says_where_a_schedule_comes_from(self):
        SCHEDULES.register(backwards)
        listed = json.loads(said("list", "--json"))["schedules"]
        assert listed["backwards[:STRIDE]"].endswith(f"the last tile first. (from {__name__})")
        assert "(from " not in listed["naive"]


@pytest.fixture
def packages(monkeypatch):
    """What `offer(name, value)` offers is offered by an installed package."""
    points = []

    def entry_points(group):
        assert group == "tilesim.schedules"
        return points

    def offer(name, value):
        points.append(EntryPoint(name, value, "tilesim.schedules"))

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    tilesim.schedules._offers.cache_clear()
    yield offer
    tilesim.schedules._offers.cache_clear()


class TestAPackage:
    def test_offers_a_schedule(self, packages, tmp_path, monkeypatch):
        (tmp_path / "their_package.py").write_text(FILE)
        monkeypatch.syspath_prepend(tmp_path)
        packages("reversed", "their_package:snake")
        assert "their_package" not in sys.modules
        assert "reversed" in list(SCHEDULES) and "their_package" not in sys.modules
        assert simulate("reversed", PROBLEM, DEVICE).schedule == "reversed"
        assert SCHEDULES.source("reversed") == "the package their_package"

    def test_that_is_broken_breaks_its_own_name_alone(self, packages):
        packages("lost", "package_that_is_not_there:snake")
        packages("other", "math:pi")
        with pytest.raises(
            ScheduleError, match="'lost' of the package package_that_is_not_there cannot be load"
        ):
            plan("lost", PROBLEM, DEVICE)
        with pytest.raises(ScheduleError, match=r"must define a function pi\(problem, device\)"):
            plan("other", PROBLEM, DEVICE)
        assert "cannot be loaded (ModuleNotFoundError: " in said("list")
        assert simulate("naive", PROBLEM, DEVICE).schedule == "naive"

    def test_does_not_replace_one_of_tilesim(self, packages):
        packages("naive", "math:sin")
        assert SCHEDULES.source("naive") == ""
        assert simulate("naive", PROBLEM, DEVICE).schedule == "naive"

    def test_beside_another_of_that_name(self, packages):
        packages("reversed", "one:snake")
        packages("reversed", "two:snake")
        with pytest.raises(ScheduleError, match="the packages one and two both offer a schedule 'reversed'"):
            plan("reversed", PROBLEM, DEVICE)


FILE = '''"""A file of the user's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilesim.plans import Plan, segments


@dataclass
class Stride:
    step: int = 1


def snake(problem, device, step=1):
    tiles = np.arange(problem.tiles)
    return Plan(segments(tiles, tiles[::-1], 0, problem.k_steps), problem.tiles)


def fails(problem, device):
    return np.zeros(1)[problem.tiles]


def naive(problem, device):
    return snake(problem, device)


def alone(problem):
    return None
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "broken.py").write_text("x = 1\ny = x / 0\n")
    (tmp_path / "typo.py").write_text("def snake(problem, device)\n")
    (tmp_path / "exits.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "folder.py").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestAFile:
    @pytest.mark.parametrize("text", ["mine.py:snake", "./mine.py:snake", "mine.py:snake:3"])
    def test_has_schedules(self, text, here):
        files, known = sorted(here.iterdir()), set(SCHEDULES)
        said("simulate", text, *SMALL, "-o", "t.npz")
        trace = Trace.load("t.npz")
        assert trace.schedule == text.partition(".py:")[2]
        assert trace.spans.tolist() == simulate(backwards, PROBLEM, Device(4)).spans.tolist()
        assert set(SCHEDULES) == known
        assert sorted(here.iterdir()) == sorted([*files, here / "t.npz"])

    def test_is_taken_by_plan_and_sweep_too(self, here):
        listed = json.loads(said("plan", "mine.py:snake", *SMALL, "--json"))
        assert [row["tile"] for row in listed["segments"]] == [*range(PROBLEM.tiles)][::-1]
        words = ["--schedule", "naive,mine.py:snake", "--m", "64:512:64", "--n", "m", "--k", "64"]
        alone, spread = (said("sweep", *words, "--jobs", jobs, "--json") for jobs in (1, 2))
        assert {row["schedule"] for row in json.loads(alone)} == {"naive", "snake"} and spread == alone

    def test_is_recorded_by_the_kernel_that_runs_any_plan(self, here, monkeypatch):
        class Kernels:
            @staticmethod
            def record(schedule, problem, **options):
                return simulate(schedule, problem, Device(4))

        monkeypatch.setattr("tilesim.cli.commands.record.load", lambda folder: Kernels)
        said("record", "mine.py:snake", "--kernel", "table", *SMALL[:6], "-o", "t.npz")
        assert Trace.load("t.npz").schedule == "snake"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("none.py:snake", "none.py: there is no such file"),
            ("folder.py:snake", "folder.py: there is no such file"),
            ("mine.py:snaek", "mine.py: there is no function 'snaek'; did you mean 'snake'?"),
            ("empty.py:snake", "empty.py: it defines no function"),
            ("mine.py", "mine.py does not say which function; write it as mine.py:FUNCTION"),
            ("mine.py:", "mine.py does not say which function"),
            ("broken.py:f", "broken.py cannot be loaded in line 2 (ZeroDivisionError: "),
            ("typo.py:f", "typo.py cannot be loaded (SyntaxError: "),
            ("exits.py:f", "exits.py cannot be loaded in line 1 (SystemExit: 0)"),
            ("mine.py:fails", "the schedule 'fails' failed in line 23 (IndexError: "),
            ("mine.py:alone", "mine.py must define a function alone(problem, device)"),
            ("mine.py:naive", "there is already a schedule 'naive' in tilesim"),
            ("mine.py:snake:0", "'snake:0' has the parameter '0'"),
            ("mine.py:snake:1:2", "'snake:1:2' has 2 parameters; write it as 'snake:STEP'"),
        ],
    )
    def test_that_is_wrong_is_one_sentence(self, text, words, here):
        before = set(SCHEDULES)
        assert words in said("simulate", text, *SMALL, "-o", "t.npz", code=2)
        assert set(SCHEDULES) == before and not (here / "t.npz").exists()

    def test_is_not_run_for_a_name_that_a_trace_has(self, here):
        """Only who types the name of a file has it run."""
        with pytest.raises(ScheduleError, match=r"there is no schedule 'broken\.py'"):
            plan("broken.py:f", PROBLEM, DEVICE)
        replace(simulate("naive", PROBLEM, DEVICE), schedule="broken.py:f", origin="measured").save("t.npz")
        said("compare", "t.npz")
