"""How fast our films are made, and in how much memory, against a stock Manim scene of one moving square.

Each contender is a command as users call it, a film in its own length at 1080p and 60 frames/s, and is timed
from start to end.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from alternation import alternate
from table import row

FPS, SIZE = 60, (1920, 1080)
HERE = Path(__file__).parent
FILMS = HERE.parent / "scenes"
MANIM = (
    *("-m", "manim", "render", "--disable_caching", "--progress_bar", "none", "-v", "ERROR"),
    *("-r", ",".join(map(str, SIZE)), "--fps", str(FPS), "--media_dir", "{folder}"),
)
EXPORT = ("-m", "tilesim", "export", "{scene}", "--fps", str(FPS), "-o", "{folder}/film.mp4")
RACES = {256: (2048, 4096), 1024: (4096, 8192), 16_384: (16_384, 32_768)}
"""(m, n) of so many tiles."""
FLOOR = "floor"
CONTENDERS = {
    FLOOR: (*MANIM, str(HERE / "ordinary.py"), "LongSquare"),
    **{f"manim render race, {tiles} tiles": (*MANIM, str(FILMS / "race.py"), "Race") for tiles in RACES},
    "manim render one_tile": (*MANIM, str(FILMS / "one_tile.py"), "OneTile"),
    **{
        f"tilesim export {film}, --jobs {jobs}": (*EXPORT, "--jobs", str(jobs))
        for film in ("race", "one-tile")
        for jobs in (2, 1)
    },
}
GOALS = {
    **{f"manim render race, {tiles} tiles": "at least 0.9" for tiles in RACES},
    "manim render one_tile": "at least 0.5",
    "tilesim export race, --jobs 2": "at least 2",
    "tilesim export one-tile, --jobs 2": "at least 1",
}
"""Frames/s against the floor's."""
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""Python keeps what it compiles, as it does for users, and as pip did for the packages that it installed."""


def process(*command: str, **environment: str) -> dict[str, float]:
    """What a whole Python process takes: seconds, MiB at most in any process of it, and seconds of CPU.

    If it prints JSON, also that. Raises RuntimeError where it fails.
    """
    begin = perf_counter()
    running = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, env=os.environ | COMPILED | environment
    )
    said = running.stdout.read() if running.stdout else ""
    _, status, used = os.wait4(running.pid, 0)
    seconds = perf_counter() - begin
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with status {status}")
    scale = 2**20 if sys.platform == "darwin" else 2**10
    found = {"whole": seconds, "peak": used.ru_maxrss / scale, "cpu": used.ru_utime + used.ru_stime}
    return found | (json.loads(said) if said.startswith("{") else {})


def film(name: str) -> dict[str, float]:
    """What the process of a contender takes, and its frames/s from start to end."""
    import av

    scene = name.removeprefix("tilesim export ").partition(",")[0]
    tiles = next((tiles for tiles in RACES if name.endswith(f" {tiles} tiles")), None)
    with tempfile.TemporaryDirectory() as folder:
        asked = {}
        if tiles:
            m, n = RACES[tiles]
            settings = f'm = {m}\nn = {n}\nk = 512\ndevice = "h200"\n'
            Path(folder, "film.toml").write_text(settings, "utf-8")
            asked = {"TILESIM_FILM": f"{folder}/film.toml"}
        words = [word.format(folder=folder, scene=scene) for word in CONTENDERS[name]]
        found = process(*words, **asked)
        (made,) = (path for path in Path(folder).rglob("*.mp4") if "partial_movie_files" not in path.parts)
        with av.open(made) as video:
            frames = video.streams.video[0].frames
    return found | {"rate": frames / found["whole"]}


def measure(rounds: int = 3) -> list[dict[str, Any]]:
    """Rows of the table: each contender against another of the same round."""
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}

    def call(name: str) -> float:
        runs[name].append(film(name))
        return 0.0

    alternate({name: partial(call, name) for name in CONTENDERS}, rounds)

    def against(name: str, base: str, what: str) -> list[float]:
        return [ours[what] / theirs[what] for ours, theirs in zip(runs[name], runs[base], strict=True)]

    ours = [name for name in CONTENDERS if name != FLOOR]
    rows = [row("floor: Manim, a moving square", [run["rate"] for run in runs[FLOOR]], "frames/s")]
    for name in ours:
        rows.append(
            row(f"{name}, against the floor", against(name, FLOOR, "rate"), "times", GOALS.get(name, ""))
        )
    for scene in ("race", "one-tile"):
        many, one = (f"tilesim export {scene}, --jobs {jobs}" for jobs in (2, 1))
        rows.append(
            row(f"{scene}: 2 processes against 1", against(many, one, "rate"), "times", "at least 1.6")
        )
    rows.append(row("memory of the floor", [run["peak"] for run in runs[FLOOR]], "MiB"))
    for name in ours:
        peaks = against(name, FLOOR, "peak")
        rows.append(row(f"memory of {name}, of the floor's", peaks, "times", "at most 1.2"))
    return rows
