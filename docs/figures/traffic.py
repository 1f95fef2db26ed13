"""Where bytes of a product come from, as counted on an H200 and as the model has it."""

from typing import Any

from figures.kernels import read, table
from tilesim.devices.device import Device
from tilesim.ideas.l2_order import traced
from tilesim.problems import Problem


def sent(row: dict[str, Any]) -> float:
    """What HBM sends for the product of a row, by the model."""
    problem = Problem(row["m"], row["n"], row["k"], tuple(row["tile"]), row["dtype"], row["order"])
    return traced(problem, Device.named("h200")).hbm_bytes


def mb(count: float) -> str:
    return f"{count / 1e6:,.0f} MB"


def orders() -> str:
    lines = [
        (f"{row['m']} × {row['n']} × {row['k']}", row["order"], f"{row['us']:,.1f}", f"{row['sm_mhz']:,}",
         mb(row["dram_read_bytes"]), mb(sent(row)))
        for row in read("l2_order")["rows"]
    ]  # fmt: skip
    return table(("product", "order", "µs", "SM MHz", "HBM sends, counted", "by the model"), lines, left=2)


def cubes() -> str:
    lines = [
        (f"{row['m']}", f"{row['us']:,.1f}",
         *(mb(row[name]) for name in ("asked_bytes", "arrived_bytes", "l2_bytes", "dram_read_bytes")),
         mb(sent(row)))
        for row in read("memory_hierarchy")["rows"]
    ]  # fmt: skip
    head = "cube", "µs", "asked for", "arrived at SMs", "read at the L2", "HBM sends", "by the model"
    return table(head, lines)


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    at = {row["order"]: row for row in read("l2_order")["rows"] if row["k"] == 8192}
    first, groups = at["row-major"], at["grouped:8"]
    cycles = abs(groups["us"] * groups["sm_mhz"] / (first["us"] * first["sm_mhz"]) - 1)
    middle = next(row for row in read("memory_hierarchy")["rows"] if row["m"] == 4096)
    return {
        "l2_order_table": orders(),
        "l2_order_us": f"{first['us']:,.0f} to {groups['us']:,.0f} µs",
        "l2_order_mhz": f"{first['sm_mhz']:,} to {groups['sm_mhz']:,} MHz",
        "l2_order_cycles": f"{100 * cycles:.1f} %",
        "memory_hierarchy_table": cubes(),
        "model_misses": f"{middle['dram_read_bytes'] / sent(middle):.1f}",
    }
