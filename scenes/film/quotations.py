"""Quotations: each step of the ladder for a moment, as the film about it shows it."""

from collections.abc import Callable
from typing import NamedTuple

from manim import DOWN, LEFT, RIGHT, UP, Animation, ManimColor, VGroup

from tilesim import Device, Problem, simulate
from tilesim.ideas.coalescing import LINE, touched
from tilesim.kernel_costs.default import default_costs
from tilesim.orders import rasterize
from tilesim_scenes.animations.run import Run
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import shades, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle, shape
from tilesim_scenes.mobjects.hardware.buffer import Buffers
from tilesim_scenes.mobjects.hardware.element_grid import ElementGrid
from tilesim_scenes.mobjects.hardware.memory_lines import MemoryLines
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.pipelines.async_pipeline import AsyncPipeline
from tilesim_scenes.mobjects.models.pipelines.phase_rows import PhaseRows, bars_of
from tilesim_scenes.mobjects.models.pipelines.pipeline_rows import PipelineRows
from tilesim_scenes.mobjects.models.pipelines.pipelined_sm import PipelinedSM
from tilesim_scenes.mobjects.models.pipelines.turn import Turn
from tilesim_scenes.mobjects.models.tiles.in_turn import InTurn
from tilesim_scenes.mobjects.models.tiles.loaf import Loaf
from tilesim_scenes.mobjects.models.warps.warp_load import WarpLoad
from tilesim_scenes.mobjects.traces.lanes import LaneVectors
from tilesim_scenes.mobjects.traces.timed import Timed
from tilesim_scenes.story.ideas import coalescing, ping_pong, pipelining, warp_specialization

SECONDS = 1.3
"""Of film, in which a quotation plays."""
PRODUCT, FOUR_SMS = Problem(384, 1536, 512), Device.named("h200", sms=4)
"""What the films naive and persistent show."""
PANELS = Problem(512, 768, 512)
"""Four by three tiles of eight K-steps."""
SQUARE, VISITED = Problem(1024, 1024, 512, tile=(128, 128, 64), order="grouped:4"), 16
"""Eight tiles by eight, in groups of four rows; and the first of them, which make a square."""
BLOCK = 8
"""Elements a side of what one instruction loads."""


class Quotation(NamedTuple):
    """A `picture`, what plays in it once it stands in its place, and whether that is simulated or a model."""

    picture: VGroup
    plays: Callable[[], Animation]
    simulated: bool = False


def quotation(step: str, width: float, height: float) -> Quotation | None:
    """The quotation of a step of the ladder, by its name, in so many units; None for one that has none."""
    made = QUOTATIONS.get(step)
    return made(width, height) if made else None


def one_tile(width: float, height: float) -> Quotation:
    """Two panels of operands, pair by pair, and the tile that they fill."""
    colour, tile = sm_colour(0, 4), 4
    operands = Operands(PANELS, width, height, names=False)
    pairs = zip(operands.row_panel(tile, colour), operands.column_panel(tile, colour), strict=True)
    whole = operands.tile(tile, colour)
    steps = []
    for number, pair in enumerate(pairs):
        filled = shape(colour)
        filled.points = quad(whole, number / PANELS.k_steps, (number + 1) / PANELS.k_steps)
        steps.append(VGroup(*pair, filled))
    return _run(InTurn(operands, steps))


def along_a_row(width: float, height: float) -> Quotation:
    """A warp's load along a row of a tile, and the few lines of memory that it takes."""
    story = coalescing.tell()
    way = story.along
    side = min(0.5 * width, 0.85 * height)
    tile = ElementGrid(story.rows, story.columns, side, side)
    lines = touched(way.shown, way.width, LINE)
    memory = MemoryLines(lines, 0.38 * width, 0.1 * height, 0.05 * height)
    memory.next_to(tile, RIGHT, 0.12 * width)
    load = WarpLoad(tile, memory, way.shown, way.width, story.element, story.pitch)
    warp = Warp().scale_to_fit_width(side).next_to(tile, UP, px(20))
    return _run(load, VGroup(tile, memory, warp), until=len(way.shown))


def grouped(width: float, height: float) -> Quotation:
    """Tiles visited as a square, and the few panels of operands that all of them share."""
    operands, colour = Operands(SQUARE, width, height, names=False), sm_colour(0, 4)
    seen: set[tuple[str, int]] = set()
    steps = []
    for tile in rasterize(SQUARE)[:VISITED].tolist():
        row, column = divmod(tile, SQUARE.tiles_n)
        step = VGroup(operands.tile(tile, colour))
        for side, at, panel in (("A", row, operands.row_panel), ("B", column, operands.column_panel)):
            if (side, at) not in seen:
                seen.add((side, at))
                step.add(panel(tile, colour))
        steps.append(step)
    return _run(InTurn(operands, steps))


def loads_ahead(width: float, height: float) -> Quotation:
    """Pairs of K-chunks that run ahead of the tensor core, through three buffers."""
    made = pipelining.tell().pipelines[3]
    machine = PipelinedSM(made, width, min(0.55 * height, 0.6 * width), room_for=3)
    machine.words.set_opacity(0.0)
    rows = PipelineRows(made, made.makespan, width, 0.34 * height).next_to(machine, DOWN, 0.08 * height)
    return Quotation(VGroup(machine, rows), lambda: _clock(made.makespan, machine, rows))


