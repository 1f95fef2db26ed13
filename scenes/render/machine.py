"""Machine: what of this machine's libraries films need, and have."""

import shutil

import av
import cairo
import manimpango

from tilesim_scenes.render.files.formats import CODECS


def drawing() -> str:
    """The versions of cairo and of Pango."""
    return f"cairo {cairo.cairo_version_string()}, Pango {manimpango.pango_version()}"


def missing_encoders() -> list[str]:
    """Which encoders of films FFmpeg lacks, as PyAV brings it: "libx264"."""
    names = dict.fromkeys(codec.name for codec in CODECS.values())
    return [name for name in names if name not in av.codecs_available]


def latex() -> str:
    """Where LaTeX is, "" where it is not; Manim's Tex and MathTex need it, and no film of ours."""
    return shutil.which("latex") or ""
