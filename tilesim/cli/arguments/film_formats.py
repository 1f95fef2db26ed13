"""The kinds of file that `tilesim export` writes, and how one is chosen."""

from difflib import get_close_matches
from pathlib import Path

from tilesim.errors import TilesimError, shown

FORMATS = ("mp4", "webm", "gif", "png", "mov", "svg", "pdf", "html", "slides")
COURSE_FORMATS = ("mp4", "webm", "mov")
MOVING = (*COURSE_FORMATS, "gif")
STILLS = ("png", "svg", "pdf")
PAGES = ("html",)
SLIDES, SLIDES_IN = "slides", (".html", ".pptx")


def chosen(output: str | None, form: str | None, label: str) -> tuple[str, str]:
    """The file to write, and what it is; raises TilesimError where what was asked for does not say."""
    output = output or f"{label}.{'html' if form == SLIDES else form or 'mp4'}"
    ending = Path(output).suffix.lower()
    form = form or (SLIDES if ending == ".pptx" else ending.lstrip("."))
    if form == SLIDES and ending not in SLIDES_IN:
        raise TilesimError(f"slides are written as {' or '.join(SLIDES_IN)}, not as {shown(output)}")
    if form not in FORMATS:
        endings = [f".{name}" for name in FORMATS if name != SLIDES] + [".pptx"]
        near = get_close_matches(ending, endings, n=1)
        raise TilesimError(
            f"{shown(output)} does not end in "
            + (f"{near[0]}; did you mean {Path(output).with_suffix(near[0]).name!r}?" if near else "")
            + (f"any of {', '.join(endings)}" if not near else "")
        )
    return output, form
