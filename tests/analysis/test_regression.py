"""What became slower between measured runs: parts that add up, noise of repeats, and works that differ."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from command_line import said, tilesim

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.regression import regression
from tilesim.cli import main
from tilesim.errors import TraceError

PROBLEM, DEVICE = Problem(1024, 1024, 512), Device(6)
COSTS = Costs(k_step=900, launch=165, prologue=300, epilogue=700, jitter=0.02)


def measured(costs=COSTS, seed=0, problem=PROBLEM, device=DEVICE):
    made = simulate("naive", problem, device, costs, seed)
    return Trace(problem, device, "naive", made.spans, "measured", 1, {})


SLOW_WRITES = replace(COSTS, epilogue=1700)


def test_parts_add_up_and_name_what_was_changed():
    before, after = measured(), measured(SLOW_WRITES)
    found = regression([before], [after])
    assert found.makespan.ns == after.makespan - before.makespan > 0
    assert sum(part.ns for part in found.parts.values()) == pytest.approx(found.makespan.ns, abs=1)
    assert max(found.parts, key=lambda name: found.parts[name].ns) == "write"
    assert found.makespan.noise is None and found.makespan.certain


def test_a_tile_that_takes_longer_and_its_sm_are_found():
    before = measured()
    spans = before.spans.copy()
    row = int(spans["done"].argmax())
    for name in ("drain", "ready", "fixup", "done"):
        spans[name][row] += 5000
    found = regression([before], [replace(before, spans=spans)])
    assert list(found.tiles) == [spans["tile"][row]] and list(found.sms) == [spans["sm"][row]]
    assert found.tiles[int(spans["tile"][row])].ns == 5000


def test_what_repeats_differ_by_is_noise():
    repeats = [measured(seed=seed) for seed in range(6)]
    same = regression(repeats[:3], repeats[3:])
    assert not same.makespan.certain and same.makespan.noise > 0
    slower = regression(repeats[:3], [measured(SLOW_WRITES, seed) for seed in range(3)])
    assert slower.makespan.certain


@pytest.mark.parametrize("other", [{"problem": Problem(1024, 2048, 512)}, {"device": Device(5)}])
def test_other_work_or_another_gpu_is_refused(other):
    with pytest.raises(TraceError, match="give runs"):
        regression([measured()], [measured(**other)])


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "before.npz", tmp_path / "after.npz"
    for path, costs in zip(paths, (COSTS, SLOW_WRITES), strict=True):
        measured(costs).save(path)
    return paths


def test_the_command_says_how_much_and_where(files):
    before, after = files
    text = said("compare", before, after)
    assert text == said("compare", after, "--before", before)
    assert text.splitlines()[:2] == [f"Earlier runs: {before}", f"Later runs: {after}"]
    assert "slower than before" in text.splitlines()[3] and "  write " in text
    values = json.loads(said("compare", before, after, "--json"))
    same = regression([measured()], [measured(SLOW_WRITES)]).as_json()
    assert values == json.loads(json.dumps(same)) and values["sms"] and values["makespan"]["share"] > 0


def test_a_run_that_is_too_slow_sets_the_exit_code(files):
    before, after = files
    failed = CliRunner().invoke(main, ["compare", *map(str, files), "--fail-above", "2%"])
    assert (failed.exit_code, type(failed.exception)) == (1, SystemExit) and failed.stdout
    assert "--fail-above allows 2.0%" in failed.stderr
    assert tilesim("compare", before, after, "--fail-above", "200").exit_code == 0
    assert tilesim("compare", after, before, "--fail-above", "2%").exit_code == 0


def test_what_may_be_noise_does_not_set_the_exit_code(files):
    before, after = files
    words = ("compare", before, after, "--before", before, "--fail-above", "1%")
    assert "not different from before" in said(*words)


def test_one_run_alone_has_nothing_to_be_slower_than(files):
    assert "give the earlier run" in said("compare", files[0], "--fail-above", "2%", code=2)
    assert "is not a percentage" in said("compare", *files, "--fail-above", "two", code=2)
