"""Tables and figures of measured kernels, made from the files that ship in tilesim/data."""

from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Any

from tilesim.cli.output.tables import filled, markdown, markdown_of
from tilesim.devices.device import Device
from tilesim.devices.presets import presets
from tilesim.ideas.pipelining import k_step, times
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.reports import kernel_times, report
from tilesim.problems import Problem

DATA = Path(__file__).parents[2] / "tilesim" / "data"
DATASHEET = presets()["h200"]["peak_tflops"]["bf16"]
SHORT = Problem(4096, 4096, 512, order="grouped:8")
RACE = {
    "naive-ptr": "naive, pointer loads",
    "naive-tma": "naive, TMA loads",
    "persistent-tma": "persistent, TMA loads, no overlap",
    "persistent-tma-overlap": "persistent, TMA loads, overlapped",
    "cublas": "cuBLAS",
}
PLANNED = ("persistent", "stream-k", "stream-k-hybrid", "persistent-dynamic")

SPREAD = "p20 to p80 {p20:.2f} to {p80:.2f}"

Row = dict[str, Any]


def by_size(rows: Iterable[Row]) -> dict[str, dict[str, Row]]:
    """The rows by size and kernel, in the order of the file."""
    sizes: dict[str, dict[str, Row]] = {}
    for row in rows:
        sizes.setdefault(f"{row['m']} × {row['n']} × {row['k']}", {})[row["kernel"]] = row
    return sizes


def race(problem: Problem) -> dict[str, Row]:
    """The kernels of the race for `problem` on an H200, by name."""
    rows = kernel_times(problem, {"gpu": "NVIDIA H200"})
    return {kernel: dict(rows[kernel]) for kernel in RACE}


def race_table() -> str:
    rows = [row | {"name": RACE[kernel]} for kernel, row in race(SHORT).items()]
    head = "4096 × 4096 × 512, bf16, tile 128 × 256 × 64, grouped:8"
    return markdown(rows, f"{head} {{name}} | kernel time {{us:.2f}} µs | {SPREAD}")


def planned_times() -> dict[tuple[int, int, int], dict[str, float]]:
    """µs by size, then by kernel; `table:NAME` is the plan of a schedule, run by the table-driven kernel."""
    times: dict[tuple[int, int, int], dict[str, float]] = {}
    for row in report("planned")["rows"]:
        times.setdefault((row["m"], row["n"], row["k"]), {})[row["kernel"]] = row["us"]
    return times


def planned_table() -> str:
    kernels = ("persistent-tma-overlap", *(f"table:{name}" for name in PLANNED), "cublas")
    lines = []
    for size, us in planned_times().items():
        tiles = Problem(*size).tiles
        shape = (
            f"{' × '.join(map(str, size))} ({tiles} tiles, {tiles / Device.named('h200').slots:.2f} waves)"
        )
        lines.append((shape, *(f"{us[kernel]:.1f}" for kernel in kernels)))
    head = (
        "M × N × K, grouped:8",
        "persistent, own kernel",
        *(f"{name}, table-driven" for name in PLANNED),
        "cuBLAS",
    )
    return markdown_of(head, lines)


def peak() -> float:
    """TFLOP/s of the largest torch.mm of the same run."""
    return max(row["tflops"] for row in report("library")["rows"] if row["kernel"] == "cublas")


def ratios(kernel: str) -> list[float]:
    """How many times as fast as cuBLAS a kernel is, by size."""
    return [
        kinds["cublas"]["us"] / kinds[kernel]["us"] for kinds in by_size(report("library")["rows"]).values()
    ]


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return prod(values) ** (1 / len(values))


def library() -> str:
    head = ("M × N × K", "kernel", "µs", "p20 to p80", "TFLOP/s", "of peak", "of datasheet", "× cuBLAS",
            "× torch.compile", "× Triton's persistent", "error")  # fmt: skip
    lines = []
    for size, kinds in by_size(report("library")["rows"]).items():
        one = kinds["tuned"]
        kernel = one["schedule"] if one["variant"].startswith("table") else one["variant"]
        others = [kinds[name]["us"] / one["us"] for name in
                  ("cublas", "torch.compile", "persistent-tma-overlap-split")]  # fmt: skip
        spread = f"{one['p20']:.2f} to {one['p80']:.2f}"
        lines.append(
            (size, kernel, f"{one['us']:.2f}", spread, f"{one['tflops']:.0f}",
             f"{100 * one['tflops'] / peak():.0f} %", f"{100 * one['tflops'] / DATASHEET:.0f} %",
             *(f"{ratio:.3f}" for ratio in others), f"{one['relative_error']:.1e}")
        )  # fmt: skip
    return markdown_of(head, lines)


