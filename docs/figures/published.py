"""One schedule against another on other GPUs: what was published, and what simulations say."""

from tilesim.analysis.published import NEAR, Published, compared, data
from tilesim.cli.output.tables import markdown_of
from tilesim.devices.presets import presets

LEAST_PART = 0.01
"""Share of a run from which on a part of the difference is named."""


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    return {
        "published_schedules": markdown_of(
            ("GPU", "shape", "schedules", "published", "simulated", "agrees", "where the difference lies"),
            [_line(one) for one in compared()],
        ),
        "published_notes": "\n".join(f"- {_source(one)}: {one.row['note']}." for one in compared()),
        "published_not_found": "\n".join(f"- {one}." for one in data()["not_found"]),
        "published_near": f"{100 * NEAR:.0f} %",
        "published_agree": f"{sum(one.agrees for one in compared())} of {len(compared())}",
    }


def _line(one: Published) -> tuple[str, ...]:
    row = one.row
    shape = f"{row['corpus']} shapes" if "corpus" in row else f"{row['m']} × {row['n']} × {row['k']}"
    return (
        presets()[row["device"]]["short"],
        f"{shape}, {row['dtype']}",
        " over ".join(row["schedules"]),
        f"[{_range(one)}]({data()['sources'][row['source']]['address']})",
        f"{one.simulated:.2f}",
        "yes" if one.agrees else "**no**",
        _parts(one),
    )


def _range(one: Published) -> str:
    most = "most: " if one.row.get("of") == "most" else ""
    if one.low is None:
        return f"below {one.high:g}"
    if one.high is None:
        return f"above {one.low:g}"
    return most + (f"{one.low:g}" if one.low == one.high else f"{one.low:g} to {one.high:g}")


def _parts(one: Published) -> str:
    """The parts of the first schedule's time that the second saves, or adds, the largest first."""
    shown = sorted(one.parts.items(), key=lambda part: -abs(part[1]))
    return ", ".join(f"{name} {share:+.1%}" for name, share in shown if abs(share) >= LEAST_PART)


def _source(one: Published) -> str:
    source = data()["sources"][one.row["source"]]
    return f"{presets()[one.row['device']]['short']}, {source['publisher']} {source['year']}"
