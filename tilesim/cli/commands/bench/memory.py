"""`tilesim bench memory`: latencies and bandwidths of the memory system, and the tensor cores' rate."""

from collections.abc import Iterable, Iterator
from typing import Any

import click

from tilesim.analysis.memory_system import MemorySystem
from tilesim.cli.output.reports import machine, report_options, show
from tilesim.cli.packages import load
from tilesim.errors import DeviceError

MIB = 2**20


@click.command("memory", short_help="Latencies and bandwidths of shared memory, L2 and DRAM.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=5, help="Repeats of the whole sweep.  [5]")
@report_options
def command(repeats: int, output: str | None, as_json: bool) -> None:
    """Measure this GPU's memory system, one figure at a time, with kernels that do nothing else.

    A pointer chase, and reads, writes and copies by all SMs, over growing footprints; lines that several SMs
    read at the same time; operand tiles by TMA and by cp.async, with one to six in flight; and the tensor
    cores on operands that stand in shared memory.
    """
    show(load("kernels").memory(repeats), _table, output, as_json)


def _table(report: dict[str, Any]) -> str:
    """What it was measured on, then a table for each section."""
    return "\n".join([machine(report), *(line for part in PARTS for line in ("", *part(report)))])


def _constants(report: dict[str, Any]) -> Iterator[str]:
    yield "constants, by rule from what follows"
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
    for what, one in latencies.items():
        if one:
            yield f"{what:32} {one.cycles:.1f} cycles, {one.ns:.1f} ns"
    rates = {
        **{f"{level}, reads by all SMs": rate for level, rate in found.read_gb_per_s.items()},
        "DRAM, writes by all SMs": found.write_gb_per_s,
        "DRAM, a copy": found.copy_gb_per_s,
    }
    for what, rate in rates.items():
        yield f"{what:32} {rate:.0f} GB/s"
    yield f"{'L2, as far as all SMs read it':32} {found.l2_bytes / MIB:g} MiB"
    yield f"{'L2, as far as one SM is near':32} {found.near_l2_bytes / MIB:g} MiB"
    for dtype, macs in found.macs_per_clock.items():
        yield f"{f'tensor cores, {dtype}':32} {macs:.0f} MACs a clock and SM"


def _latency(report: dict[str, Any]) -> Iterator[str]:
    yield f"{'a pointer chase':32} {'order':9} {'cycles':>8} {'p20':>8} {'p80':>8} {'ns':>7} {'MHz':>5}"
    for row in report["latency"]:
        where = f"{_size(row['footprint'])} of {row['space']}"
        yield f"{where:32} {row.get('order', ''):9} {_spread(row['cycles'], 8, 1)} {_ns_mhz(row)}"


def _bandwidth(report: dict[str, Any]) -> Iterator[str]:
    yield f"{'all SMs':32} {'':9} {'GB/s':>8} {'p20':>8} {'p80':>8} {'bytes a clock and SM':>21}"
    for row in report["bandwidth"]:
        yield _rate(f"{row['kind']} {_size(row['footprint'])}", "", row)
    for row in report["merging"]:
        alike = "neighbours" if row["neighbours"] else "SMs apart"
        yield _rate(f"{row['together']} {alike} read the same", row["source"], row)
    for row in report["sharing"]:
        yield _rate(f"{row['sms']} SMs read", "L2", row)


def _tile_loads(report: dict[str, Any]) -> Iterator[str]:
    yield "cycles a stage, by how many are in flight"
    yield f"{'tile':10} {'by':9} {'from':5} {'SMs':>4} {'together':>8}" + "".join(
        f"{i:>8}" for i in range(1, 7)
    )
    for key, rows in _grouped(report["tile_loads"], ("tile", "by", "source", "sms", "together")):
        tile, by, source, sms, together = key
        cells = "".join(f"{row['cycles']['p50']:8.0f}" for row in rows)
        yield f"{'x'.join(map(str, tile)):10} {by:9} {source:5} {sms:4} {together:8}{cells}"
    for row in report["first_loads"]:
        tile = "x".join(map(str, row["tile"]))
        yield f"{tile:10} {row['by']:9} {row['source']:5} the first load {row['cycles']['p50']:13.0f}"


def _multiplying(report: dict[str, Any]) -> Iterator[str]:
    head = f"{'MACs':>8} {'p20':>8} {'p80':>8} {'MHz':>5}"
    yield f"{'MACs a clock and SM':19} {'dtype':5} {'warps':>5} {'blocks':>6} {head}"
    for row in report["multiplying"]:
        tile = "x".join(map(str, row["tile"]))
        rate = f"{_spread(row['macs_per_clock'], 8, 1)} {row['sm_mhz']['p50']:5.0f}"
        yield f"{tile:19} {row['dtype']:5} {row['warps']:5} {row['ctas_per_sm']:6} {rate}"
    for row in report["contention"]:
        tile = "x".join(map(str, row["tile"]))
        yield f"{tile:19} a K-step beside loads by {row['by']}: {row['cycles']['p50']:.1f} cycles"
    for row in report["shared_reads"]:
        yield f"shared memory: {row['bytes_per_clock']['p50']:.1f} bytes a clock and SM"


PARTS = (_constants, _latency, _bandwidth, _tile_loads, _multiplying)


def _grouped(
    rows: Iterable[dict[str, Any]], names: tuple[str, ...]
) -> Iterable[tuple[tuple[Any, ...], list[dict[str, Any]]]]:
    """Rows that agree in `names`, in the order of the first of each."""
    found: dict[str, tuple[tuple[Any, ...], list[dict[str, Any]]]] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        found.setdefault(str(key), (key, []))[1].append(row)
    return found.values()


def _size(footprint: int) -> str:
    return f"{footprint // 1024} KiB" if footprint < MIB else f"{footprint / MIB:g} MiB"


def _spread(values: dict[str, float], width: int, digits: int) -> str:
    return " ".join(f"{values[name]:{width}.{digits}f}" for name in ("p50", "p20", "p80"))


def _ns_mhz(row: dict[str, Any]) -> str:
    return f"{row['ns']['p50']:7.1f} {row['sm_mhz']['p50']:5.0f}"


def _rate(what: str, source: str, row: dict[str, Any]) -> str:
    return f"{what:32} {source:9} {_spread(row['gb_per_s'], 8, 0)} {row['bytes_per_clock']['p50']:21.1f}"