def with_host() -> str:
    names = ("tuned", "matmul", "cublas", "torch.compile")
    lines = [
        (size, *(f"{kinds[name]['host_us']:.0f}" for name in names))
        for size, kinds in by_size(report("library")["rows"]).items()
    ]
    return markdown_of(("M × N × K", "the kernel alone", "`matmul`", "cuBLAS", "torch.compile"), lines)


def ladder(m: int, n: int, k: int) -> str:
    rows = [row for row in report("ladder")["rows"] if (row["m"], row["n"], row["k"]) == (m, n, k)]
    columns = f"step {{name}} | what it changes {{change}} | µs {{us:.2f}} | {SPREAD}"
    return markdown(rows, columns + " | TFLOP/s {tflops:.1f} | DRAM MB {dram_bytes:.0f/1e6}")


def sums() -> str:
    return markdown(
        [row for row in report("reductions")["rows"] if row["n"] == 2**28],
        "2^28 values {name} | µs {us:.1f} | p20 to p80 {p20:.1f} to {p80:.1f} | GB/s {gb_per_s:.0f}"
        " | of a copy {share_of_copy:.0f/0.01} %",
    )


def coalescing() -> str:
    found = report("coalescing")
    heads = ("ms", "p20 to p80", "TFLOP/s", "roofline", "at most", "DRAM GB", "sectors a load")
    article = ("the article, on its GPU", "{ms:.2f}", "", "{tflops:.4f}", "", "", "", "")
    lines = [[cell.format_map(found["article"]) for cell in article]]
    cells = (
        "{kernel}, {dtype}", "{us:.2f/1000}", "{p20:.2f/1000} to {p80:.2f/1000}", "{tflops:.1f}", "{bound}",
        "{limit_tflops:.0f}", "{dram_bytes:.1f/1e9}", "{sectors_per_request:.0f}",
    )  # fmt: skip
    lines += [[filled(cell, row) for cell in cells] for row in found["rows"]]
    return markdown_of(("kernel", *heads), lines)


def pipelining() -> str:
    rows = report("pipelining")["rows"]
    load, multiply = times({row["stages"]: row["k_step_ns"] for row in rows})
    return markdown(
        [row | {"model_ns": k_step(row["stages"], load, multiply)} for row in rows],
        "stages | µs {us:.1f} | TFLOP/s {tflops:.0f} | K-step, ns {k_step_ns:,.0f}"
        " | by the model, ns {model_ns:,.0f}",
    )


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    row_major, us = race(Problem(4096, 4096, 512)), planned_times()
    naive, plain, under = (row_major[name]["us"] for name in list(RACE)[1:4])
    own = [one["table:naive"] / one["naive-tma"] - 1 for one in us.values()]
    short, long = us[1408, 3840, 4096], us[4096, 4352, 4096]

    def less(times: dict[str, float], name: str) -> str:
        return f"{100 * (1 - times[f'table:{name}'] / times['table:persistent']):.0f} %"

    sizes, tuned = by_size(report("library")["rows"]), ratios("tuned")
    hard, small = sizes["4096 × 4096 × 4096"], sizes["1024 × 1024 × 1024"]
    layers = [r["cublas_us"] / r["us"] for r in report("tuned")["rows"] if r["layout"] in ("nt", "tn")]
    loads = {(r["kernel"], r["dtype"]): r["us"] for r in report("coalescing")["rows"]}
    costs = default_costs("persistent", SHORT, Device.named("h200"))
    return {
        "race_table": race_table(),
        "row_major_change": f"{plain - naive:.1f} µs",
        "row_major_overlap": f"{plain - under:.1f} µs",
        "under_write": f"{costs.epilogue_overlap_penalty / 1000:.1f} µs",
        "planned_table": planned_table(),
        "planned_naive_slower": f"{100 * min(own):.0f} to {100 * max(own):.0f} %",
        "stream_k_less_short": less(short, "stream-k"),
        "stream_k_less_long": less(long, "stream-k"),
        "hybrid_less_long": less(long, "stream-k-hybrid"),
        "ladder_table": ladder(4096, 4096, 4096),
        "library_table": library(),
        "library_mean": f"{mean(tuned):.3f}",
        "library_least": f"{min(tuned):.3f}",
        "mhz_tuned": f"{hard['tuned']['sm_mhz']:,} MHz",
        "mhz_cublas": f"{hard['cublas']['sm_mhz']:,} MHz",
        "mhz_highest": f"{max(row['sm_mhz'] for row in report('ladder')['rows']):,} MHz",
        "with_host_table": with_host(),
        "small_us": f"{small['tuned']['us']:.1f} µs",
        "small_host_us": f"{min(row['host_us'] for row in small.values()):.0f} µs",
        "layers": f"{min(layers):.3f} to {max(layers):.3f}",
        "coalescing_table": coalescing(),
        "pipelining_table": pipelining(),
        "coalescing_gain": f"{loads['uncoalesced', 'fp32'] / loads['coalesced', 'fp32']:.1f}",
        "sums_table": sums(),
    }
