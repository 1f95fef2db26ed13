"""`tilesim present`: films as the slides of a talk, each of which loops until the speaker moves on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tilesim.cli.arguments.film_targets import FILM_TARGET, Target, language_option, theme_option
from tilesim.cli.arguments.options import OutputFile, usage
from tilesim.cli.arguments.parameter_types import Whole
from tilesim.cli.exports import FPS, ExportRequest, make, planned
from tilesim.cli.jobs import cluster_option, jobs_option, workers_of
from tilesim.cli.output.figures import counter, save_text
from tilesim.parallel import cores
from tilesim.player.deck import Slide, deck
from tilesim.storage import scratch
from tilesim.storage.files import check_outputs
from tilesim.text import plural

PAGE = OutputFile(".html", rule="films that loop are presented as .html")


@click.command(short_help="Present films as slides that loop.")
@click.argument("output", type=PAGE, metavar="TALK.html")
@click.argument("films", type=FILM_TARGET, nargs=-1, required=True, metavar="FILM...")
@click.option("--title", metavar="TEXT", help="Of the talk.  [the name of TALK.html]")
@theme_option
@language_option
@click.option("--size", metavar="SIZE", help="Of the slides, as for `tilesim export`.  [1080p]")
@click.option("--fps", type=Whole(1, 120), help=f"Frames per second.  [{FPS}]")
@jobs_option
@cluster_option
def command(
    output: str, films: Sequence[Target], title: str | None, jobs: int | None, cluster: str | None,
    **look: Any,
) -> None:  # fmt: skip
    """Write FILMs into TALK.html as the slides of a talk, a film each, which needs no network.

    FILM is a film of `tilesim list`, FILE.py:Name for any Manim scene, or a file that holds a trace. A film
    loops until the speaker moves on. Its note holds its title, captions and finding; S shows the notes
    in a window of their own. For a single film that waits at each caption, use `tilesim export FILM --format
    slides`.
    """
    wanted = {name: value for name, value in look.items() if value is not None}
    plain = {name: wanted[name] for name in ("size", "fps") if name in wanted}  # other scenes have no theme
    with scratch.folder() as folder, usage():
        requests = []
        for number, film in enumerate(films, 1):
            asked = {"scene": film, "output": str(folder / f"{number}.mp4")}
            requests.append(planned(ExportRequest.of(asked | (plain if film.file else wanted))))
        check_outputs([output], [path for request in requests for path in request.inputs])
        slides = []
        with workers_of(cluster) as workers:
            for request in requests:
                with counter(request.scene.label, "frames") as done:
                    made = make(request, jobs or cores(), done, workers)
                slides.append(Slide(request.output.read_bytes(), _note(made.figures), loops=True))
    size = requests[0].format("mp4").size
    page = deck(slides, size, title or Path(output).stem, look["theme"], look["lang"] or "en")
    save_text(output, page, plural(len(slides), "slide"))


def _note(figures: Mapping[str, Any]) -> str:
    """What a film says, a line each: its chapters and captions in order of time, then its finding."""
    said = [(chapter.start, chapter.title) for chapter in figures.get("chapters", ())]
    said += [(cue.start, cue.text) for cue in figures.get("captions", ())]
    return "\n".join(dict.fromkeys([*(text for _, text in sorted(said)), *figures.get("finding", ())]))
