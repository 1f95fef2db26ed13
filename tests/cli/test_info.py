"""`tilesim info`: what a file is, whatever it is called."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from command_line import said

import tilesim
from tilesim import Device, Problem, Trace, simulate
from tilesim.cli.packages import declared, scene_class
from tilesim.declared import course
from tilesim.formats import save

DATA = Path(tilesim.__file__).parent / "data"
RUN = simulate("split-k:2", Problem(512, 512, 256), Device.named("h200", 4), seed=3)

run = partial(said, "info")


@pytest.mark.parametrize("form", ["npz", "json", "perfetto"])
def test_a_trace_of_any_format(form, tmp_path):
    path = tmp_path / "renamed"
    save(RUN, path, form)
    said = run(path)
    assert said.startswith(f"{path}: trace\nsplit-k:2 on NVIDIA H200 (4 SMs), simulated\n")
    assert f"makespan     {RUN.makespan / 1000:.3f} µs" in said and "seed         3" in said
    again = {"file": str(path), "kind": "trace"} | json.loads(json.dumps(RUN.summary()))
    assert json.loads(run(path, "--json")) == again


def test_a_recorded_trace_says_where_and_when():
    path = next((DATA / "traces").glob("*.npz"))
    meta, said = Trace.load(path).meta, run(path)
    assert f"gpu          {meta['gpu']}\n" in said and f"date         {meta['date']}\n" in said
    assert f"kernel       {meta['kernel']}\n" in said


def test_costs(tmp_path):
    path = tmp_path / "costs"
    path.write_text(json.dumps({"k_step": 700.5, "launch": 168}))
    lines = [line.split() for line in run(path).splitlines()]
    assert lines == [[f"{path}:", "costs"], ["k_step", "700.5"], ["launch", "168"]]
    assert json.loads(run(path, "--json"))["costs"] == {"k_step": 700.5, "launch": 168}


def shipped(kind):
    path = DATA / kind / "h200.json"
    return path, json.loads(path.read_text())


def test_calibrations():
    path, entries = shipped("costs")
    title, *lines = run(path).splitlines()
    assert title == f"{path}: costs of {len(entries)} kernels" and len(lines) == 2 * len(entries)
    prologue = entries[0]["costs"]["prologue"] / 1000
    assert "bf16, tile 128x256x64, 1 per SM" in lines[0] and f"prologue {prologue:.3f} µs" in lines[1]
    assert json.loads(run(path, "--json"))["calibrations"] == entries


@pytest.mark.parametrize(("kind", "title"), [("ladder", "ladder"), ("tuned", "tuned table")])
def test_what_a_bench_measured(kind, title):
    path, values = shipped(kind)
    first, about, *lines = run(path).splitlines()
    assert first == f"{path}: {title}" and about.startswith("gpu NVIDIA H200, ")
    assert len(lines) >= 1 + len(values["rows"])
    assert json.loads(run(path, "--json"))["rows"] == values["rows"]


@pytest.mark.parametrize(
    ("text", "words"),
    {
        "nothing": ("", "the file is empty"),
        "another object": ('{"a": 1}', "this is not a trace, costs, a ladder, a"),
        "half a file": ('{"k_step": 1', "this is not JSON"),
        "a cost that is none": ('{"k_step": -1}', "k_step is -1"),
        "costs of no tile": ('[{"costs": {}, "schedule": "naive"}]', "a calibration lacks dtype, tile"),
        "a ladder without rows": ('{"peak_tflops": {}, "rows": [], "machine": {}}', "the file lacks method"),
        "a row without its kernel": (
            '{"machine": {}, "rows": [{"layout": "nn", "us": 1}]}', "missing or invalid: \"'kernel'\""
        ),
        "a time that is a word": (
            '{"machine": {}, "rows": [{"layout": "nn", "us": "x", "m": 1, "n": 1, "k": 1, "dtype": "bf16",'
            ' "kernel": "skinny", "tile": [1], "cublas_us": 2}]}', "a field is missing or invalid"
        ),
        "a trace that is none": ('{"spans": [{"tile": 0}]}', "there is no sm and no start and no end"),
    }.values(),
)  # fmt: skip
def test_what_is_none_of_these_is_one_sentence(text, words, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(text)
    said = run(path, code=1)
    assert words in said and str(path) in said


@pytest.mark.parametrize("name", ["stream-k", "memory_hierarchy"])
def test_a_film_by_its_name(name):
    film = declared()[name.replace("_", "-")]
    said = run(name)
    assert said.startswith(f"{name.replace('_', '-')}: film of {film.seconds} s\n")
    assert all(words in said for words in (film.question, film.finding, film.part, film.shows))
    assert {option.replace("_", "-") for option in film.taken} == set(
        re.findall(r"^    --([\w-]+)", said, re.M)
    )
    values = json.loads(run(name, "--json"))
    assert values["question"] == film.question and set(values["options"]) == set(film.taken)


def test_the_course_is_its_films():
    lines, films = run("course").splitlines(), course(declared())
    assert lines[0].startswith(f"course: {len(films)} films, about ")
    assert [line.split()[0] for line in lines if line.startswith("    ")] == list(films)
    assert json.loads(run("course", "--json"))["course"] == {name: declared()[name].seconds for name in films}


def test_an_option_of_a_film_has_its_default():
    pytest.importorskip("manim")
    race = scene_class("race").default
    assert re.search(rf"--k SIZE .*  \[{race.problem.k}\]$", run("race"), re.M)
    assert json.loads(run("race", "--json"))["options"]["k"] == race.problem.k
    assert f"[{', '.join(race.schedules)}]" in run("race")


def test_a_file_called_like_a_film_is_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(RUN, "race", "npz")
    assert run("race").startswith("race: trace\n")
