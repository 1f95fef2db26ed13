"""What the film of a kernel ladder says: of each step, what it wins and what else changed with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tilesim.ladder.file import ladders, read
from tilesim.ladder.steps import Ladder, LadderStep, settings_changed
from tilesim_scenes.film.settings import FilmError
from tilesim_scenes.look.language import tr


@dataclass(frozen=True, slots=True)
class Rung:
    """A step: its `name`, the caption beside its bar, and how many times as fast as the step before it is.

    `gain` is None where no step before it was measured. `besides`: what else changed, or for the first step
    at which problem it was compared.
    """

    step: LadderStep
    name: str
    caption: str
    gain: float | None
    besides: str


@dataclass(frozen=True, slots=True)
class Story:
    """The steps of a ladder at one problem, its yardstick, and what to keep of it."""

    title: str
    rungs: tuple[Rung, ...]
    yardstick: LadderStep | None
    best: Rung
    finding: str
    aside: str


MOST = 14
"""Steps whose names can still be read beside their bars."""
ABOUT = {"grouped": ("order",), "pipelined": ("stages",)}
"""Settings that a step is about; whatever else differs from the step before, it changed besides."""


def tell(ladder: Ladder, every: Ladder) -> Story:
    """The story of `ladder`, one problem's; `every` has the other problems that were measured with it.

    Raises FilmError where there are fewer than two steps.
    """
    steps = ladder.steps
    if len(steps) < 2:
        raise FilmError(f"the film ladder needs two steps; there is {len(steps)} of them")
    rungs = (_first(steps[0], every), *(_rung(before, now) for before, now in pairwise(steps)))
    best = max(rungs, key=lambda rung: rung.step.tflops)
    return Story(
        tr("What is each trick worth?"),
        rungs,
        ladder.yardstick,
        best,
        _finding(rungs, best, ladder.yardstick),
        _aside(best, every),
    )


def _first(now: LadderStep, every: Ladder) -> Rung:
    """The first step; what it wins where the one before it was measured at another problem only."""
    name, caption = _names().get(now.name, (now.name, now.change))
    sizes = [(row.m, row.n, row.k, row.dtype) for row in every.rows if row.step == (now.step or 0) - 1]
    for m, n, k, dtype in sizes:
        before, there = (
            next((row for row in every.of(m=m, n=n, k=k, dtype=dtype).steps if row.step == step), None)
            for step in ((now.step or 0) - 1, now.step)
        )
        if before and there:
            where = tr("at {size}", size=size_of(m, n, k))
            return Rung(now, name, caption, there.tflops / before.tflops, where)
    return Rung(now, name, caption, None, "")


def _rung(before: LadderStep, now: LadderStep) -> Rung:
    name, caption = _names().get(now.name, (now.name, now.change))
    changed = settings_changed(before, now)
    besides = [
        _changed(setting, new)
        for setting, (_, new) in changed.items()
        if setting not in ABOUT.get(now.name, ())
    ]
    return Rung(now, name, caption, now.tflops / before.tflops, ", ".join(besides))


def _names() -> dict[str, tuple[str, str]]:
    """Steps by what they win: name, and caption."""
    return {
        "element": (tr("elements"), tr("A program for each element of C")),
        "uncoalesced": (tr("tiles"), tr("A tile uses each load many times")),
        "tiled": (tr("coalesced"), tr("A warp loads along a row")),
        "grouped": (tr("grouped"), tr("Tiles in groups share the L2")),
        "pipelined": (tr("pipelined"), tr("Loads run two K-steps ahead")),
        "tma": (tr("TMA"), tr("One instruction loads a block")),
        "persistent": (tr("persistent"), tr("Blocks stay, tiles come")),
        "overlapped": (tr("overlapped"), tr("Writes run under the next loads")),
        "warp-specialized": (tr("specialised"), tr("One warp loads, eight multiply")),
        "ping-pong": (tr("ping-pong"), tr("Two groups take turns")),
        "stream-k": (tr("stream-K"), tr("Last wave cut along K")),
    }


def _changed(setting: str, value: object) -> str:
    """What a setting is now.

    >>> _changed("tile", (128, 256, 64)), _changed("order", "grouped:12"), _changed("stages", 4)
    ('tile 128×256×64', 'groups of 12', '4 stages')
    """
    if setting == "tile" and isinstance(value, tuple):
        return tr("tile {shape}", shape="×".join(map(str, value)))
    if setting == "stages":
        return tr("{stages} stages", stages=value)
    order, _, size = str(value).partition(":")
    return tr("groups of {rows}", rows=size) if order == "grouped" else order


def _finding(rungs: Sequence[Rung], best: Rung, yardstick: LadderStep | None) -> str:
    """How far the steps to the best one come, and whether past the yardstick."""
    steps = rungs.index(best)
    if yardstick is None:
        return tr("{steps} steps", steps=steps)
    share = best.step.tflops / yardstick.tflops - 1
    if share >= 0:
        return tr("{steps} steps, {share:.0%} past cuBLAS", steps=steps, share=share)
    return tr("{steps} steps, {share:.0%} short of cuBLAS", steps=steps, share=-share)


def _aside(best: Rung, every: Ladder) -> str:
    """Where the same step loses most against the yardstick, if anywhere."""
    pairs = [
        (row.tflops / other.tflops, row, other)
        for row in every.rows
        for other in every.rows
        if row.name == best.step.name and other.step is None
        and (row.m, row.n, row.k, row.dtype) == (other.m, other.n, other.k, other.dtype)
    ]  # fmt: skip
    share, row, other = min(pairs, key=lambda pair: pair[0], default=(1.0, best.step, best.step))
    if share >= 1:
        return ""
    return tr(
        "At {size} cuBLAS leads, {theirs:.0f} to {ours:.0f}",
        size=size_of(row.m, row.n, row.k), theirs=other.tflops, ours=row.tflops,
    )  # fmt: skip


def size_of(m: int, n: int, k: int) -> str:
    """A problem's size in a word.

    >>> size_of(2048, 2048, 2048), size_of(8192, 8192, 512)
    ('2048³', '8192×8192×512')
    """
    return f"{m}³" if m == n == k else f"{m}×{n}×{k}"


def ladders_of(settings: Mapping[str, Any]) -> tuple[Ladder, Ladder]:
    """(every problem's, the shown one's) of the ladder that `settings` ask for: ladder, m, n, k and dtype.

    Raises as `every_ladder` does, ReportError where the problem was not measured, FilmError for more steps
    than MOST.
    """
    every = every_ladder(settings)
    shown = every.telling(**{key: settings[key] for key in ("m", "n", "k", "dtype") if key in settings})
    if len(shown.steps) > MOST:
        raise FilmError(f"the ladder has {len(shown.steps)} of its steps; a film shows 2 to {MOST}")
    return every, shown


def every_ladder(settings: Mapping[str, Any]) -> Ladder:
    """The steps of all problems in the file `ladder`, else in the first that ships.

    Raises FilmError where there is none, ReportError for the file.
    """
    path = settings.get("ladder")
    found = (read(path),) if path else ladders()
    if not found:
        raise FilmError("no ladder ships with this tilesim; give --ladder what `tilesim bench ladder` writes")
    return found[0]


def problem_of(ladder: Ladder) -> str:
    """The problem of a ladder, in a line."""
    row = ladder.rows[0]
    return tr("{m} × {n} × {k}, {dtype}, kernel time", m=row.m, n=row.n, k=row.k, dtype=row.dtype)
