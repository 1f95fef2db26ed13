"""Run: where does the time of a run go, of your own kernel's too?"""

from tilesim import Device, Problem
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.traces import Default

FILM = {
    "title": "Your own kernel",
    "question": "Where does the time go?",
    "finding": "Running 165 tiles on 132 SMs takes 84.0 µs, and this is where the time goes.",
    "part": "Models",
    "place": 270,
    "seconds": 38,
    "shows": "Any run of any kernel: its longest pause, and what the time of all SMs goes to.",
    "takes": "traces",
    "gallery": [
        {
            "output": "own-kernel.mp4",
            "poster": "own-kernel.png",
            "size": "720p",
            "trace": "../tests/own_kernel.csv",
        },
    ],
}


class RunOfAnything(RunFilm):
    """A run of Split-K on an H200, unless given another trace."""

    default = Default(
        ("split-k:2",),
        Problem(1408, 3840, 4096, order="grouped:8"),
        Device.named("h200"),
        shipped=("traces/h200-split-k2-1408x3840x4096-grouped8.npz",),
        any_work=True,
    )
