"""The kinds of file that `tilesim export` writes: how one is chosen, and which options each has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tilesim.errors import shown

FORMATS = ("mp4", "webm", "gif", "png", "mov", "svg", "pdf", "html", "slides")
STILLS = ("png", "svg", "pdf")
PAGES = ("html",)
SLIDES, SLIDES_IN = "slides", (".html", ".pptx")


def chosen(output: str | None, form: str | None, label: str) -> tuple[str, str]:
    """The file to write, and what it is; raises UsageError where what was asked for does not say."""
    output = output or f"{label}.{'html' if form == SLIDES else form or 'mp4'}"
    ending = Path(output).suffix.lower()
    form = form or (SLIDES if ending == ".pptx" else ending.lstrip("."))
    if form == SLIDES and ending not in SLIDES_IN:
        raise click.UsageError(f"slides are written as {' or '.join(SLIDES_IN)}, not as {shown(output)}")
    if form not in FORMATS:
        raise click.UsageError(f"cannot tell a format from {output!r}; give --format {'|'.join(FORMATS)}")
    return output, form


OF_FRAMES = {
    "size": "--size", "fps": "--fps", "transparent": "--transparent", "seconds": "--seconds",
    "start": "--from", "end": "--to", "captions": "--captions", "no_opening": "--no-opening",
}  # fmt: skip
"""Options that say what frames are drawn, of which a page has none."""


def check_kind(form: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError where a still is given what is of a film, a film an instant, or a page frames."""
    page, at = form in PAGES, options["at"]
    for name, option in OF_FRAMES.items():
        if page and options[name] not in (None, False):
            raise click.UsageError(f"{option} is of a film; a page is played in the browser, so leave it out")
    for name, option in {"start": "--from", "end": "--to"}.items():
        if form in STILLS and options[name] is not None:
            raise click.UsageError(f"{option} is of a film, and a still is of one instant; give --at instead")
    for name, option in {"captions": "--captions", "finding": "--finding", "as_json": "--json"}.items():
        if form in STILLS and options[name]:
            raise click.UsageError(f"{option} is of a film; leave it out of a still")
    if form == SLIDES and options["captions"]:
        raise click.UsageError(
            "--captions is of a film; slides have their captions as notes, so leave it out"
        )
    if page and at and not at[1]:
        raise click.UsageError(
            f"--at {at[0]:g} is a second of a film; a page opens at an instant such as 12.5us"
        )
    if form not in (*STILLS, *PAGES) and at is not None:
        raise click.UsageError(f"--at is of a still; write a .png, or leave it out of a film in {form}")
    if options["fragment"] and not page:
        raise click.UsageError(f"--fragment is of a page; write an .html, or leave it out of {form}")
