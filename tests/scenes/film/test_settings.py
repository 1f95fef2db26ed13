"""What a film is made of: settings from the command line or a file, and what is wrong with them."""

import pytest

from tilesim import Costs, Device, Problem, simulate
from tilesim_scenes.film.settings import TRACES
from tilesim_scenes.film.traces import ENVIRONMENT, Default, from_environment, traces_for
from tilesim_scenes.naive import Naive
from tilesim_scenes.race import Race

NAIVE, RACE = Naive.default, Race.default
CLASSROOM = {"device": "h200", "sms": 4, "m": 384, "n": 1536, "k": 512}


def made(default, settings):
    """The traces of a film that is asked for these settings."""
    Naive.checked(settings)
    return traces_for(default, settings)


def same(one, other):
    return one.spans.tobytes() == other.spans.tobytes() and one.problem == other.problem


def test_defaults():
    (alone,) = made(NAIVE, {})
    assert same(alone, simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4)))
    assert [trace.origin for trace in made(RACE, {})] == ["measured"] * 2
    assert all(trace.device.sms == 132 and trace.problem.k == 512 for trace in made(RACE, {}))


def test_any_setting_of_a_simulation_replaces_the_measurement():
    traces = made(RACE, {"k": 1024})
    assert [trace.origin for trace in traces] == ["simulated"] * 2
    assert traces[0].problem == Problem(4096, 4096, 1024)
    two = made(RACE, {"schedule": ["persistent", "persistent-dynamic"]})
    assert two[1].schedule == "persistent-dynamic"
    assert made(NAIVE, {"sms": 7})[0].device == Device.named("h200", sms=7)
    assert made(NAIVE, {"busy_sms": 1})[0].device == Device.named("h200", sms=4, busy_sms=1)
    assert made(NAIVE, {"tile": "64x64x32"})[0].problem.tile == (64, 64, 32)


def test_sms_alone_are_of_the_film_s_own_device(tmp_path, monkeypatch):
    own = Default(("naive",), Problem(384, 1536, 512, dtype="fp16"), Device.named("a100"))
    (tmp_path / "f.toml").write_text("sms = 4\n")
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "f.toml"))
    for settings in ({"sms": 4}, from_environment()):
        (trace,) = made(own, settings)
        assert trace.device == Device.named("a100", sms=4)
        assert trace.meta["costs"]["scaled_to"] == "a100"


def test_a_file_holds_settings_and_paths_beside_it(tmp_path, monkeypatch):
    (tmp_path / "films").mkdir()
    costs = Costs(k_step=321.0)
    trace = simulate("naive", Problem(384, 512, 64), Device(2), costs)
    trace.save(tmp_path / "films" / "a.npz")
    (tmp_path / "films" / "f.toml").write_text('trace = "a.npz"\nseconds = 9\ntheme = "light"\n')
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "films" / "f.toml"))
    read = from_environment()
    assert same(made(NAIVE, read)[0], trace) and read["seconds"] == 9 and read["theme"] == "light"
    monkeypatch.delenv(ENVIRONMENT)
    assert same(made(NAIVE, from_environment())[0], made(NAIVE, {})[0])


def test_the_classroom_that_ships_is_the_one_of_make_demo(monkeypatch):
    from importlib.resources import files

    monkeypatch.setenv(ENVIRONMENT, str(files("tilesim_scenes").joinpath("classroom.toml")))
    shipped, asked = made(RACE, from_environment()), made(RACE, CLASSROOM)
    assert all(same(one, other) for one, other in zip(shipped, asked, strict=True))
    assert [trace.origin for trace in shipped] == ["simulated"] * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("smz = 4", "did you mean 'sms'?"),
        ('theme = "drak"', "did you mean 'dark'?"),
        ('seconds = "9"', "must be a number"),
        ("seconds = true", "must be a number"),
        ("trace = [1]", "trace is [1]; it must be a file's name"),
        ("schedule = 5", "schedule is 5; it must be a name"),
        ("theme = []", "theme is []"),
        ('tile = "²x1x1"', "three sizes such as 128x256x64"),
        (f"seed = {'9' * 5000}", "this is not a TOML file"),
        (f"trace = {'[' * 3000}{']' * 3000}", "this is not a TOML file"),
        ('costs = "a\\u0000"', "costs is 'a\\x00'; it must be a file's name"),
        ("m = 999999\nn = 999999", "a film is made of at most"),
        ("seconds = nan", "must last from 3 to 600 s"),
        ("seconds = 2.9", "must last from 3 to 600 s"),
        ('tile = "128x256"', ""),
        ('tile = "axbxc"', "three sizes such as 128x256x64"),
        ("sms = 4.5", "4.5"),
        ('trace = "none.npz"', "none.npz"),
        ('trace = ["a.npz", "b.npz"]', "this film shows 1 trace; 2 were given"),
        ('trace = "a.npz"\nm = 64', "a trace in .npz says everything; leave out m"),
        ('trace = "a.npz"\nseed = 64', "leave out one of the two"),
        ('tile_from = "cta"', "tile-from is of a file that holds a trace"),
        ('trace = "a.npz"\nmap = ["sm=core"]', "map is ['sm=core']; it must be a table of texts"),
        ('device = "h20"', "did you mean 'h200'?"),
        ("m = 0", "m is 0"),
        ("= 4", "this is not a TOML file"),
        ("\udcff\udcfe\0", "this is not a TOML file"),
    ],
)
def test_a_wrong_file_is_a_sentence(text, words, tmp_path, monkeypatch):
    (tmp_path / "f.toml").write_text(text, "utf-8", "surrogateescape")
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "f.toml"))
    with pytest.raises(ValueError) as caught:
        made(NAIVE, from_environment())
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_every_setting_is_an_option_of_export():
    from tilesim.cli import main

    options = {name for option in main.get_command(None, "export").params for name in (option.name,)}
    assert set(TRACES) - {"opening", "work"} | {"no_opening", "no_work"} <= options
