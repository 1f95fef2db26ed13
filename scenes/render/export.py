"""Export: any Manim scene as a film that any number of processes draw, whole under its name or not there."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import av
from manim import Scene, tempconfig
from pydub import AudioSegment

from tilesim.errors import TilesimError
from tilesim.storage import files, scratch
from tilesim_scenes.render import remote
from tilesim_scenes.render.files import gifs
from tilesim_scenes.render.files.formats import SLIDES
from tilesim_scenes.render.files.joining import Chapter, Cue, Extras, join
from tilesim_scenes.render.files.planes import HDTV, Planes
from tilesim_scenes.render.forks import CAN_FORK, Forks
from tilesim_scenes.render.running import OwnRenderer, RenderRequest, manim_config, own_folders, ran
from tilesim_scenes.render.scene_files import SceneError, failure
from tilesim_scenes.render.segments import SegmentRenderer
from tilesim_scenes.render.take import Encoded, Take

UNNAMED = ("autocreated", "unnamed")
"""What Manim calls sections that nobody named."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: a film of so many seconds, and what it says beside its pictures.

    `note`: why it was drawn otherwise than asked for. `look`: what was chosen where nobody asked.
    """

    seconds: float
    extras: Extras
    figures: Mapping[str, Any]
    note: str = ""
    look: str = ""

    @property
    def about(self) -> str:
        """How long it is, and what was chosen, as people read it."""
        seconds = f"{self.seconds:.3g}" if self.seconds < 100 else f"{self.seconds:.0f}"
        return ", ".join(filter(None, (f"{seconds} s", self.look)))


def export(
    request: RenderRequest,
    output: Path,
    jobs: int = 1,
    progress: Callable[[int], object] = lambda frames: None,
    workers: Executor | None = None,
) -> Exported:
    """Write a film of `request` to `output`, drawn by `jobs` processes; the same file whatever their number.

    With `workers`, which may be other machines, each of them draws segments of a scene whose file it has.
    `progress` is told of frames that are done. Raises SceneError where the scene fails, and TilesimError
    where the film cannot be encoded or written.
    """
    files.check(output)
    form = request.format
    with scratch.folder() as folder, readable_errors(output):
        try:
            film = drawn(request, folder, jobs, progress, workers)
        except OwnRenderer as error:
            return by_manim(request, output, folder, f"{error}, so Manim itself renders it")
        made, frames, extras, look = folder / f"film.{form.container}", film.frames, film.extras, ""
        if form.form == "gif":
            # From a film without losses, as slides are.
            join(film.segments, replace(form, form=SLIDES), folder / "film.mp4", Extras())
            gif = gifs.chosen(folder / "film.mp4", made, request.keep)
            # What stood before anything moved is not in it.
            extras = extras.cut(gif.first / form.fps, frames / form.fps)
            frames, look = frames - gif.first, gif.about
        else:
            join(film.segments, form, made, extras, request.start)
        put(made, output)
    figures = {"frames": frames, "captions": extras.cues, "chapters": extras.chapters}
    return Exported(frames / form.fps, extras, figures | film.figures, look=look)


@contextmanager
def readable_errors(output: Path) -> Iterator[None]:
    """Raise TilesimError where a film that is to become `output` cannot be encoded or kept."""
    try:
        yield
    except (OSError, av.error.FFmpegError) as error:
        raise TilesimError(f"cannot render {output}: {error.strerror or error}") from error


def put(made: Path, output: Path) -> None:
    """Write a film that is ready to where it was asked for."""
    with open(made, "rb") as source:
        files.write(output, lambda target: shutil.copyfileobj(source, target))


@dataclass(frozen=True, slots=True)
class Drawn:
    """A film as `segments` that are not joined yet: how many frames they have, and what is beside them."""

    segments: Sequence[Path]
    frames: int
    extras: Extras
    figures: Mapping[str, Any]


def drawn(
    request: RenderRequest,
    folder: Path,
    jobs: int,
    progress: Callable[[int], object],
    workers: Executor | None = None,
) -> Drawn:
    """Draw and encode the segments of `request` into `folder`; raises OwnRenderer where only Manim can."""
    if workers:
        scene = remote.drawn(request, folder, workers, progress)
    else:
        scene = drawn_here(request, folder, jobs, progress)
    form, last = request.format, scene.renderer.frames
    segments = sorted(folder.glob(f"segment-*{form.codec.suffix}"))
    if not segments:
        raise SceneError(
            f"there is no part of the film from {request.start:g} s on; it lasts {last / form.fps:g} s"
        )
    frames = min(request.part.end, last) - request.part.first
    return Drawn(segments, frames, _extras(scene, folder, request), getattr(scene, "figures", {}))


def by_manim(request: RenderRequest, output: Path, folder: Path, note: str) -> Exported:
    """Let Manim itself render the scene; raises SceneError where only a part of it is asked for."""
    if request.part != RenderRequest(request.scene, request.file, request.format).part:
        raise SceneError(f"{note}; leave out --from and --to")
    form = {"format": request.format.container, "dry_run": False}
    with manim_config(request, folder), tempconfig(form), redirect_stdout(sys.stderr):
        try:
            scene = request.scene()
            scene.render()
            made = scene.renderer.file_writer.movie_file_path
        except (Exception, SystemExit) as error:
            raise failure(error, request.file) from error
        put(made, output)
    return Exported(scene.time, Extras(), {}, note)


def drawn_here(request: RenderRequest, folder: Path, jobs: int, progress: Callable[[int], object]) -> Scene:
    """Draw and encode the segments of `request` into `folder`, by processes of this machine."""
    form = request.format
    planes = Planes(*form.size, form.codec.pixels, HDTV)

    def sink(segment: int) -> Encoded:
        return Encoded(folder / f"segment-{segment:06}{form.codec.suffix}", form, planes)

    with ExitStack() as stack:
        forks = None
        if jobs > 1 and CAN_FORK:
            forks = Forks(jobs, folder, progress, partial(own_folders, folder))
            stack.callback(forks.close)
        take = Take(request.part, sink, forks)
        try:
            scene = ran(request, folder, partial(SegmentRenderer, take))
            take.close()
        except BaseException as error:
            take.leave(str(error) or type(error).__name__)
            raise
        take.leave()
        if forks:
            forks.finish()
    return scene


def _extras(scene: Scene, folder: Path, request: RenderRequest) -> Extras:
    """What a scene said while it ran: subcaptions or captions, sections or chapters, and sound."""
    writer, fps = scene.renderer.file_writer, request.format.fps
    cues = [*getattr(scene, "captions", ())] or [
        Cue(cue.start.total_seconds(), cue.end.total_seconds(), cue.content) for cue in writer.subcaptions
    ]
    chapters = [*getattr(scene, "chapters", ())] or [
        Chapter(frame / fps, type(scene).__name__ if name in UNNAMED else name)
        for frame, name in scene.renderer.sections
        if len(scene.renderer.sections) > 1
    ]
    sound = None
    if writer.includes_sound:
        sound = folder / "sound.wav"
        writer.add_audio_segment(AudioSegment.silent(0))
        writer.audio_segment.export(sound, format="wav").close()
    pauses = getattr(scene, "pauses", [one.start for one in (*cues, *chapters)])
    extras = Extras(cues, chapters, sound, pauses)
    end = scene.renderer.frames / fps
    return extras.cut(request.start, end if request.end is None else min(end, request.end))
