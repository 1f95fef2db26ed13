"""Talk: a film as slides that stop at its captions, in a page made with reveal.js or for PowerPoint."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import closing, redirect_stderr
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import av
from av.video.frame import PictureType

from tilesim.errors import TilesimError
from tilesim.player import deck
from tilesim.storage import files, scratch
from tilesim.text import plural
from tilesim_scenes.look.language import SOURCE
from tilesim_scenes.render.export import Exported, put
from tilesim_scenes.render.export import export as export_film
from tilesim_scenes.render.files.formats import CODECS, SegmentEncoder
from tilesim_scenes.render.files.joining import Extras
from tilesim_scenes.render.running import RenderRequest

LONGER_SIDE = 1280
"""Pixels, 96 to the inch, of a slide, whatever its film has; PowerPoint takes 56 inches at most."""
Writer = Callable[[Sequence[Path], Sequence[str], tuple[int, int], Path], None]
"""Writes films (MP4), a note to each, and slides of so many pixels, into a file."""


def export(
    request: RenderRequest,
    output: Path,
    jobs: int = 1,
    progress: Callable[[int], object] = lambda frames: None,
    workers: Executor | None = None,
) -> Exported:
    """Write slides of `request`, without sound, to `output`: a .pptx, else a page; else as `export.export`.

    Raises TilesimError, before anything is drawn, where what makes a .pptx is not installed.
    """
    files.check(output)
    write = writer() if output.suffix.lower() == ".pptx" else None
    form = request.format
    with scratch.folder() as folder:
        film = folder / "film.mp4"
        made = export_film(request, film, jobs, progress, workers)
        frames = round(made.seconds * form.fps)
        shown = slides(made.extras, frames, form.fps, made.figures.get("finding", ()))
        pieces, notes = cut(film, shown, form.rate, folder), [slide.note for slide in shown]
        if write:
            write(pieces, notes, form.size, folder / "talk.pptx")
            put(folder / "talk.pptx", output)
        else:
            title = next((chapter.title for chapter in made.extras.chapters), request.scene.__name__)
            look = {"theme": "dark", "lang": SOURCE} | dict(request.settings)
            each = [deck.Slide(path.read_bytes(), note) for path, note in zip(pieces, notes, strict=True)]
            page = deck.deck(each, form.size, title, theme=look["theme"], lang=look["lang"]).encode()
            files.write(output, lambda target: target.write(page))
    return replace(made, look=plural(len(shown), "slide"))


class Slide(NamedTuple):
    """The frames of a film from `first` on and before `end`, and the speaker's note to them."""

    first: int
    end: int
    note: str


def slides(extras: Extras, frames: int, fps: int, finding: Sequence[str] = ()) -> list[Slide]:
    """The slides of a film of so many frames, from pause to pause; the last note is the finding."""
    inside = {round(pause * fps) for pause in extras.pauses} - {0, frames}
    edges = [0, *sorted(edge for edge in inside if edge < frames), frames]
    notes = []
    for end in edges[1:]:
        second = (end - 0.5) / fps
        standing = [cue.text for cue in extras.cues if cue.start <= second < cue.end]
        begun = [chapter.title for chapter in extras.chapters if chapter.start <= second]
        notes.append((standing or begun or [""])[-1])
    # A finding's chapter is called by its sentence.
    notes[-1] = "\n".join(dict.fromkeys(filter(None, (notes[-1], *finding))))
    return [Slide(*ends, note) for ends, note in zip(pairwise(edges), notes, strict=True)]


def cut(film: Path, slides: Sequence[Slide], fps: Fraction, folder: Path) -> list[Path]:
    """Write each slide of a film without losses as an MP4, encoded once, into `folder`."""
    made = [folder / f"slide-{number:03}.mp4" for number in range(1, len(slides) + 1)]
    with av.open(film) as source:
        video = source.streams.video[0]
        video.thread_type = "AUTO"
        shown = source.decode(video)
        for path, slide in zip(made, slides, strict=True):
            with closing(SegmentEncoder(path, CODECS["h264"], video.width, video.height, fps)) as encoder:
                for _, frame in zip(range(slide.first, slide.end), shown, strict=False):
                    # The encoder chooses anew which frames are whole.
                    frame.pict_type = PictureType.NONE
                    encoder.write(frame)
    return made


def writer() -> Writer:
    """What writes a .pptx; raises TilesimError where manim-slides is not installed."""
    try:
        from manim_slides.config import PresentationConfig, SlideConfig
        from manim_slides.convert import PowerPoint
    except ImportError:
        raise TilesimError(
            "slides in .pptx need manim-slides; install it with: pip install '.[slides]'"
        ) from None

    def write(films: Sequence[Path], notes: Sequence[str], size: tuple[int, int], target: Path) -> None:
        width, height = (round(side * LONGER_SIDE / max(size)) for side in size)
        # It asks for a film that plays backwards as well, and puts none into a .pptx.
        slides = [
            SlideConfig(file=film, rev_file=film, notes=note, dedent_notes=False)
            for film, note in zip(films, notes, strict=True)
        ]
        talk = PowerPoint(
            presentation_configs=[PresentationConfig(slides=slides)], width=width, height=height
        )
        with redirect_stderr(StringIO()):  # Its bar of progress.
            talk.convert_to(target)

    return write
