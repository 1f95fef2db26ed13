"""Naive: which thread block computes which tile, and what does each change of blocks cost?"""

from tilesim import Device, Problem
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.traces import Default

FILM = {
    "title": "Naive",
    "question": "Who computes which tile?",
    "part": "Schedules",
    "place": 130,
    "seconds": 38,
    "shows": "One thread block for each tile: which SM computes which tile, its longest pause, and what the "
    "time goes to.",
    "takes": "traces",
}


class Naive(RunFilm):
    """18 tiles on 4 SMs with the H200's costs, unless asked otherwise."""

    default = Default(("naive",), Problem(384, 1536, 512), Device.named("h200", sms=4), any_work=True)
