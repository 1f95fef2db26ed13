"""Simulation against silicon: all test runs are counted, and runs that say something else are refused."""

import numpy as np
import pytest

from tilesim.analysis.compare import compare
from tilesim.analysis.loop_terms import TERMS
from tilesim.costs import Costs
from tilesim.engine.simulate import replay
from tilesim_scenes import sim_vs_silicon
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.predictions import held_out, step_terms
from tilesim_scenes.sim_vs_silicon import SHOWN, SimVsSilicon


def made(**given):
    """The film, before it is played."""
    scene = SimVsSilicon(skip_animations=True)
    scene.settings = given
    scene.setup()
    return scene


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (lambda one: one._replace(predicted=1.1 * one.predicted) if one.file == SHOWN else one, "lucky"),
        (lambda one: one._replace(fitted=True) if one.file == SHOWN else one, "was fitted"),
        (lambda one: one._replace(mhz=1640), "clocks vary"),
        (lambda one: one._replace(cycles=one.error), "clock explains"),
    ],
)
def test_runs_that_say_something_else_are_refused(change, claim, monkeypatch):
    monkeypatch.setattr(sim_vs_silicon, "held_out", lambda: tuple(map(change, held_out())))
    with pytest.raises(SystemExit, match=claim):
        made()


def test_no_test_run_is_left_out_and_errors_are_those_of_compare():
    found = held_out()
    assert len(found) == 106 and not any(one.fitted for one in found)
    for one in (found[0], max(found, key=lambda one: abs(one.error))):
        measured = shipped(f"held_out/{one.file}")
        compared = compare(replay(measured), measured)
        assert one.error == pytest.approx(compared.run.error)
        assert one.cycles == pytest.approx(compared.run_cycles.error)


def test_printed_parts_add_up_to_the_prediction():
    film = made()
    assert film.all_steps + film.added == pytest.approx(film.ends[0])
    assert film.all_steps == pytest.approx(film.tiles * film.steps * film.step, abs=0.05)
    assert film.near + sum(abs(one.error) > 0.05 for one in film.found) == len(film.found)


def test_a_step_takes_at_least_its_largest_term():
    measured = shipped(f"held_out/{SHOWN}")
    simulated = replay(measured)
    terms = step_terms(simulated, Costs(**simulated.meta["costs"]))
    loops = np.median(simulated.spans["drain"] - simulated.spans["start"])
    assert tuple(terms) == TERMS
    assert max(terms.values()) * measured.problem.k_steps == pytest.approx(loops, rel=0.05)


def test_a_run_of_one_s_own_leads_to_the_neutral_film():
    measured = shipped(f"held_out/{SHOWN}")
    assert isinstance(made(trace=[measured]), RaceFilm)
