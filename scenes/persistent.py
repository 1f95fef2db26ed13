"""Persistent: what changes when thread blocks stay on their SMs and loop over tiles?"""

from tilesim import Device, Problem
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.traces import Default

FILM = {
    "title": "Persistent",
    "question": "What if thread blocks stayed?",
    "part": "Schedules",
    "place": 140,
    "seconds": 38,
    "shows": "Thread blocks that stay and loop over tiles: which SM computes which tile, its longest pause, "
    "and what the time goes to.",
    "takes": "traces",
}


class Persistent(RunFilm):
    """18 tiles on 4 SMs with the H200's costs, unless asked otherwise."""

    default = Default(("persistent",), Problem(384, 1536, 512), Device.named("h200", sms=4), any_work=True)
