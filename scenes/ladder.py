"""Ladder: kernel after kernel for one product, each with one change, up to cuBLAS and the peak."""

from itertools import pairwise
from math import inf

from tilesim.ladder.steps import LadderStep
from tilesim.text import plural
from tilesim_scenes._stage.bars import bars
from tilesim_scenes._stage.climb import Climb
from tilesim_scenes._stage.climb_scene import ClimbScene
from tilesim_scenes._stage.climb_script import describe, figure, gains, readable, times
from tilesim_scenes._stage.script import Caption, Script


def write(film: Climb) -> Script:
    """What the film says of the steps of a ladder."""
    steps = film.ladder.steps
    kernels = plural(len(steps), "kernel")
    whys = [Caption(at, f"{step.name}: {step.why}") for at, step in enumerate(steps) if at]
    said = [Caption(0, "Longer is faster"), *whys]
    return Script(
        title=f"Up the ladder in {kernels}",
        subtitle=describe(film.ladder),
        opening=f"One matrix product, {kernels}, each with one change. What is each worth?",
        panels=[],
        captions=readable(said, [inf, *gains(steps)[1:]], len(steps), film.seconds),
        slow=(0.0, 0.0),
        finding=_finding(film),
    )


def _finding(film: Climb) -> list[str]:
    """How far the best step gets, and which step brings the most of it."""
    ladder = film.ladder
    best = max(ladder.steps, key=lambda step: step.tflops)
    held = [f"{best.tflops / ladder.peak_tflops.measured:.0%} of the measured peak"]
    if ladder.yardstick:
        held.insert(0, f"{best.tflops / ladder.yardstick.tflops:.0%} of cuBLAS")
    return [
        f"{best.name}: {figure(best.tflops)} TFLOP/s, {' and '.join(held)}.",
        f"That is {times(best.tflops / ladder.steps[0].tflops)} times as fast as {ladder.steps[0].name}. "
        + _largest(ladder.steps),
    ]


def _largest(steps: tuple[LadderStep, ...]) -> str:
    """The step that is the most times as fast as the one before it."""
    ratio, name = max((now.tflops / before.tflops, now.name) for before, now in pairwise(steps))
    return f"The largest step is {name}: ×{times(ratio)}."


class Ladder(ClimbScene):
    """The ladder that ships, at its problem with the most steps, unless asked otherwise."""

    write = staticmethod(write)
    draw = staticmethod(bars)
