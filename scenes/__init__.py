"""What tilesim shows, as Manim mobjects and animations for scenes of one's own.

    from tilesim_scenes import Lanes, PlayTrace, TileGrid

Names load when they are first asked for: what films say, and what settings they take, needs no Manim.
"""

from importlib import import_module
from typing import Any
from warnings import warn

PUBLIC = {
    "animations.run": ("PlayTrace",),
    "animations.travel": ("Deal", "Fetch", "Travel", "WriteBack"),
    "animations.unroll": ("SplitIntoTiles", "Unroll"),
    "animations.zoom": ("GrowFromLane", "Zoom"),
    "film.scene": ("Film",),
    "mobjects.charts.bars": ("Bars",),
    "mobjects.charts.plot": ("Curve", "Plot", "Roofline"),
    "mobjects.hardware.memory": ("SM", "Buffers", "Chunk", "KPair", "MemoryLevel"),
    "mobjects.hardware.operands": ("Operands",),
    "mobjects.hardware.thread_block": (
        "Barrier",
        "CloseBarrier",
        "OpenBarrier",
        "Queue",
        "ThreadBlock",
        "Warp",
    ),
    "mobjects.traces.lanes": ("Lanes",),
    "mobjects.traces.run_panel": ("RunPanel",),
    "mobjects.traces.sm_lane": ("SmLane",),
    "mobjects.traces.tile_grid": ("TileGrid",),
    "mobjects.traces.time_bracket": ("TimeBracket",),
    "mobjects.traces.traffic": ("BlockTraffic", "TileTraffic"),
    "mobjects.words.badge": ("Badge",),
    "mobjects.words.count": ("Clock", "Count"),
    "mobjects.words.finding": ("Caption", "Finding"),
}
"""Names by the module that has them: what at least two films show, or a scene of one's own would."""
FORMER = {
    "Cut": "SplitIntoTiles",
    "Enlarge": "GrowFromLane",
    "Lift": "OpenBarrier",
    "Run": "PlayTrace",
    "Shut": "CloseBarrier",
}
"""Names that will go, and what is called so now."""

__all__ = sorted(name for names in PUBLIC.values() for name in names)


def __getattr__(name: str) -> Any:
    if name in FORMER:
        warn(f"{name} is now called {FORMER[name]}", DeprecationWarning, stacklevel=2)
        name = FORMER[name]
    for module, names in PUBLIC.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
