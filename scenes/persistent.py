"""Persistent: what changes when thread blocks stay on their SMs and loop over tiles?"""

from tilesim import Device, Problem
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.traces import Default


class Persistent(RunFilm):
    """18 tiles on 4 SMs with the H200's costs, unless asked otherwise."""

    default = Default(("persistent",), Problem(384, 1536, 512), Device.named("h200", sms=4), any_work=True)
