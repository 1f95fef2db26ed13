"""What others published of one schedule against another on other GPUs, beside what simulations say.

tilesim/data/published/schedules.json has the rows, each with its source, and what could not be found. A ratio
is the time of the first schedule over that of the second: above 1 the second is faster.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from tilesim.analysis.time_account import difference
from tilesim.cli.output.tables import markdown_of
from tilesim.devices.device import Device
from tilesim.devices.presets import presets
from tilesim.engine.simulate import simulate
from tilesim.problems import Problem

LEAST_PART = 0.01
"""Share of a run from which on a part of the difference is named."""

NEAR = 0.05
"""A simulated ratio within this of the figures that were published agrees; of a direction, the direction."""

LEAST_SIZE, LARGEST_SIZE = 128, 8192
"""Of a corpus: M, N and K are drawn between these, uniform in their logarithms, as in the Stream-K paper."""


class Published(NamedTuple):
    """A row: what was published, from `low` to `high`, None where open, and what the simulation says.

    `parts`: by how much an average slot of the first schedule spends longer on each part of its time, as a
    share of its run, as `tilesim.analysis.time_account.difference`; empty where it is of many shapes.
    """

    row: Mapping[str, Any]
    low: float | None
    high: float | None
    simulated: float
    parts: Mapping[str, float]

    @property
    def agrees(self) -> bool:
        """Whether the simulated ratio is within NEAR of the figures, or on the right side of the one."""
        near = NEAR if self.low and self.high else 0.0
        above = self.low is None or self.simulated >= self.low * (1 - near)
        return above and (self.high is None or self.simulated <= self.high * (1 + near))


@cache
def data() -> Mapping[str, Any]:
    """The file as it is: sources, rows, not_found."""
    return json.loads(files("tilesim").joinpath("data/published/schedules.json").read_text("utf-8"))


@cache
def compared() -> tuple[Published, ...]:
    """Every row with its simulation."""
    return tuple(_compared(row) for row in data()["rows"])


def _compared(row: Mapping[str, Any]) -> Published:
    low, high = row["published"]
    device = Device.named(row["device"])
    if "corpus" in row:
        ratios = [_ratio(row["schedules"], problem, device) for problem in _corpus(row)]
        return Published(row, low, high, max(ratios), {})
    problem = Problem(row["m"], row["n"], row["k"], tuple(row["tile"]), row["dtype"], "grouped:8")
    first, second = (simulate(schedule, problem, device) for schedule in row["schedules"])
    share = {part: ns / first.makespan for part, ns in difference(first, second).items()}
    return Published(row, low, high, first.makespan / second.makespan, share)


def _ratio(schedules: Sequence[str], problem: Problem, device: Device) -> float:
    first, second = (simulate(schedule, problem, device).makespan for schedule in schedules)
    return first / second


def _corpus(row: Mapping[str, Any]) -> Iterator[Problem]:
    rng = np.random.default_rng(0)
    low, high = np.log2((LEAST_SIZE, LARGEST_SIZE))
    for sizes in 2 ** rng.uniform(low, high, (row["corpus"], 3)):
        m, n, k = (int(size) for size in sizes)
        yield Problem(m, n, k, tuple(row["tile"]), row["dtype"])


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
