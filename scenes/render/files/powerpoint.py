"""PowerPoint: films and notes as a .pptx, which manim-slides makes.

Of pages only its PowerPoint is used: its HTML takes reveal.js from a network, and a note as markup.
"""

from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from tilesim.errors import TilesimError

LONGER_SIDE = 1280
"""Pixels, 96 to the inch, of a slide, whatever its film has; PowerPoint takes 56 inches at most."""
Writer = Callable[[Sequence[Path], Sequence[str], tuple[int, int], Path], None]
"""Writes films (MP4), a note to each, and slides of so many pixels, into a file."""


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