def one_instruction(width: float, height: float) -> Quotation:
    """One thread of a warp, and a whole block that comes from memory into a buffer."""
    theme, colour = theme_now(), sm_colour(0, 4)
    side = min(0.45 * width, 0.75 * height)
    matrix = ElementGrid(3 * BLOCK, 3 * BLOCK, side, side)
    buffer = Buffers(1, 0.7 * side, 0.7 * side, colour=colour).next_to(matrix, RIGHT, 0.2 * width)
    warp = Warp().scale_to_fit_width(0.8 * width)
    warp.dots[1:].set_fill(ManimColor(theme.hand_over))
    warp.next_to(VGroup(matrix, buffer), UP, 0.06 * height)
    block = ElementGrid(BLOCK, BLOCK, side / 3, side / 3)
    block.ground.set_fill(ManimColor(colour))
    block.move_to(matrix)
    return Quotation(
        VGroup(matrix, buffer, warp, block),
        lambda: Travel([block], [[buffer.get_center()]], [[1.8]], leg=SECONDS, arc=0.1),
    )


def lanes(width: float, height: float, kernel: str) -> Quotation:
    """Four SMs whose thread blocks stay, with the writes of `kernel`, on one axis of time."""
    costs = default_costs("persistent", PRODUCT, FOUR_SMS, kernel)
    trace = simulate("persistent", PRODUCT, FOUR_SMS, costs)
    longest = simulate("naive", PRODUCT, FOUR_SMS).makespan
    # The cursor stands out above and below.
    tall = height / (4 + 3 * 0.3 + 0.3)
    look = {"lane_height": tall, "gap": 0.3 * tall, "labels": False, "window": (0.0, float(longest))}
    made = LaneVectors(trace, range(FOUR_SMS.sms), width=width, **look)
    return _run(made, until=trace.makespan)._replace(simulated=True)


def roles(width: float, height: float) -> Quotation:
    """A producer, the ring of stages that it fills, and the consumers that multiply."""
    story = warp_specialization.tell()
    made = story.specialised
    pipeline = AsyncPipeline(made, warp_specialization.CONSUMERS, (width, height))
    # Its names have no room; without them it can be larger.
    pipeline.remove(pipeline.names)
    pipeline.scale(min(width / pipeline.width, height / pipeline.height))
    since = int(made.writes["start"][0]) - 2 * story.times.k_step
    return _run(pipeline.show(since), until=int(made.writes["end"][0]))


def turns(width: float, height: float) -> Quotation:
    """Two groups that take turns, and below them the tensor cores, which never pause."""
    made = ping_pong.tell().ping_pong
    light, deep = shades(sm_colour(0, 4))
    of_each = [bars_of(made.consumers(group), made.k_steps, wait="") for group in range(made.groups)]
    both = [
        bar._replace(colour=hue)
        for bars, hue in zip(of_each, (light, deep), strict=True)
        for bar in bars
        if bar.kind == "multiply"
    ]
    rows = {"ping": of_each[0], "pong": of_each[1], "tensor cores": both}
    tall = height / 3.8
    drawn = PhaseRows(rows, None, width, tall, 0.4 * tall, {"ping": light, "pong": deep}, False, px(70))
    turn = Turn(drawn, ("ping", "pong"), made)
    return Quotation(VGroup(drawn, turn), lambda: _clock(made.makespan, drawn, turn))


def cut_along_k(width: float, height: float) -> Quotation:
    """A tile, with its depth of K-steps, is cut, and each SM gets a piece."""
    count, deep = FOUR_SMS.sms, 64
    back = 0.4 * width / deep
    loaf = Loaf(deep, 0.3 * width, 0.3 * height, step=(back, 0.42 * back))
    pieces = loaf.cut([deep // count] * count, [sm_colour(sm, count) for sm in range(count)])
    room = rectangle(width, height)
    pieces.align_to(room, UP)
    size = 0.22 * width / pieces[0].width

    def apart() -> Animation:
        low = room.get_corner(DOWN + LEFT) + 0.2 * height * UP
        ways = [[low + (n + 0.5) / count * width * RIGHT] for n in range(count)]
        return Travel(pieces, ways, [[size]] * count, leg=0.5 * SECONDS, apart=0.16 * SECONDS)

    return Quotation(VGroup(room, pieces), apart)


def _run(timed: Timed, *around: VGroup, until: float | None = None) -> Quotation:
    """A mobject that has a clock, before what else is seen."""
    end = timed.until if until is None else until
    return Quotation(VGroup(*around, timed), lambda: _clock(end, timed))


def _clock(until: float, *timed: Timed) -> Run:
    return Run(*timed, until=until, run_time=SECONDS)


QUOTATIONS: dict[str, Callable[[float, float], Quotation]] = {
    "uncoalesced": one_tile,
    "tiled": along_a_row,
    "grouped": grouped,
    "pipelined": loads_ahead,
    "tma": one_instruction,
    "persistent": lambda width, height: lanes(width, height, "persistent-tma"),
    "overlapped": lambda width, height: lanes(width, height, "persistent-tma-overlap"),
    "warp-specialized": roles,
    "ping-pong": turns,
    "stream-k": cut_along_k,
}
