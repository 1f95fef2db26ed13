"""Chart: a sweep's rows as curves over one size, with their waves and words; all numbers and no pixels."""

from collections.abc import Sequence
from itertools import pairwise
from math import floor
from typing import NamedTuple

from tilesim.analysis.sweep import Row
from tilesim.devices.presets import presets
from tilesim.errors import SweepError
from tilesim.text import plural

MOST_CURVES = 6
SIZES = ("m", "n", "k")
FIXED = ("schedule", "device", "sms", "ctas_per_sm", *SIZES, "tile", "order", "dtype")


class Axes(NamedTuple):
    """What goes along the axis, the sizes that are as large as it, and what else varies: a curve for each."""

    along: str
    tied: tuple[str, ...]
    varied: tuple[str, ...]


class Curve(NamedTuple):
    """Rows by the size along the axis, their heights, and what the curve is called."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    heights: tuple[float, ...]


class Wave(NamedTuple):
    """The last size `x` at which `tiles` still fit into `waves` waves."""

    x: int
    tiles: int
    waves: int


class Drop(NamedTuple):
    """Where `curve` falls from `high` at one size to `low` at the next, `x`, for want of a full last wave.

    `used` is the share of the places in all `waves` that the `tiles` there take.
    """

    curve: Curve
    x: int
    high: float
    low: float
    tiles: int
    waves: int
    used: float


def axes(rows: Sequence[Row]) -> Axes:
    """How to lay out rows, of which only the combinations are looked at.

    The size with the most values goes along the axis. Raises SweepError where none varies, or where more than
    MOST_CURVES curves would be needed.

    >>> axes([_row("naive", n, m=n) for n in (256, 512)] + [_row("stream-k", n, m=n) for n in (256, 512)])
    Axes(along='m', tied=('m', 'n'), varied=('schedule',))
    """
    values = {name: {getattr(row, name) for row in rows} for name in FIXED}
    along = max(SIZES, key=lambda name: len(values[name]))
    if len(values[along]) < 2:
        raise SweepError("a picture needs a size that varies; give several values of --m, --n or --k")
    tied = tuple(name for name in SIZES if all(getattr(row, name) == getattr(row, along) for row in rows))
    varied: tuple[str, ...] = ()
    found = 1
    for name in (name for name in FIXED if name not in tied):
        # What follows from the others, as a device's SMs do, tells no curve from another.
        if (more := len({_key(row, (*varied, name)) for row in rows})) > found:
            varied, found = (*varied, name), more
    if found > MOST_CURVES:
        by = " and ".join(varied)
        raise SweepError(f"a curve for each {by} makes {found}; a picture shows at most {MOST_CURVES}")
    return Axes(along, tied, varied)


def in_percent(rows: Sequence[Row]) -> bool:
    """Whether y is utilization in %, as where costs are ideal and TFLOP/s mean nothing; else it is TFLOP/s.

    >>> in_percent([_row("naive", 256)])
    True
    """
    return any(not row.device or row.costs == "ideal costs" for row in rows)


def curves(rows: Sequence[Row], layout: Axes) -> list[Curve]:
    """The rows without errors as curves, in their order; one with several names where those are alike.

    >>> both = [_row(name, 256 * tiles, tiles / 4) for name in ("naive", "persistent") for tiles in (2, 4)]
    >>> [(curve.names, curve.heights) for curve in curves(both, axes(both))]
    [(('naive', 'persistent'), (50.0, 100.0))]
    """
    percent = in_percent(rows)
    found: dict[tuple, list[Row]] = {}
    for row in sorted(rows, key=lambda row: getattr(row, layout.along)):
        if not row.error:
            found.setdefault(_key(row, layout.varied), []).append(row)
    alike: dict[tuple, Curve] = {}
    for key in dict.fromkeys(_key(row, layout.varied) for row in rows if not row.error):
        heights = tuple(100 * (row.utilization or 0) if percent else row.tflops or 0 for row in found[key])
        name = ", ".join(map(_said, layout.varied, key)) or rows[0].schedule
        curve = alike.get((heights, points := positions(found[key], layout)))
        names = (*curve.names, name) if curve else (name,)
        alike[heights, points] = Curve(names, tuple(found[key]), heights)
    return list(alike.values())


def positions(rows: Sequence[Row], layout: Axes) -> tuple[int, ...]:
    """Where rows stand along the axis."""
    return tuple(getattr(row, layout.along) for row in rows)


def waves(rows: Sequence[Row], layout: Axes) -> list[Wave]:
    """Where one wave of tiles is full and the next begins; none where rows differ in tiles or slots there.

    >>> grown = [_row("naive", 256 * tiles) for tiles in (1, 3, 4, 5, 9)]
    >>> waves(grown, axes(grown))
    [Wave(x=1024, tiles=4, waves=1), Wave(x=1280, tiles=5, waves=2)]
    """
    if len({slots(row) for row in rows}) > 1:
        return []
    steps = sorted({Wave(getattr(row, layout.along), row.tiles, filling(row)[0]) for row in rows})
    if len({step.x for step in steps}) < len(steps):
        return []
    return [step for step, later in pairwise(steps) if later.waves > step.waves]


def worst_drop(drawn: Sequence[Curve], layout: Axes) -> Drop | None:
    """The fall at the wave that begins with the most places empty, of the curve that falls most there.

    None where no curve falls as a wave begins.

    >>> grown = [_row("naive", 256 * tiles, used) for tiles, used in ((2, 0.5), (4, 1.0), (5, 0.625))]
    >>> drop = worst_drop(curves(grown, axes(grown)), axes(grown))
    >>> drop.x, drop.high, drop.low, drop.tiles, drop.waves, drop.used
    (1280, 100.0, 62.5, 5, 2, 0.625)
    """
    found = []
    for curve in drawn:
        for (before, high), (after, low) in pairwise(zip(curve.rows, curve.heights, strict=True)):
            (earlier, _), (count, used) = filling(before), filling(after)
            if count > earlier and low < high:
                (x,) = positions([after], layout)
                found.append(Drop(curve, x, high, low, after.tiles, count, used))
    return min(found, key=lambda drop: (drop.used, drop.low / drop.high), default=None)


def filling(row: Row) -> tuple[int, float]:
    """(waves of tiles, share of their places that tiles take).

    >>> filling(_row("naive", 256 * 5))
    (2, 0.625)
    """
    count = -(-row.tiles // slots(row))
    return count, row.tiles / (count * slots(row))


def slots(row: Row) -> int:
    """How many thread blocks run at once."""
    return row.sms * row.ctas_per_sm


def subtitle(rows: Sequence[Row], layout: Axes) -> str:
    """What all rows have in common, in a line.

    >>> from tilesim import Device, Problem
    >>> from tilesim.analysis.sweep import Combination, blank
    >>> h200 = Device.named("h200")
    >>> rows = [blank(Combination("naive", Problem(128, n, 64), h200)) for n in (256, 512)]
    >>> subtitle(rows, axes(rows))
    '128 × N × 64, bf16, tile 128 × 256 × 64, NVIDIA H200 (132 SMs)'
    """
    row = rows[0]

    def one(name: str) -> bool:
        return len({getattr(each, name) for each in rows}) == 1

    along = layout.along.upper()
    sizes = (str(getattr(row, s)) if one(s) else along if s in layout.tied else s.upper() for s in SIZES)
    parts = [row.schedule] * (one("schedule") and bool(layout.varied)) + [" × ".join(sizes)]
    parts += [row.dtype] * one("dtype") + [f"tile {row.tile.replace('x', ' × ')}"] * one("tile")
    parts += [row.order] * (one("order") and row.order != "row-major")
    if one("device") and one("sms"):
        sms = plural(row.sms, "SM")
        parts += [f"{presets()[row.device]['title']} ({sms})" if row.device else sms]
    parts += [f"{row.ctas_per_sm} blocks per SM"] * (one("ctas_per_sm") and row.ctas_per_sm > 1)
    return ", ".join(parts)


def origin(rows: Sequence[Row]) -> str:
    """What the badge says: that it is simulated, and with whose costs where all have the same."""
    costs = {row.costs for row in rows if not row.error}
    return f"simulated with {costs.pop()}" if len(costs) == 1 else "simulated"


def ticks(low: float, high: float, most: int, powers_of_two: bool = False) -> list[float]:
    """At most `most` round numbers in (low, high]: multiples of 1, 2, 5 · 10^i, or of 2^i.

    >>> ticks(0, 830, 5), ticks(0, 11520, 8, powers_of_two=True)
    ([200.0, 400.0, 600.0, 800.0], [2048.0, 4096.0, 6144.0, 8192.0, 10240.0])
    """
    decimal = (digit * 10.0**i for i in range(-6, 15) for digit in (1, 2, 5))
    steps = (2.0**i for i in range(64)) if powers_of_two else decimal
    for step in steps:
        # A quotient that rounding left below a whole number is that number.
        below, last = (floor(end / step + 1e-9) for end in (low, high))
        if last - below <= most:
            break
    return [step * i for i in range(below + 1, last + 1)]


def _key(row: Row, names: Sequence[str]) -> tuple:
    return tuple(getattr(row, name) for name in names)


def _said(name: str, value: object) -> str:
    """A value as a label says it.

    >>> [_said("schedule", "naive"), _said("sms", 108), _said("n", 512), _said("tile", "128x128x64")]
    ['naive', '108 SMs', 'N = 512', '128 × 128 × 64']
    """
    forms = {"sms": f"{value} SMs", "ctas_per_sm": f"{value} per SM", "device": str(value).upper() or "ideal"}
    forms |= {size: f"{size.upper()} = {value}" for size in SIZES}
    return forms.get(name, str(value).replace("x", " × ") if name == "tile" else str(value))


def _row(schedule: str, n: int, utilization: float = 1.0, m: int = 128) -> Row:
    """A row for examples: a device of 4 SMs, so 4 tiles to a wave."""
    from tilesim import Device, Problem
    from tilesim.analysis.sweep import Combination, blank

    one = blank(Combination(schedule, Problem(m, n, 64), Device(4)))
    return one._replace(utilization=utilization, tflops=utilization)
