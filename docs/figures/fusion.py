"""What a chain of functions took on an H200, beside the model."""

from tilesim.cli.output.tables import markdown_of
from tilesim.devices.presets import presets
from tilesim.ideas.fusion import Chain, Memory, fitted, time_us
from tilesim.ladder.reports import report

LARGE, SMALL = 2**26, 2**21
KERNELS = ("eager", "torch.compile", "fused")


def memory() -> Memory:
    """Launch and DRAM's rate as the report shows them, the rest as published."""
    h200 = presets()["h200"]
    published = h200["l2_gb_per_s"], int(h200["l2_mb"] * 1e6), h200["peak_tflops"]["fp32"]
    return fitted(report("fusion")["rows"], *published)


def times(elements: int) -> dict[tuple[str, int], float]:
    """µs by kernel and functions."""
    rows = report("fusion")["rows"]
    return {(row["kernel"], row["functions"]): row["us"] for row in rows if row["elements"] == elements}


def chains(elements: int, lengths: tuple[int, ...]) -> str:
    us, lines = times(elements), []
    for count in lengths:
        kernels = [count, 1] if ("eager", count) in us else [1]
        model = [f"{time_us(Chain(elements, count, number), memory()):,.1f}" for number in kernels]
        measured = [f"{us[name, count]:,.1f}" if (name, count) in us else "" for name in KERNELS]
        lines.append((f"{count:,}", *measured, *[""] * (2 - len(model)), *model))
    head = (
        "functions",
        "a kernel each, µs",
        "torch.compile",
        "one kernel",
        "each, by the model",
        "one, by it",
    )
    return markdown_of(head, lines)


def products() -> str:
    rows = report("fusion")["products"]
    us = {(row["kernel"], row["k"]): row["us"] for row in rows}
    names = {
        "eager": "cuBLAS, then two kernels",
        "torch.compile": "torch.compile",
        "separate": "tilesim's product, then the same two",
        "fused": "tilesim's, both in its epilogue",
    }
    shapes = dict.fromkeys((row["m"], row["n"], row["k"]) for row in rows)
    lines = [(said, *(f"{us[name, k]:.1f}" for _, _, k in shapes)) for name, said in names.items()]
    return markdown_of(
        ("bias and relu after a product, µs", *(f"{m} × {n} × {k}" for m, n, k in shapes)), lines
    )


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    rows = {(row["kernel"], row["elements"], row["functions"]): row for row in report("fusion")["rows"]}
    moved = {key: row.get("dram_read_bytes", 0) + row.get("dram_write_bytes", 0) for key, row in rows.items()}
    far, near = times(LARGE), times(SMALL)

    def host(name: str) -> str:
        return f"{rows[name, SMALL, 8]['host_us']:.0f} µs"

    return {
        "fusion_far_table": chains(LARGE, (1, 2, 4, 8, 64, 128, 256, 1024)),
        "fusion_near_table": chains(SMALL, (1, 2, 4, 8)),
        "fusion_products_table": products(),
        "fusion_gain": f"{far['eager', 8] / far['fused', 8]:.1f}",
        "fusion_saved": f"{moved['eager', LARGE, 8] / moved['fused', LARGE, 8]:.1f}",
        "fusion_near_gain": f"{near['eager', 8] / near['fused', 8]:.1f}",
        "fusion_near_mb": f"{moved['eager', SMALL, 8] / 1e6:.1f} MB",
        "fusion_host_eager": host("eager"),
        "fusion_host_compiled": host("torch.compile"),
        "fusion_host_fused": host("fused"),
        "fusion_kernel": f"{far['eager', 1]:.0f} µs",
        # A lone addition or multiplication takes the time of both.
        "fusion_arithmetic": f"{2 * Chain(LARGE, 1, 1).flops / memory().tflops / 1e6:.0f}",
    }
