"""Talk: a film as slides that stop at its captions, in a page made with reveal.js or for PowerPoint."""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from tilesim.player import deck
from tilesim.storage import files, scratch
from tilesim.text import plural
from tilesim_scenes.look.language import SOURCE
from tilesim_scenes.render.export import Exported
from tilesim_scenes.render.export import export as export_film
from tilesim_scenes.render.files import powerpoint
from tilesim_scenes.render.files.slides import cut, slides
from tilesim_scenes.render.running import RenderRequest


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
    write = powerpoint.writer() if output.suffix.lower() == ".pptx" else None
    form = request.format
    with scratch.folder() as folder:
        film = folder / "film.mp4"
        made = export_film(request, film, jobs, progress, workers)
        frames = round(made.seconds * form.fps)
        shown = slides(made.extras, frames, form.fps, made.figures.get("finding", ()))
        pieces, notes = cut(film, shown, form.rate, folder), [slide.note for slide in shown]
        if write:
            write(pieces, notes, form.size, folder / "talk.pptx")
            with open(folder / "talk.pptx", "rb") as source:
                files.write(output, lambda target: shutil.copyfileobj(source, target))
        else:
            page = _page(request, made, pieces, notes).encode()
            files.write(output, lambda target: target.write(page))
    return replace(made, look=plural(len(shown), "slide"))


def _page(request: RenderRequest, made: Exported, pieces: Sequence[Path], notes: Sequence[str]) -> str:
    films = [path.read_bytes() for path in pieces]
    title = next((chapter.title for chapter in made.extras.chapters), request.scene.__name__)
    look = {"theme": request.settings.get("theme", "dark"), "lang": request.settings.get("lang", SOURCE)}
    return deck.deck(list(map(deck.Slide, films, notes)), request.format.size, title, **look)
