"""The memory of an H200 as it was measured, and what a K-step takes by its constants."""

from math import prod
from typing import Any

from tilesim.analysis.memory_system import MemorySystem, TileLatency
from tilesim.cli.output.tables import markdown_of
from tilesim.ladder.reports import report
from tilesim.problems import DTYPE_BYTES, Problem

MIB = 2**20
TOGETHER = (1, 2, 3, 6, 12, 33, 132)


def latencies(found: MemorySystem) -> str:
    places = {
        "shared memory": found.shared_latency,
        f"L2, up to {found.near_l2_bytes / MIB:g} MiB": found.l2_latency,
        "L2, beyond that": found.far_l2_latency,
        "DRAM": found.dram_latency,
    }
    lines = [(name, f"{one.cycles:.0f}", f"{one.ns:.0f}") for name, one in places.items() if one]
    return markdown_of(("a load from", "cycles", "ns"), lines)


def bandwidths(found: MemorySystem) -> str:
    rates = {
        f"read out of the L2, up to {found.l2_bytes / MIB:g} MiB": found.read_gb_per_s["L2"],
        "read out of DRAM": found.read_gb_per_s["DRAM"],
        "write to DRAM": found.write_gb_per_s,
        "copy, bytes read and written": found.copy_gb_per_s,
    }
    return markdown_of(("all SMs", "TB/s"), [(name, f"{rate / 1000:.2f}") for name, rate in rates.items()])


def merging() -> str:
    rate = {
        (row["source"], row["neighbours"], row["together"]): row["gb_per_s"]["p50"] / 1000
        for row in report("memory")["merging"]
    }
    ways = [("L2", True), ("L2", False), ("DRAM", True), ("DRAM", False)]
    lines = [(f"{n}", *(f"{rate[source, near, n]:.1f}" for source, near in ways)) for n in TOGETHER]
    head = (
        "SMs that read the same",
        "neighbours, L2",
        "SMs apart, L2",
        "neighbours, DRAM",
        "SMs apart, DRAM",
    )
    return markdown_of(head, lines)


def tile_loads() -> str:
    wanted = [
        row for row in report("memory")["tile_loads"] if row["tile"] == [128, 256] and row["source"] == "L2"
    ]
    cycles = {(r["by"], r["sms"], r["together"], r["stages"]): r["cycles"]["p50"] for r in wanted}
    lines = []
    for by, sms, together in sorted({key[:3] for key in cycles}):
        cells = (f"{cycles[by, sms, together, stages]:,.0f}" for stages in (1, 2, 3, 4))
        lines.append((by, str(sms), str(together), *cells))
    return markdown_of(("by", "SMs", "load the same", "1 in flight", "2", "3", "4"), lines)


def k_steps(found: MemorySystem) -> list[dict[str, Any]]:
    """The K-steps of `bench pipelining` in cycles: as measured, and by each term of the constants."""
    made = []
    for row in report("pipelining")["rows"]:
        problem = Problem(row["m"], row["n"], row["k"], tile=tuple(row["tile"]), dtype=row["dtype"])
        size, stages = problem.k_step_bytes, row["stages"]
        clock = row["sm_mhz"] / 1000  # cycles in a ns
        load = found.tile_latency["cp.async", "DRAM"].cycles(size)
        operands = (problem.m + problem.n) * problem.tile_k * DTYPE_BYTES[problem.dtype]
        cycles = {
            "measured": row["k_step_cycles"],
            "multiply": prod(problem.tile) / found.macs_per_clock[problem.dtype],
            "load": load,
            "over_stages": load / stages,
            "ahead": load / max(1, stages - 1),
            "asked": problem.tiles * size / found.read_gb_per_s["L2"] * clock,
            "fresh": operands / found.read_gb_per_s["DRAM"] * clock,
        }
        made.append({"stages": stages} | cycles)
    return made


def k_step_table(found: MemorySystem) -> str:
    names = ("measured", "multiply", "over_stages", "ahead", "asked", "fresh")
    lines = [(str(one["stages"]), *(f"{one[name]:,.0f}" for name in names)) for one in k_steps(found)]
    head = (
        "stages", "measured", "multiplication", "load / stages", "load / (stages − 1)", "asked of the L2",
        "out of DRAM",
    )  # fmt: skip
    return markdown_of(head, lines)


def line(found: TileLatency) -> str:
    return f"{found.base:,.0f} cycles, and one more for each {found.bytes_per_clock:.0f} bytes"


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    found, measured = MemorySystem.named("h200"), report("memory")
    near = [row for row in measured["hops"] if row["footprint"] <= found.near_l2_bytes]
    hops = {row["brought_by"]: row["cycles_p80"]["p50"] for row in near}
    beside = {(row["by"], row["tile"][1]): row["cycles"]["p50"] for row in measured["contention"]}
    share = {row["sms"]: row["bytes_per_clock"]["p50"] for row in measured["sharing"]}
    rows = k_steps(found)
    slower = [f"{100 * (1 - row['measured'] / row['multiply']):.0f}" for row in rows if row["stages"] > 2]
    return {
        "memory_latencies": latencies(found),
        "memory_bandwidths": bandwidths(found),
        "memory_merging": merging(),
        "memory_tile_loads": tile_loads(),
        "memory_k_steps": k_step_table(found),
        "memory_tlb": f"{found.tlb_cycles:.0f} cycles",
        "memory_far_hops": f"{hops['all SMs'] - hops['this SM']:.0f} cycles",
        "memory_sm_alone": f"{share[1]:.0f}",
        "memory_sm_of_half": f"{share[measured['sms'] // 2]:.0f}",
        "memory_sm_of_all": f"{share[measured['sms']]:.0f}",
        "memory_macs": ", ".join(f"{macs:,.0f} in {dtype}" for dtype, macs in found.macs_per_clock.items()),
        "memory_beside": f"{beside['tma', 256]:,.0f}",
        "memory_beside_most": f"{max(beside[by, 128] for by in ('tma', 'cp.async')):,.0f}",
        "memory_tma_l2": line(found.tile_latency["tma", "L2"]),
        "memory_tma_dram": line(found.tile_latency["tma", "DRAM"]),
        "memory_one_stage": f"{rows[0]['multiply'] + rows[0]['load']:,.0f}",
        "memory_above_multiply": f"{slower[-1].lstrip('-')} to {slower[0].lstrip('-')} %",
    }
