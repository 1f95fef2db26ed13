"""Moments: one instant of a scene, as a picture or as vectors."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from tilesim.errors import TilesimError
from tilesim.storage import files, scratch
from tilesim_scenes.film.settings import NO_FILM
from tilesim_scenes.render.files.vectors import SURFACES, draw
from tilesim_scenes.render.running import RenderRequest, played, ran
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
    caught: list[bytes] = []

    def catch(renderer: SegmentRenderer) -> None:
        caught.append(_shown(renderer, request.format.form))

    with scratch.folder() as folder:
        if at is None:
            played(request, folder, catch)
        else:
            value, unit = at
            fps = request.format.fps
            number, late = _frame(request, folder, value) if unit else (round(value * fps), 0.0)
            take = Take(Part(number, number + 1, 1), lambda segment: None)
            scene = ran(request, folder, partial(MomentRenderer, catch, take, late))
            if not caught:
                last = scene.renderer.frames / fps
                raise MomentError(f"there is no second {number / fps:g} of the film; it has 0 to {last:g}")
    files.write(output, lambda target: target.write(caught[0]))


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


def _shown(renderer: SegmentRenderer, form: str) -> bytes:
    """The frame that a renderer has drawn, as a file."""
    if form in SURFACES:
        return draw(renderer.scene, renderer.camera, form)
    pixels, file = renderer.camera.pixel_array, BytesIO()
    Image.fromarray(pixels[..., :3] if pixels[..., 3].min() == 255 else pixels).save(file, "PNG")
    return file.getvalue()
