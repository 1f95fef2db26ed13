"""Where bytes of a product come from, as counted on an H200 and as the model has it."""

from typing import Any

from tilesim.cli.output.tables import markdown
from tilesim.devices.device import Device
from tilesim.ideas.l2_order import traced
from tilesim.ladder.reports import report
from tilesim.problems import Problem


def sent(row: dict[str, Any]) -> float:
    """What HBM sends for the product of a row, by the model."""
    problem = Problem(row["m"], row["n"], row["k"], tuple(row["tile"]), row["dtype"], row["order"])
    return traced(problem, Device.named("h200")).hbm_bytes


def table(bench: str, columns: str) -> str:
    """A bench's table, with what HBM sends by the model as the last column."""
    rows = [row | {"sent": sent(row)} for row in report(bench)["rows"]]
    return markdown(rows, columns + " | by the model {sent:,.0f/1e6} MB")


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    at = {row["order"]: row for row in report("l2_order")["rows"] if row["k"] == 8192}
    first, groups = at["row-major"], at["grouped:8"]
    cycles = abs(groups["us"] * groups["sm_mhz"] / (first["us"] * first["sm_mhz"]) - 1)
    used = {row["order"]: row for row in report("l2_order")["without_pause"]}
    rows, eight = used["row-major"], used["grouped:8"]
    middle = next(row for row in report("memory_hierarchy")["rows"] if row["m"] == 4096)
    return {
        "l2_order_table": table(
            "l2_order",
            "product {m} × {n} × {k} | order | µs {us:,.1f} | SM MHz {sm_mhz:,}"
            " | HBM sends, counted {dram_read_bytes:,.0f/1e6} MB",
        ),
        "l2_order_us": f"{first['us']:,.0f} to {groups['us']:,.0f} µs",
        "l2_order_mhz": f"{first['sm_mhz']:,} to {groups['sm_mhz']:,} MHz",
        "l2_order_cycles": f"{100 * cycles:.1f} %",
        "l2_order_joules": f"{rows['joules']:.3f} to {eight['joules']:.3f} J",
        "l2_order_watts": f"{rows['watts']:.0f} and {eight['watts']:.0f} W",
        "l2_order_steady_mhz": f"{rows['sm_mhz']:,.0f} to {eight['sm_mhz']:,.0f} MHz",
        "l2_order_steady_us": f"{rows['us']:,.0f} to {eight['us']:,.0f} µs",
        "l2_order_spread": f"{100 * (eight['most_joules'] / eight['least_joules'] - 1):.1f} %"
        f" and {100 * (rows['most_joules'] / rows['least_joules'] - 1):.1f} %",
        "memory_hierarchy_table": table(
            "memory_hierarchy",
            "cube {m} | µs {us:,.1f} | asked for {requested_bytes:,.0f/1e6} MB"
            " | arrived at SMs {arrived_bytes:,.0f/1e6} MB | read at the L2 {l2_bytes:,.0f/1e6} MB"
            " | HBM sends {dram_read_bytes:,.0f/1e6} MB",
        ),
        "model_misses": f"{middle['dram_read_bytes'] / sent(middle):.1f}",
    }
