"""`tilesim export NAME -o FILE.html`: the film's traces and its finding as a page, or one sentence."""

import json
import subprocess
import sys
from functools import partial

import pytest
from command_line import tilesim

pytest.importorskip("manim", reason="the finding is a film's, and films need Manim")

from programs import data_in, measured, race

from tilesim.analysis.divergence import since_first_multiply
from tilesim.cli.packages import load

SMALL = ["--m", "384", "--n", "1536", "--k", "512", "--sms", "4"]

export = partial(tilesim, "export")


def test_a_page_says_what_the_film_finds_and_plays_what_it_shows(tmp_path):
    file = tmp_path / "race.html"
    said = export("race", *SMALL, "-o", file, "--finding", "--fragment", "--theme", "light")
    finding, text = said.stdout.splitlines()[-1], file.read_text("utf-8")
    gap = load("scenes", "film.race_film").heat(tuple(race())).shown_gap
    assert "Persistent" in finding and f"{gap} µs" in finding
    assert f'<p class="sentence">{finding}</p>' in text
    assert "<h1>Which run ends first?</h1>" in text
    assert f'<p class="number">{gap} µs</p>' in text
    assert '<html lang="en" data-theme="light">' in text
    runs = data_in(text)["runs"]
    assert [run["name"] for run in runs] == ["Naive", "Persistent"]
    assert [run["makespan"] for run in runs] == [trace.makespan for trace in race()]
    for part in ('<a href="race.html">', '<tilesim-player src="race.html"', "customElements.define"):
        assert part in said.stdout, "a fragment is a component around a link"


def test_a_page_speaks_the_language_that_was_asked_for(tmp_path):
    export("race", *SMALL, "--lang", "pt", "-o", tmp_path / "race.html")
    text = (tmp_path / "race.html").read_text("utf-8")
    assert '<html lang="pt">' in text
    assert data_in(text)["words"]["Play"] == "Reproduzir"


def test_a_file_of_a_trace_is_a_page(tmp_path):
    race()[0].save(tmp_path / "run.npz")
    said = export(tmp_path / "run.npz", "--format", "html", "-o", tmp_path / "page", "--at", "20us", "--json")
    page = (tmp_path / "page").read_text("utf-8")
    assert data_in(page)["at"] == 20_000
    assert json.loads(said.stdout)["finding"][0] in page


def test_traces_become_a_page_without_manim(tmp_path):
    race()[0].save(tmp_path / "run.npz")
    code = "import sys; sys.modules['manim'] = None; from tilesim.__main__ import main; main()"
    command = [sys.executable, "-c", code, "export", "run.npz", "-o", "page.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "page.html").read_text("utf-8")


def test_a_simulation_beside_its_measured_run_has_a_lag(tmp_path):
    simulated = race()[1]
    for name, trace in {"sim": simulated, "silicon": measured(simulated)}.items():
        trace.save(tmp_path / f"{name}.npz")
    given = ["--trace", tmp_path / "sim.npz", "--trace", tmp_path / "silicon.npz"]
    export("sim-vs-silicon", *given, "-o", tmp_path / "a.html")
    data = data_in((tmp_path / "a.html").read_text("utf-8"))
    pair = [since_first_multiply(trace).makespan for trace in (simulated, measured(simulated))]
    assert data["lag"]["lags"][-1] == pair[1] - pair[0]
