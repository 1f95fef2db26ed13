"""Export: a film or a still as a file that appears under its name only when it is complete."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from manim import tempconfig
from PIL import Image

from tilesim.errors import TilesimError
from tilesim.formats import _atomic
from tilesim_scenes._stage.film import Film, FilmError
from tilesim_scenes._stage.layout import Frame
from tilesim_scenes._stage.picture import Picture
from tilesim_scenes._stage.stage import TraceScene
from tilesim_scenes._stage.words import rasterise

SIZES = {
    "1080p": (1920, 1080),
    "720p": (1280, 720),
    "480p": (854, 480),
    "square": (1080, 1080),
    "vertical": (1080, 1920),
}
FORMATS = ("mp4", "webm", "gif", "mov", "png")
MAX_FPS = {"gif": 50}
"""GIF counts in hundredths of a second, and browsers slow down whatever is faster than this."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Which part of a film to export, and how: frame size in pixels, frames/s, from and to in its seconds."""

    size: str = "1080p"
    fps: int = 30
    start: float = 0.0
    end: float | None = None

    def seconds(self, film: Film, form: str) -> tuple[float, float]:
        """(from, to); raises FilmError where that is no part of the film, or `form` cannot be so fast."""
        end = film.seconds if self.end is None else self.end
        if self.fps > MAX_FPS.get(form, self.fps):
            raise FilmError(
                f"a {form} with {self.fps} frames/s cannot be shown; at most {MAX_FPS[form]} are allowed"
            )
        if not 0 <= self.start < end <= film.seconds:
            part = f"from {self.start:g} s to {end:g} s"
            raise FilmError(f"there is no part of the film {part}; it lasts {film.seconds:g} s")
        return self.start, end

    @property
    def frame(self) -> Frame:
        return Frame(*SIZES[self.size])


def export(
    scene: type[TraceScene],
    film: Film,
    output: str | Path,
    form: str,
    cut: Cut,
    progress: Callable[[float], Any] = lambda share: None,
) -> None:
    """Render `film` as `scene` into the file `output` in the format `form`, one of FORMATS.

    A png is the still at the cut's start, or the end card where it has none. `progress` is told the share
    that is done. Raises TilesimError where the file cannot be written or encoded.
    """
    _atomic.check(output)
    seconds = cut.seconds(film, form)
    if form == "png":
        second = cut.start if cut.start else film.seconds
        return save_still(scene, film, output, cut, second)
    with tempfile.TemporaryDirectory(prefix="tilesim-") as folder:
        try:
            made = _render(
                scene, film, Path(folder), "mp4" if form == "gif" else form, cut, seconds, progress
            )
            if form == "gif":
                made = _gif(made, Path(folder) / "film.gif", cut.fps)
        except (OSError, av.error.FFmpegError) as error:
            raise TilesimError(f"cannot render {output}: {error.strerror or error}") from error
        with open(made, "rb") as source:
            _atomic.write(output, lambda target: shutil.copyfileobj(source, target))
    return None


def save_still(scene: type[TraceScene], film: Film, output: str | Path, cut: Cut, second: float) -> None:
    """Write one frame of the film as PNG; the frame at its end is its poster."""
    picture = still(scene, film, cut.frame, second)
    _atomic.write(output, lambda target: Image.fromarray(picture).save(target, "PNG"))


def still(scene: type[TraceScene], film: Film, frame: Frame, second: float) -> np.ndarray:
    """The film at `second` as pixels: uint8, shape [height, width, 3]."""
    picture = Picture(film, scene.write(film), frame)
    pixels = rasterise(picture.backdrop(), frame, film.theme.background)
    picture.paint(pixels, second)
    return pixels


def _render(
    scene: type[TraceScene],
    film: Film,
    folder: Path,
    form: str,
    cut: Cut,
    seconds: tuple[float, float],
    progress: Callable[[float], Any],
) -> Path:
    """Let Manim render the film into `folder`."""
    width, height = SIZES[cut.size]
    settings = {
        "verbosity": "ERROR",
        "pixel_width": width,
        "pixel_height": height,
        "frame_rate": cut.fps,
        "media_dir": str(folder),
        "format": form,
        "write_to_movie": True,
        "save_last_frame": False,
        "progress_bar": "none",
    }
    with tempconfig(settings):
        act = scene()
        act.film, act.cut, act.progress = film, seconds, progress
        act.render()
        return Path(act.renderer.file_writer.movie_file_path)


def _gif(source: Path, target: Path, fps: int) -> Path:
    """The same film as a GIF of 256 colours, chosen from what changes; only changed rectangles are stored."""
    with av.open(str(source)) as film, av.open(str(target), "w") as out:
        stream = film.streams.video[0]
        graph = av.filter.Graph()
        head = graph.add_buffer(template=stream)
        split, palette = graph.add("split"), graph.add("palettegen", "stats_mode=full")
        apply, tail = graph.add("paletteuse", "dither=none:diff_mode=rectangle"), graph.add("buffersink")
        head.link_to(split)
        split.link_to(palette, 0, 0)
        split.link_to(apply, 1, 0)
        palette.link_to(apply, 0, 1)
        apply.link_to(tail)
        graph.configure()
        for frame in film.decode(video=0):
            graph.push(frame)
        graph.push(None)
        coded = out.add_stream("gif", rate=fps)
        coded.width, coded.height, coded.pix_fmt = stream.width, stream.height, "pal8"
        for number in range(stream.frames):
            frame = graph.pull()
            frame.pts, frame.time_base = number, Fraction(1, fps)
            out.mux(coded.encode(frame))
        out.mux(coded.encode())
    return target
