"""Chart text: what a sweep's picture says above it."""

from collections.abc import Sequence

from tilesim.analysis.sweep import Row
from tilesim.devices.presets import presets
from tilesim.text import plural

from . import chart


def subtitle(rows: Sequence[Row], layout: chart.Axes) -> str:
    """What all rows have in common, in a line.

    >>> from tilesim import Device, Problem
    >>> from tilesim.analysis.sweep import Combination, blank
    >>> h200 = Device.named("h200")
    >>> rows = [blank(Combination("naive", Problem(128, n, 64), h200)) for n in (256, 512)]
    >>> subtitle(rows, chart.axes(rows))
    '128 × N × 64, bf16, tile 128 × 256 × 64, NVIDIA H200 (132 SMs)'
    """
    row = rows[0]

    def one(name: str) -> bool:
        return len({getattr(each, name) for each in rows}) == 1

    along = layout.along.upper()
    sizes = (
        str(getattr(row, s)) if one(s) else along if s in layout.tied else s.upper() for s in chart.SIZES
    )
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
    return f"simulated, {costs.pop()}" if len(costs) == 1 else "simulated"
