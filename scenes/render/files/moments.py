"""Moments: one instant of a scene, as a picture or as vectors."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from manim import Scene
from PIL import Image

from tilesim.errors import TilesimError
from tilesim.storage import files, scratch
from tilesim_scenes.film.settings import NO_FILM
from tilesim_scenes.render.files.vectors import SURFACES, draw
from tilesim_scenes.render.running import ENDLESS, RenderRequest, ran
from tilesim_scenes.render.segments import SegmentRenderer
from tilesim_scenes.render.take import Part, Take


class MomentError(TilesimError):
    """A second that a scene does not have."""


class MomentRenderer(SegmentRenderer):
    """Walks to one frame, and hands itself to `catch` once that is drawn."""

    def __init__(
        self, catch: Callable[["MomentRenderer"], object], take: Take, late: float, **kwargs: Any
    ) -> None:
        super().__init__(take, **kwargs)
        self.catch, self.late = catch, late

    def hand_on(self, repeat: int) -> None:
        self.catch(self)


def save(request: RenderRequest, at: tuple[float, str] | None, output: Path) -> None:
    """Write the scene at an instant, (value, unit), or its end, to `output`.

    Without a unit the instant is a second of the scene, else ns of the trace that a film of ours shows.
    What is written is a picture, or vectors where its format is of vectors. Raises MomentError where
    the scene has no such instant.
    """
    files.check(output)
    if at is None and "next" in getattr(request.scene, "asked", ()):
        # The end card in full, before the next film's title takes a place on it.
        request = replace(request, settings={"next": NO_FILM} | dict(request.settings))
    caught: list[Any] = []
    catch = partial(_catch, request.format.form, caught)
    with scratch.folder() as folder:
        if at is None:
            ran(request, folder, partial(SegmentRenderer, _nothing()), at_end=catch)
        else:
            value, unit = at
            fps = request.format.fps
            number, late = _frame(request, folder, value) if unit else (round(value * fps), 0.0)
            take = Take(Part(number, number + 1, 1), lambda segment: None)
            scene = ran(request, folder, partial(MomentRenderer, catch, take, late))
            if not caught:
                last = scene.renderer.frames / fps
                raise MomentError(f"there is no second {number / fps:g} of the film; it has 0 to {last:g}")
    files.write(output, caught[0])


def played(request: RenderRequest, folder: Path) -> Scene:
    """The scene once it has been played without a frame drawn: what it says, and of which traces."""
    return ran(request, folder, partial(SegmentRenderer, _nothing()))


def _nothing() -> Take:
    """Draws no frame."""
    return Take(Part(ENDLESS, ENDLESS, 1), lambda segment: None)


def _frame(request: RenderRequest, folder: Path, ns: float) -> tuple[int, float]:
    """(the last frame of a film that begins before its clock shows an instant of its trace, s until then)."""
    runs = getattr(played(request, folder), "runs", ())
    if not runs:
        raise MomentError("this film shows no trace; say the second of the film, such as 6.5")
    for run in reversed(runs):
        if run.since <= ns <= run.until and run.since < run.until:
            fps, share = request.format.fps, (ns - run.since) / (run.until - run.since)
            first, end = round(run.start * fps), round(run.end * fps)
            exact = first + share * (end - first)
            number = max(first, min(int(exact), end - 1))
            return number, (exact - number) / fps
    last = max(run.until for run in runs) / 1000
    raise MomentError(f"there is no instant {ns / 1000:g}us of the trace; the film shows 0us to {last:g}us")


def _catch(form: str, caught: list[Any], renderer: SegmentRenderer) -> None:
    """Keep what writes the frame that a renderer has drawn."""
    if form not in SURFACES:
        picture = Image.fromarray(renderer.camera.pixel_array.copy())
        if np.asarray(picture)[..., 3].min() == 255:
            picture = picture.convert("RGB")
        caught.append(lambda target: picture.save(target, "PNG"))
    else:
        drawn = draw(renderer.scene, renderer.camera, form)
        caught.append(lambda target: target.write(drawn))
