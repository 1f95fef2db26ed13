"""How fast Manim scenes are rendered where only what changes is drawn, against Manim's own renderer.

`python incremental.py SCENE RENDERER` renders one scene of `ordinary` at 1080p and 60 frames/s, with Manim's
encoder settings, and prints what it took as JSON; RENDERER is manim or ours.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from math import prod
from time import perf_counter
from typing import Any

from alternation import alternate
from rendering import process
from table import row

SETTINGS = {
    "pixel_width": 1920, "pixel_height": 1080, "frame_rate": 60, "write_to_movie": True,
    "disable_caching": True, "verbosity": "ERROR", "progress_bar": "none",
}  # fmt: skip
SCENES = (
    "MovingSquare", "AlwaysRedraw", "Traced", "TimeUpdaters", "MovingCameraOver", "LaggedSquares",
    "TextTransforms", "PlotWithArea", "Waits", "Rasters",
)  # fmt: skip
RACES = {256: "SmallRasters", 1024: "Rasters", 16384: "LargeRasters"}
FLOOR = "MovingSquare"
"""With Manim's own renderer: what the races are measured against, frame by frame."""


def rendered(name: str, renderer: str) -> dict[str, float]:
    """Render a scene into a film that nobody keeps."""
    import ordinary
    from manim import tempconfig

    from tilesim_scenes.render import made

    with tempfile.TemporaryDirectory() as folder, tempconfig(SETTINGS | {"media_dir": folder}):
        scene = getattr(ordinary, name)
        act = made(scene) if renderer == "ours" else scene()
        begin = perf_counter()
        act.render()
        return {"seconds": perf_counter() - begin, "frames": round(act.time * SETTINGS["frame_rate"])}


def measure(rounds: int = 3) -> list[dict[str, Any]]:
    """Rows of the table: rates of whole processes, start included, against Manim's in the same round."""
    runs: dict[tuple[str, str], list[dict[str, float]]] = {}

    def call(name: str, renderer: str) -> float:
        runs.setdefault((name, renderer), []).append(process(__file__, name, renderer))
        return 0.0

    contenders: dict[str, Callable[[], float]] = {
        f"{name} {renderer}": partial(call, name, renderer)
        for name in dict.fromkeys((*SCENES, *RACES.values()))
        for renderer in ("manim", "ours")
        if renderer == "ours" or name in SCENES
    }
    alternate(contenders, rounds)

    def ratios(name: str, base: str) -> list[float]:
        pairs = zip(runs[name, "ours"], runs[base, "manim"], strict=True)
        return [ours["frames"] / ours["whole"] * theirs["whole"] / theirs["frames"] for ours, theirs in pairs]

    each = {name: ratios(name, name) for name in SCENES}
    rows = [row(f"{name}, against Manim", found, "times", "at least 0.95") for name, found in each.items()]
    means = [prod(turn) ** (1 / len(turn)) for turn in zip(*each.values(), strict=True)]
    rows.append(row("ten ordinary scenes, geometric mean", means, "times", "about 1.3"))
    for tiles, name in RACES.items():
        rows.append(
            row(f"{tiles} tiles as images, against the floor", ratios(name, FLOOR), "times", "at least 0.9")
        )
    return rows


if __name__ == "__main__":
    print(json.dumps(rendered(*sys.argv[1:])))
