"""Rendering: any Manim scene, drawn and converted only where it changes.

The frames are those of Manim, byte for byte, and so is what `manim render` writes. `IncrementalRenderer`
takes the place of Manim's CairoRenderer, with the same arguments. All that is built on Manim's inside is in
`manim_inside`, which knows Manim 0.22; with any other version, `IncrementalRenderer` is CairoRenderer.
"""

from typing import Any
from unittest.mock import patch

import manim
from manim import Camera, Scene, logger

VERSIONS = ("0.22",)
KNOWN = manim.__version__.rpartition(".")[0] in VERSIONS

if KNOWN:
    from tilesim_scenes.render.manim_inside.renderer import IncrementalRenderer
else:
    from manim.renderer.cairo_renderer import CairoRenderer as IncrementalRenderer

    logger.warning(
        f"Manim {manim.__version__} is not known here ({', '.join(VERSIONS)} is): it draws every frame whole"
    )


def made(scene: type[Scene], renderer: Any = IncrementalRenderer) -> Scene:
    """`scene()` with such a renderer where it would have Manim's; Manim's own where Manim is not KNOWN."""
    if not KNOWN:
        return scene()

    def build(camera_class: type[Camera] = Camera, skip_animations: bool = False) -> IncrementalRenderer:
        return renderer(camera_class=camera_class, skip_animations=skip_animations)

    with patch("manim.scene.scene.CairoRenderer", build):
        return scene()
