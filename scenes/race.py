"""Race: which kernel for the same product is done first, and where does the difference come from?"""

from tilesim import Device, Problem
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import Default

FILM = {
    "title": "Race",
    "question": "Which run ends first?",
    "part": "Schedules",
    "place": 150,
    "seconds": 34,
    "shows": "Two to four runs of one problem on one clock: which ends first, and what the difference is "
    "made of.",
    "takes": "traces",
    "gallery": [
        {"output": "race.gif", "size": "480p", "fps": 15, "from": 1.7, "to": 32},
        {"output": "race.mp4", "poster": "race.png"},
    ],
}


class Race(RaceFilm):
    """Naive against persistent, as measured on an H200, unless asked otherwise."""

    default = Default(
        ("naive", "persistent"),
        Problem(4096, 4096, 512),
        Device.named("h200"),
        shipped=tuple(f"traces/h200-{name}-4096x4096x512-grouped8.npz" for name in ("naive", "persistent")),
        most=4,
        any_work=True,
    )
