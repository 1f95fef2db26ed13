"""A simulation beside its run: which traces are shown."""

from dataclasses import replace

import pytest

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.divergence import since_first_multiply
from tilesim_scenes.film.settings import FilmError
from tilesim_scenes.film.traces import traces_for
from tilesim_scenes.sim_vs_silicon import SimVsSilicon

DEFAULT = SimVsSilicon.default
PROBLEM, DEVICE = Problem(1024, 1024, 256), Device.named("h200", sms=8)
COSTS = Costs(k_step=700, launch=165, prologue=300, tile_gap=90, epilogue=800)


def pair(schedule="persistent", problem=PROBLEM, **changes):
    """A run, and one whose costs differ, as if it had been measured."""
    runs = [simulate(schedule, problem, DEVICE, costs) for costs in (COSTS, replace(COSTS, **changes))]
    simulated, measured = map(since_first_multiply, runs)
    return simulated, replace(measured, origin="measured", meta={"gpu": "NVIDIA H200"})


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with both traces, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    for trace in pair("naive", k_step=735):
        trace.save(f"{trace.origin}.npz")
    return tmp_path


def rows(trace):
    return trace.spans.tolist()


def test_the_default_is_a_shipped_trace_beside_its_own_simulation():
    simulated, measured = traces_for(DEFAULT, {})
    assert (simulated.origin, measured.origin) == ("simulated", "measured")
    assert (simulated.schedule, simulated.problem) == (measured.schedule, measured.problem)
    again = simulate(measured.schedule, measured.problem, measured.device)
    assert rows(simulated) == rows(since_first_multiply(again))
    assert simulated.spans["start"].min() == measured.spans["start"].min() == 0


def test_a_measured_trace_is_simulated(here):
    simulated, measured = traces_for(DEFAULT, {"trace": "measured.npz"})
    assert rows(simulated) == rows(since_first_multiply(simulate("naive", PROBLEM, DEVICE)))
    assert rows(measured) == rows(pair("naive", k_step=735)[1])
    (here / "costs.json").write_text('{"k_step": 650.0, "jitter": 0.1}')
    other = traces_for(DEFAULT, {"trace": "measured.npz", "costs": "costs.json", "seed": 3})[0]
    asked = simulate("naive", PROBLEM, DEVICE, Costs(k_step=650.0, jitter=0.1), 3)
    assert rows(other) == rows(since_first_multiply(asked))


def test_a_kernel_that_others_wrote_is_played_again(here):
    replace(pair("naive", k_step=735)[1], schedule="cutlass").save("cutlass.npz")
    simulated, measured = traces_for(DEFAULT, {"trace": "cutlass.npz"})
    assert simulated.schedule == measured.schedule == "cutlass"
    assert simulated.spans["cta"].tolist() == simulate("naive", PROBLEM, DEVICE).spans["cta"].tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_two_traces_are_shown_in_either_order(order, here):
    shown = traces_for(DEFAULT, {"trace": ["simulated.npz", "measured.npz"][::order]})
    assert [rows(trace) for trace in shown] == [
        rows(since_first_multiply(trace)) for trace in pair("naive", k_step=735)
    ]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sms": 4}, "sms cannot be chosen: this film takes it from a measured trace"),
        ({"trace": "measured.npz", "ctas_per_sm": 2}, "ctas-per-sm cannot be chosen"),
        ({"schedule": "naive"}, "schedule cannot be chosen"),
        (
            {"trace": "simulated.npz"},
            "needs a measured trace, alone or with a simulated one; this one is simulated",
        ),
        ({"trace": ["measured.npz"] * 2}, "both are measured"),
        ({"trace": ["simulated.npz"] * 2}, "both are simulated"),
        ({"trace": ["measured.npz"] * 3}, "shows a measured and a simulated trace; 3 were given"),
        ({"trace": ["measured.npz", "simulated.npz"], "seed": 1}, "leave out them or a trace"),
    ],
)
def test_what_it_cannot_show(settings, words, here):
    with pytest.raises(FilmError, match=words):
        traces_for(DEFAULT, settings)


def test_traces_of_different_problems_are_refused_before_anything_is_drawn(here):
    simulate("naive", Problem(512, 512, 64), DEVICE).save("other.npz")
    with pytest.raises(FilmError, match="different problems"):
        traces_for(DEFAULT, {"trace": ["other.npz", "measured.npz"]})
