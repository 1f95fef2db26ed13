"""Watching: play a film without drawing it, and note what stands on screen whenever a play has ended."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from manim import Mobject, Text, VMobject, config, tempconfig
from stillness import Pictures, running, stretches

from tilesim_scenes.look.text import POINTS_PER_UNIT, px
from tilesim_scenes.mobjects.words.count import Clock

ASPECTS = {"wide": (1920, 1080), "square": (1080, 1080), "tall": (1080, 1920)}
SEEN = 0.1
"""Opacity above which a text counts as being on screen."""


@dataclass(frozen=True)
class Word:
    """A text on screen: what it says, its em in pixels, and its left, right, bottom and top in the frame.

    Shares of the frame's width and height, from its lower left corner.
    """

    text: str
    size: float
    box: tuple[float, float, float, float]
    z: float


@dataclass
class Seen:
    """A film as it was played: what stood there at the end of each play, and at which second.

    `still`: from and to which seconds nothing moves, where that was looked at. `running`: from which second
    on, and with which text, figures run that a badge calls measured or counted. `lines`: how many each
    caption takes, where the frame is wide.
    """

    scene: Any
    moments: list[tuple[float, list[Word]]] = field(default_factory=list)
    still: list[tuple[float, float]] = field(default_factory=list)
    running: list[tuple[float, str]] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)


@contextmanager
def frame(width: int, height: int, **more: Any) -> Iterator[None]:
    """Manim's settings for a dry run in a frame of that size."""
    units = {"frame_height": 8.0, "frame_width": 8.0 * width / height}
    quiet = {"dry_run": True, "progress_bar": "none", "disable_caching": True, "verbosity": "ERROR"}
    with tempconfig({"pixel_width": width, "pixel_height": height, "frame_rate": 12} | units | quiet | more):
        yield


def watch(film: type, aspect: str, settings: Mapping[str, Any] = {}, moving: bool = False) -> Seen:
    """Play `film` to its end in a frame of that shape, and look whether it moves where `moving` is set."""
    with frame(*ASPECTS[aspect]):
        scene = film(skip_animations=True)
        scene.settings = dict(settings)
        seen, play = Seen(scene), scene.play
        pictures = Pictures(scene) if moving else None

        def watched(*args: Any, **kwargs: Any) -> None:
            play(*args, **kwargs)
            if pictures is not None:
                pictures.rest()
            seen.moments.append((scene.now, list(words_of(scene))))
            if aspect == "wide" and (caption := getattr(scene, "_caption", None)):
                # Its ground is none of its lines.
                seen.lines[caption.text] = len(caption) - 1

        scene.play = watched
        scene.render()
        if pictures is not None:
            seen.still = stretches(pictures.of, scene.now)
            seen.running = [run for said in pictures.figures.values() for run in running(said)]
        return seen


def visible(mobject: VMobject) -> bool:
    """Whether a mobject's own points show something."""
    return bool(len(mobject.points)) and bool(np.ptp(mobject.points, axis=0).any())


def words_of(scene: Any) -> Iterator[Word]:
    view = scene.camera.frame
    centre, size = view.get_center()[:2], np.array([view.width, view.height])
    zoom = config.frame_width / view.width
    shown = {id(one): one for mobject in scene.mobjects for one in _texts(mobject)}
    for text in shown.values():
        drawn = [one for one in text.get_family() if len(one.points)]
        if max((one.fill_rgbas[:, 3].max() for one in drawn), default=0.0) <= SEEN:
            continue
        ends = np.concatenate([one.points[side::4, :2] for one in drawn for side in (0, 3)])
        (left, bottom), (right, top) = ((edge - centre) / size + 0.5 for edge in (ends.min(0), ends.max(0)))
        if right <= 0 or left >= 1 or top <= 0 or bottom >= 1:
            continue
        said = text.text if isinstance(text, Clock) else text.original_text
        yield Word(said, _em(text) * zoom / px(1), (left, right, bottom, top), text.z_index)


def _texts(mobject: Mobject) -> Iterator[Mobject]:
    """The texts in a mobject, its letters not counted."""
    if isinstance(mobject, Text | Clock):
        yield mobject
    else:
        for part in mobject.submobjects:
            yield from _texts(part)


def _em(text: Mobject) -> float:
    """Its em in units, however it was scaled."""
    if isinstance(text, Clock):
        origin, _, up, _ = text.submobjects[0].points
        return float(np.linalg.norm(up - origin))
    return float(text.font_size) / POINTS_PER_UNIT
