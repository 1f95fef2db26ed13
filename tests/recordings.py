"""The data that ships with tilesim, as tests read it."""

from pathlib import Path

import tilesim

DATA = Path(tilesim.__file__).parent / "data"


def recording(name: str, folder: str = "traces") -> tilesim.Trace:
    """A run that was recorded on an H200."""
    return tilesim.Trace.load(DATA / folder / f"h200-{name}.npz")
