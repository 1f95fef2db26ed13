"""What `tilesim bench` shows beside the fields of a report's rows, made from a row or from a report."""

from collections.abc import Iterator
from typing import Any

from tilesim.analysis.memory_system import MemorySystem
from tilesim.cli.output.tables import Row
from tilesim.errors import DeviceError

Report = Row


def per_block(row: Row) -> Row:
    """Counts of one thread block, and how many threads of a warp are at work in an instruction."""
    counts = {
        name: row[name] / row["thread_blocks"]
        for name in ("load_wavefronts", "store_wavefronts", "instructions")
    }
    return counts | {"at_work": row["thread_instructions"] / row["instructions"]}


def over_free(report: Report) -> Iterator[dict[str, Any]]:
    """Each row with `over_free`: its time over that of the same kernel with no SM held, None without one."""
    alike = ("m", "n", "k", "kernel")
    free = {tuple(row[name] for name in alike): row["us"] for row in report["rows"] if not row["busy_sms"]}
    for row in report["rows"]:
        us = free.get(tuple(row[name] for name in alike))
        yield row | {"over_free": us and row["us"] / us}


MEASURED = ("p20", "p80", "bound", "limit_tflops", "dram_bytes", "sectors_per_request", "spilled_bytes")
"""What is not known of the article's kernel."""


def article_first(report: Report) -> Iterator[dict[str, Any]]:
    us, tflops = 1000 * report["article"]["ms"], report["article"]["tflops"]
    yield dict.fromkeys(MEASURED) | {"kernel": "the", "dtype": "article", "us": us, "tflops": tflops}
    for row in report["rows"]:
        counted = "spill_sectors" in row
        yield row | ({"spilled_bytes": 32 * row["spill_sectors"]} if counted else {})


def resources(report: Report) -> Iterator[dict[str, Any]]:
    """Compiled products, then those kernels that spin of which not as many were seen as the driver says."""
    for row in report["kernels"]:
        yield row | {"name": f"{row['name']} {'x'.join(map(str, row['tile']))}"}
    yield from ({"name": "spin"} | row for row in report["rows"] if row["driver"] != row["seen"])


def residents_seen(report: Report) -> list[str]:
    agree = sum(row["driver"] == row["seen"] for row in report["rows"])
    return [f"of {len(report['rows'])} kernels that spin, {agree} with as many residents as the driver says"]


def dram_traffic(row: Row) -> Row:
    counted = "dram_read_bytes" in row
    return {"dram_bytes": row["dram_read_bytes"] + row["dram_write_bytes"]} if counted else {}


def shares_of_peak(report: Report) -> Iterator[dict[str, Any]]:
    peak = report["peak_tflops"]["measured"]
    for row in report["rows"]:
        model = " (model)" if row["bytes_from"] == "model" else ""
        yield row | {"of_peak": 100 * row["tflops"] / peak, "model": model}


MIB = 2**20
MOST_STAGES = 6


def constants(report: Report) -> Iterator[str]:
    """The memory system's constants, a line each, or why there are none."""
    yield "\nconstants, by rule from what follows"
    try:
        found = MemorySystem.of(report)
    except DeviceError as error:
        yield f"none: {error}"
        return
    latencies = {
        "shared memory": found.shared_latency,
        "L2": found.l2_latency,
        "far L2": found.far_l2_latency,
        "DRAM": found.dram_latency,
    }
    rates = {f"{level}, reads by all SMs": rate for level, rate in found.read_gb_per_s.items()}
    rates |= {"DRAM, writes by all SMs": found.write_gb_per_s, "DRAM, a copy": found.copy_gb_per_s}
    figures = {
        **{
            f"{where}, a load": f"{x.cycles:.1f} cycles, {x.ns:.1f} ns" for where, x in latencies.items() if x
        },
        **{what: f"{rate:.0f} GB/s" for what, rate in rates.items()},
        "L2, as far as all SMs read it": f"{found.l2_bytes / MIB:g} MiB",
        "L2, as far as one SM is near": f"{found.near_l2_bytes / MIB:g} MiB",
    }
    for dtype, macs in found.macs_per_clock.items():
        figures[f"tensor cores, {dtype}"] = f"{macs:.0f} MACs a clock and SM"
    yield from (f"{what:32} {figure}" for what, figure in figures.items())


def chased(row: Row) -> Row:
    return {"order": row.get("order"), "where": f"{_size(row)} of {row['space']}"}


def read_by_all(report: Report) -> Iterator[dict[str, Any]]:
    for row in report["bandwidth"]:
        yield row | {"what": f"{row['kind']} {_size(row)}", "source": None}
    for row in report["merging"]:
        alike = "neighbours" if row["neighbours"] else "SMs apart"
        yield row | {"what": f"{row['together']} {alike} read the same"}
    for row in report["sharing"]:
        yield row | {"what": f"{row['sms']} SMs read", "source": "L2"}


def by_stages(report: Report) -> list[dict[str, Any]]:
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


SHOWN = 4
"""Beginnings that a line of the table names; --json has them all."""


def sm_groups(report: Report) -> Iterator[str]:
    for i, groups in enumerate(report["tiers"]):
        yield f"{'then' if i else 'first'}, in turn:"
        yield from ("  " + " ".join(map(str, group)) for group in groups)
    if report["as_preset"] is not None:
        yield f"{'as' if report['as_preset'] else 'not as'} the preset {report['device']} says"
    if report["gpcs"]:
        groups = [sorted(group) for groups in report["tiers"] for group in groups]
        own = sum(gpc in groups for gpc in report["gpcs"])
        yield f"clusters join {len(report['gpcs'])} GPCs; {own} of them are such groups"


def beginnings(row: Row) -> Row:
    first = [f"{' '.join(map(str, sms))} ({count})" for sms, count in row["first"]]
    more = f" and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
    return {"begin": ", ".join(first[:SHOWN]) + more}


def median_range(row: Row) -> Row:
    """Of a row with the median of each repeat, the range of these."""
    return {"low_ns": min(row["medians_ns"]), "high_ns": max(row["medians_ns"])}
