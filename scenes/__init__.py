"""What tilesim shows, as Manim mobjects and animations for scenes of one's own.

    from tilesim_scenes import Lanes, PlayTrace, TileGrid

Names load when they are first asked for: what films say, and what settings they take, needs no Manim.
"""

from importlib import import_module
from typing import Any

PUBLIC = {
    "mobjects.models.pipelines.async_pipeline": ("AsyncPipeline",),
    "mobjects.words.badge": ("Badge",),
    "mobjects.charts.balance": ("Balance",),
    "mobjects.hardware.barrier": ("Barrier",),
    "mobjects.traces.block_traffic": ("BlockTraffic",),
    "mobjects.hardware.buffer": ("Buffers",),
    "mobjects.words.caption": ("Caption",),
    "mobjects.models.sums.bank_queues": ("BankQueues",),
    "mobjects.models.sums.butterfly": ("Butterfly",),
    "mobjects.models.sums.strides": ("Strides",),
    "mobjects.models.sums.sum_tree": ("SumTree",),
    "mobjects.charts.bar_groups": ("BarGroups",),
    "mobjects.charts.bars": ("Bars",),
    "mobjects.charts.curve": ("Curve",),
    "mobjects.charts.plot": ("Plot",),
    "mobjects.charts.roofline": ("Roofline",),
    "mobjects.charts.share_bar": ("ShareBar",),
    "mobjects.hardware.chunk": ("Chunk",),
    "mobjects.models.tiles.cell_sweep": ("CellSweep",),
    "mobjects.traces.clock": ("Clock",),
    "mobjects.hardware.element_grid": ("ElementGrid",),
    "mobjects.traces.held_lanes": ("HeldLanes",),
    "mobjects.words.finding": ("Finding",),
    "mobjects.hardware.k_pair": ("KPair",),
    "mobjects.traces.lag_strip": ("LagStrip",),
    "mobjects.traces.lanes": ("Lanes",),
    "mobjects.models.warps.limit_bars": ("LimitBars",),
    "mobjects.models.tiles.loaf": ("Loaf",),
    "mobjects.hardware.memory_level": ("MemoryLevel",),
    "mobjects.hardware.memory_lines": ("MemoryLines",),
    "mobjects.hardware.operands": ("Operands",),
    "mobjects.hardware.partial": ("Partial",),
    "mobjects.hardware.partitions": ("Partitions",),
    "mobjects.models.pipelines.phase_rows": ("PhaseRows",),
    "mobjects.models.pipelines.pipeline_rows": ("PipelineRows",),
    "mobjects.models.pipelines.pipelined_sm": ("PipelinedSM",),
    "mobjects.hardware.queue": ("Queue",),
    "mobjects.models.tiles.ribbon": ("Ribbon",),
    "mobjects.models.pipelines.riders": ("Riders",),
    "mobjects.traces.partial_traffic": ("PartialTraffic",),
    "mobjects.traces.run_row": ("RunRow",),
    "mobjects.traces.run_panel": ("RunPanel",),
    "mobjects.hardware.sm": ("SM",),
    "mobjects.traces.sm_lane": ("SmLane",),
    "mobjects.hardware.sm_map": ("SMMap",),
    "mobjects.hardware.thread_block": ("ThreadBlock",),
    "mobjects.traces.tile_grid": ("TileGrid",),
    "mobjects.traces.tile_traffic": ("TileTraffic",),
    "mobjects.traces.time_bracket": ("TimeBracket",),
    "mobjects.hardware.warp": ("Warp",),
    "mobjects.hardware.warp_row": ("WarpRow",),
    "mobjects.models.warps.warp_load": ("WarpLoad",),
    "mobjects.models.warps.warp_walk": ("WarpWalk",),
    "mobjects.models.tiles.wave_grid": ("WaveGrid",),
    "animations.enlarge": ("Enlarge",),
    "animations.gather": ("Gather",),
    "animations.lift": ("Lift", "Shut"),
    "animations.restack": ("Restack",),
    "animations.run": ("Run",),
    "animations.tip": ("Tip",),
    "animations.travel": ("Deal", "Fetch", "Travel", "WriteBack"),
    "animations.unfold": ("Unfold",),
    "animations.unroll": ("Cut", "Thin", "Unroll"),
    "animations.zoom": ("Zoom",),
    "film.scene": ("Film",),
}
"""Names by the module that has them."""

__all__ = sorted(name for names in PUBLIC.values() for name in names)


def __getattr__(name: str) -> Any:
    for module, names in PUBLIC.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
