"""`tilesim bench memory`: latencies and bandwidths of the memory system, and the tensor cores' rate."""

from collections.abc import Iterator
from typing import Any

from tilesim.analysis.memory_system import MemorySystem
from tilesim.cli.output.reports import Bench, Report, Table, count_option, derived
from tilesim.cli.output.tables import Row
from tilesim.errors import DeviceError

MIB = 2**20
MOST_STAGES = 6
IN_FLIGHT = " | ".join(f"{i} {{stages_{i}:.0f}}" for i in range(1, MOST_STAGES + 1))


def _constants(report: Report) -> Iterator[str]:
    yield "\nconstants, by rule from what follows"
    try:
        found = MemorySystem.of(report)
    except DeviceError as error:
        yield f"none: {error}"
        return
    latencies = {
        "shared memory, a load": found.shared_latency,
        "L2, a load": found.l2_latency,
        "far L2, a load": found.far_l2_latency,
        "DRAM, a load": found.dram_latency,
    }
    rates = {
        **{f"{level}, reads by all SMs": rate for level, rate in found.read_gb_per_s.items()},
        "DRAM, writes by all SMs": found.write_gb_per_s,
        "DRAM, a copy": found.copy_gb_per_s,
    }
    figures = {
        **{what: f"{one.cycles:.1f} cycles, {one.ns:.1f} ns" for what, one in latencies.items() if one},
        **{what: f"{rate:.0f} GB/s" for what, rate in rates.items()},
        "L2, as far as all SMs read it": f"{found.l2_bytes / MIB:g} MiB",
        "L2, as far as one SM is near": f"{found.near_l2_bytes / MIB:g} MiB",
    }
    macs = {
        f"tensor cores, {dtype}": f"{n:.0f} MACs a clock and SM" for dtype, n in found.macs_per_clock.items()
    }
    yield from (f"{what:32} {figure}" for what, figure in (figures | macs).items())


def _latency(row: Row) -> Row:
    return {"order": row.get("order"), "where": f"{_size(row)} of {row['space']}"}


def _bandwidth(report: Report) -> Iterator[dict[str, Any]]:
    """Rows of three lists, each with `what` all SMs do."""
    for row in report["bandwidth"]:
        yield row | {"what": f"{row['kind']} {_size(row)}", "source": None}
    for row in report["merging"]:
        alike = "neighbours" if row["neighbours"] else "SMs apart"
        yield row | {"what": f"{row['together']} {alike} read the same"}
    for row in report["sharing"]:
        yield row | {"what": f"{row['sms']} SMs read", "source": "L2"}


def _tile_loads(report: Report) -> list[dict[str, Any]]:
    """A row for each case, its cycles by the stages in flight: as many as fit into shared memory."""
    cases: dict[str, dict[str, Any]] = {}
    for row in report["tile_loads"]:
        empty = dict.fromkeys(f"stages_{i}" for i in range(1, MOST_STAGES + 1))
        case = {name: row[name] for name in ("tile", "by", "source", "sms", "together")}
        cases.setdefault(str(case), case | empty)[f"stages_{row['stages']}"] = row["cycles"]["p50"]
    return list(cases.values())


def _size(row: Row) -> str:
    footprint = row["footprint"]
    return f"{footprint // 1024} KiB" if footprint < MIB else f"{footprint / MIB:g} MiB"


command = Bench(
    "memory",
    "Latencies and bandwidths of shared memory, L2 and DRAM.",
    """Measure this GPU's memory system, one figure at a time, with kernels that do nothing else.

    A pointer chase, and reads, writes and copies by all SMs, over growing footprints; lines that several SMs
    read at the same time; operand tiles by TMA and by cp.async, with one to six in flight; and the tensor
    cores on operands that stand in shared memory.
    """,
    [
        _constants,
        Table(
            "a pointer chase {where} | order | cycles {cycles[*]:.1f} | ns {ns[p50]:.1f}"
            " | MHz {sm_mhz[p50]:.0f}",
            derived(_latency, "latency"),
        ),
        Table(
            "all SMs {what} | from {source} | GB/s {gb_per_s[*]:.0f}"
            " | bytes a clock and SM {bytes_per_clock[p50]:.1f}",
            _bandwidth,
        ),
        "\ncycles a stage, by how many are in flight",
        Table(f"tile | by | from {{source}} | SMs {{sms}} | together | {IN_FLIGHT}", _tile_loads),
        Table("tile | by | from {source} | the first load, cycles {cycles[p50]:.0f}", "first_loads"),
        Table(
            "tile | dtype | warps | blocks {ctas_per_sm} | MACs a clock and SM {macs_per_clock[*]:.1f}"
            " | MHz {sm_mhz[p50]:.0f}",
            "multiplying",
        ),
        Table("tile | beside loads by {by} | a K-step, cycles {cycles[p50]:.1f}", "contention"),
        Table("shared memory, bytes a clock and SM {bytes_per_clock[p50]:.1f}", "shared_reads"),
    ],
    [count_option("repeats", "Repeats of the whole sweep.", 5)],
)
