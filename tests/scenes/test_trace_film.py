"""`Trace.film`: the command line's film of a trace, made from Python."""

import json
import subprocess

import av
import pytest
from click.testing import CliRunner

from tilesim import Costs, Device, Problem, plan, simulate
from tilesim.cli import main
from tilesim.errors import TilesimError

SMALL = simulate("persistent", Problem(384, 1536, 512), Device(4))


def test_a_film_is_written_and_its_path_returned(tmp_path):
    made = SMALL.film(tmp_path / "x.mp4", size="480p", fps=5, from_=2, to=2.4)
    assert made == tmp_path / "x.mp4" and [made] == list(tmp_path.iterdir())
    with av.open(str(made)) as container:
        assert len(list(container.decode(video=0))) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seconds": 2}, "the film lasts 2.0 s; it must last from"),
        ({"scene": "nave"}, "there is no scene 'nave'; did you mean 'naive'?"),
        ({"m": 4096}, "m belongs to a simulation and cannot change a trace"),
    ],
)
def test_what_export_refuses_is_raised_in_its_words(options, words, tmp_path):
    with pytest.raises(TilesimError) as raised:
        SMALL.film(tmp_path / "x.mp4", **options)
    assert words in str(raised.value) and not str(raised.value).startswith("error")
    assert not list(tmp_path.iterdir())


def test_a_schedule_in_a_file_is_filmed_under_its_functions_name(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from tilesim import plan\ndef snake(problem, device): return plan('naive', problem, device)\n"
    )
    words = [
        "--schedule",
        "persistent",
        "--schedule",
        f"{tmp_path}/mine.py:snake",
        "--size",
        "480p",
        "--json",
    ]
    result = CliRunner().invoke(main, ["export", "race", *words, "-o", f"{tmp_path}/race.png"])
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)["traces"]
    assert [trace["schedule"] for trace in shown] == ["persistent", "snake"]
    assert (tmp_path / "race.png").stat().st_size > 1000


@pytest.fixture
def asked(monkeypatch):
    """The commands that would be run; each succeeds."""
    commands = []

    def run(command, **_):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    return commands


@pytest.mark.parametrize(
    ("schedule", "scene"),
    [
        ("naive", "naive"),
        ("persistent", "persistent"),
        ("persistent-dynamic", "persistent"),
        ("stream-k:3", "persistent"),
        (lambda problem, device: plan("naive", problem, device), "naive"),
    ],
)
def test_the_scene_is_the_one_that_shows_such_a_plan(schedule, scene, asked, tmp_path):
    simulate(schedule, Problem(384, 1536, 512), Device(4), Costs()).film(tmp_path / "x.mp4")
    assert asked[0][3:5] == ["export", scene]


def test_a_process_that_dies_is_a_sentence_too(monkeypatch, tmp_path):
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, -9, "", "")
    )
    with pytest.raises(TilesimError, match="the film failed with exit code -9"):
        SMALL.film(tmp_path / "x.mp4")
