"""A kernel ladder to test with: plausible figures that nobody measured, as `tilesim bench ladder` writes."""

import json

STEPS = {
    "element": ("one thread block computes one element", 0.41, 9.0),
    "uncoalesced": ("one thread computes one element", 1.3, 2.1),
    "tiled": ("a block computes a tile with tensor cores", 388.0, 2.4),
    "grouped": ("tiles are visited in groups of 8 rows", 421.0, 1.3),
    "pipelined": ("loads run 3 K-steps ahead", 569.0, 1.3),
    "tma": ("a copy engine loads whole tiles", 612.0, 1.28),
    "persistent": ("one block for each SM loops over tiles", 604.0, 1.28),
    "overlapped": ("writes run under the next main loop", 661.0, 1.27),
    "warp-specialized": ("some warps load, others multiply", 683.0, 1.27),
    "ping-pong": ("two groups of warps take turns", 716.0, 1.26),
    "stream-k": ("blocks share the last wave's K-steps", 729.0, 1.42),
    "cublas": ("NVIDIA's library", 702.0, 1.3),
}
"""What each step changes, its TFLOP/s, and the bytes from and to DRAM as a multiple of the least."""


def row(number, name, size, **changes):
    """A row of a cube; `number` is None for the yardstick."""
    change, tflops, excess = STEPS[name]
    us = 2 * size**3 / tflops / 1e6
    made = {
        "step": number, "name": name, "change": change, "why": f"why {name}", "m": size, "n": size, "k": size,
        "tile": None if name == "cublas" else [128, 256, 64], "dtype": "bf16",
        "us": round(us, 4), "p20": round(0.99 * us, 4), "p80": round(1.02 * us, 4),
        "tflops": round(tflops, 1), "sm_mhz": 1700, "relative_error": 0.0017,
        "dram_bytes": round(excess * 6 * size**2),
        "l2_bytes": round(40 * excess * 6 * size**2), "bytes_from": "model" if number == 1 else "counters",
    }  # fmt: skip
    return made | changes


def values(sizes=(4096, 2048)):
    """The values of a ladder's file: all steps at 2048, all but the first at other sizes, out of order."""
    numbered = {name: number for number, name in enumerate(STEPS, 1)} | {"cublas": None}
    rows = [
        row(numbered[name], name, size)
        for size in sizes
        for name in reversed(STEPS)
        if name != "element" or size <= 2048
    ]
    machine = {"gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13.0", "torch": "2.11", "triton": "3.6"}
    return {
        "machine": machine | {"date": "2026-11-20"},
        "method": "a fixture of the tests; nobody measured it",
        "peak_tflops": {"datasheet": 989.4, "measured": 803.1},
        "bandwidth_gb_per_s": {"datasheet": 4800, "measured": 4290},
        "rows": rows,
    }


def write(path, **changes):
    """Write such a file and return its path as text."""
    path.write_text(json.dumps(values() | changes), "utf-8")
    return str(path)
