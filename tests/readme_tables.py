"""The README's tables of measured kernels, made from the files that ship; the test of the README compares.

Printed by: python tests/readme_tables.py
"""

import json
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Any

from tilesim.devices import presets

DATA = Path(__file__).parents[1] / "tilesim" / "data"
DATASHEET = presets()["h200"]["peak_tflops"]["bf16"]

Row = dict[str, Any]


def read(folder: str) -> dict[str, Any]:
    return json.loads((DATA / folder / "h200.json").read_text("utf-8"))


def by_size(rows: Iterable[Row]) -> dict[str, dict[str, Row]]:
    """The rows by size and kernel, in the order of the file."""
    sizes: dict[str, dict[str, Row]] = {}
    for row in rows:
        sizes.setdefault(f"{row['m']} × {row['n']} × {row['k']}", {})[row["kernel"]] = row
    return sizes


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """Markdown, the first column to the left."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *lines)]


def peak() -> float:
    """TFLOP/s of the largest torch.mm of the same run."""
    return max(row["tflops"] for row in read("library")["rows"] if row["kernel"] == "cublas")


def ratios(kernel: str) -> list[float]:
    """How many times as fast as cuBLAS a kernel is, by size."""
    return [
        kinds["cublas"]["us"] / kinds[kernel]["us"] for kinds in by_size(read("library")["rows"]).values()
    ]


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return prod(values) ** (1 / len(values))


def library() -> list[str]:
    head = ("M × N × K", "kernel", "µs", "p20 to p80", "TFLOP/s", "of peak", "of datasheet", "× cuBLAS",
            "× torch.compile", "× Triton's persistent", "error")  # fmt: skip
    lines = []
    for size, kinds in by_size(read("library")["rows"]).items():
        one = kinds["tuned"]
        kernel = one["schedule"] if one["variant"].startswith("planned") else one["variant"]
        others = [kinds[name]["us"] / one["us"] for name in
                  ("cublas", "torch.compile", "persistent-tma-overlap-split")]  # fmt: skip
        spread = f"{one['p20']:.2f} to {one['p80']:.2f}"
        lines.append(
            (size, kernel, f"{one['us']:.2f}", spread, f"{one['tflops']:.0f}",
             f"{100 * one['tflops'] / peak():.0f} %", f"{100 * one['tflops'] / DATASHEET:.0f} %",
             *(f"{ratio:.3f}" for ratio in others), f"{one['relative_error']:.1e}")
        )  # fmt: skip
    return table(head, lines)


def with_host() -> list[str]:
    names = ("tuned", "matmul", "cublas", "torch.compile")
    lines = [
        (size, *(f"{kinds[name]['host_us']:.0f}" for name in names))
        for size, kinds in by_size(read("library")["rows"]).items()
    ]
    return table(("M × N × K", "the kernel alone", "`matmul`", "cuBLAS", "torch.compile"), lines)


def rungs(m: int, n: int, k: int) -> list[str]:
    report = read("ladder")
    lines = [
        (row["name"], row["change"], f"{row['us']:.2f}", f"{row['p20']:.2f} to {row['p80']:.2f}",
         f"{row['tflops']:.1f}", f"{row['dram_bytes'] / 1e6:.0f}")
        for row in report["rows"]
        if (row["m"], row["n"], row["k"]) == (m, n, k)
    ]  # fmt: skip
    return table(("step", "what it changes", "µs", "p20 to p80", "TFLOP/s", "DRAM MB"), lines)


def sums() -> list[str]:
    lines = [
        (row["name"], f"{row['us']:.1f}", f"{row['p20']:.1f} to {row['p80']:.1f}", f"{row['gb_per_s']:.0f}",
         f"{100 * row['share_of_copy']:.0f} %")
        for row in read("reductions")["rows"]
        if row["n"] == 2**28
    ]  # fmt: skip
    return table(("2^28 values", "µs", "p20 to p80", "GB/s", "of a copy"), lines)


def article() -> list[str]:
    report = read("coalescing")
    known = report["article"]
    lines = [("the article, on its GPU", f"{known['ms']:.2f}", "", f"{known['tflops']:.4f}", "", "", "", "")]
    lines += [
        (f"{row['kernel']}, {row['dtype']}", f"{row['us'] / 1000:.2f}",
         f"{row['p20'] / 1000:.2f} to {row['p80'] / 1000:.2f}", f"{row['tflops']:.1f}", row["bound"],
         f"{row['limit_tflops']:.0f}", f"{row['dram_bytes'] / 1e9:.1f}", f"{row['sectors_per_request']:.0f}")
        for row in report["rows"]
    ]  # fmt: skip
    head = ("kernel", "ms", "p20 to p80", "TFLOP/s", "roofline", "at most", "DRAM GB", "sectors a load")
    return table(head, lines)


TABLES = {
    "library": library, "with host": with_host, "sums": sums, "article": article,
    "rungs": lambda: rungs(4096, 4096, 4096),
}  # fmt: skip

if __name__ == "__main__":
    for name, made in TABLES.items():
        print(f"{name}:", *made(), sep="\n", end="\n\n")
