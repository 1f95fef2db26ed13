"""Course: films one after the other in one file. Each is drawn as alone; what was encoded is copied."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from itertools import accumulate
from math import inf
from pathlib import Path

from tilesim.storage import files, scratch
from tilesim_scenes.render.export import Drawn, Exported, drawn, put, readable_errors
from tilesim_scenes.render.files.joining import Extras, join
from tilesim_scenes.render.running import OwnRenderer, RenderRequest
from tilesim_scenes.render.scene_files import SceneError


def export(
    requests: Sequence[RenderRequest],
    output: Path,
    jobs: int = 1,
    progress: Callable[[int], object] = lambda frames: None,
    workers: Executor | None = None,
) -> Exported:
    """Write whole films of ours, all of one format, as one film to `output`; else as `export.export`.

    Its figures have all findings, and `films`: what each is called, the second at which it begins, how long
    it is, and its finding. Raises SceneError where only Manim itself can render the films.
    """
    files.check(output)
    form = requests[0].format
    with scratch.folder() as folder, readable_errors(output):
        films = []
        for number, request in enumerate(requests):
            (own := folder / str(number)).mkdir()
            try:
                films.append(drawn(request, own, jobs, progress, workers))
            except OwnRenderer as error:
                raise SceneError(f"{error}, so films cannot be joined; export them one by one") from None
        begins = starts(films)
        extras, made = together(films, form.fps), folder / f"course.{form.container}"
        segments = [segment for film in films for segment in film.segments]
        join(segments, form, made, extras)
        put(made, output)
    names = [request.file.stem.replace("_", "-") for request in requests]
    figures = {
        "frames": begins[-1],
        "captions": extras.cues,
        "chapters": extras.chapters,
        "finding": [
            f"{name}: {'; '.join(film.figures['finding'])}"
            for name, film in zip(names, films, strict=True)
            if film.figures
        ],
        "films": [
            {"film": name, "start": begin / form.fps, "seconds": film.frames / form.fps, **film.figures}
            for name, begin, film in zip(names, begins[:-1], films, strict=True)
        ],
    }
    return Exported(begins[-1] / form.fps, extras, figures)


def starts(films: Sequence[Drawn]) -> list[int]:
    """The frame at which each film begins, and that at which the last one has ended."""
    return list(accumulate((film.frames for film in films), initial=0))


def together(films: Sequence[Drawn], fps: int) -> Extras:
    """What films say, in seconds of all of them one after the other."""
    moved = [film.extras.cut(-begin / fps, inf) for begin, film in zip(starts(films), films, strict=False)]
    cues = [cue for extras in moved for cue in extras.cues]
    return Extras(cues, [chapter for extras in moved for chapter in extras.chapters])
