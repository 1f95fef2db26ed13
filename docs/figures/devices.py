"""The devices that are known by name, with the source of each one's figures."""

from figures.kernels import table
from tilesim.devices import presets


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    lines = []
    for name, preset in presets().items():
        peaks = ", ".join(f"{dtype} {figure:g}" for dtype, figure in preset["peak_tflops"].items())
        memory = f"{preset['memory_gb_per_s']:,}"
        lines.append((f"`{name}`", preset["title"], preset["source"], str(preset["sms"]), memory, peaks))
    head = ("name", "device", "source", "SMs", "memory, GB/s", "dense peak, TFLOP/s")
    return {"devices_table": table(head, lines, left=3)}
