"""`%%manim` in a notebook: cells with our mobjects and with films, one after the other."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("IPython", reason="a notebook needs IPython")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from manim import config
from manim.utils.ipython_magic import ManimMagic

SMALL = "-v ERROR --progress_bar none -r 160,90 --fps 5"
MOBJECTS = """
class Cell(Scene):
    def construct(self):
        grid, lanes = TileGrid(trace, width=5), Lanes(trace, width=5, lane_height=0.4)
        self.add(VGroup(grid, lanes).arrange(DOWN))
        self.next_section("runs")
        self.play(PlayTrace(grid, lanes, until=trace.makespan, run_time=0.6))
"""
FILM = """
class Told(Film):
    default = Default(("naive",), Problem(256, 768, 512), Device.named("h200", sms=4))
    settings = {"theme": "light", "lang": "pt", "seconds": 3.0}
    def construct(self):
        lanes = Lanes(self.traces[0]).scale_to_fit_width(0.8 * self.area.width).move_to(self.area.center)
        self.add(lanes)
        self.say(tr("launch"))
        self.play(PlayTrace(lanes, until=self.traces[0].makespan))
"""
IMPORTS = """
from manim import *
from tilesim import Device, Problem, simulate
from tilesim_scenes import Film, Lanes, PlayTrace, TileGrid
from tilesim_scenes.film.traces import Default
from tilesim_scenes.look.language import tr
trace = simulate("naive", Problem(256, 768, 512), Device.named("h200", sms=4))
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "media_dir", "media")
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    # As Manim does where it is imported in a notebook.
    shell.register_magics(ManimMagic)
    shell.run_cell(IMPORTS).raise_error()
    yield shell
    InteractiveShell.clear_instance()


def shown(shell: InteractiveShell, cell: str, options: str = SMALL) -> list[Any]:
    """What a cell displays."""
    name = cell.split("(")[0].split()[-1]
    with capture_output() as captured:
        shell.run_cell(f"%%manim {options} {name}\n{cell}").raise_error()
    return [one for output in captured.outputs for one in output.data]


def test_cells_follow_each_other_and_leave_the_settings_alone(shell: Any) -> None:
    before = dict(config)
    for cell in (MOBJECTS, FILM, MOBJECTS, FILM):
        assert "text/html" in shown(shell, cell)
        assert dict(config) == before
    assert len(list(Path("media/jupyter").glob("*.mp4"))) >= 2


def test_a_still_is_a_picture(shell: Any) -> None:
    assert "image/png" in shown(shell, FILM, f"{SMALL} -s")
