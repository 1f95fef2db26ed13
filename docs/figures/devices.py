"""The devices that are known by name, with the source of each one's figures."""

from figures.kernels import table
from tilesim.devices import presets

DTYPES = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8")


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    lines = []
    for name, preset in presets().items():
        peaks = [f"{preset['peak_tflops'][one]:g}" if one in preset["peak_tflops"] else "" for one in DTYPES]
        lines.append(
            (f"`{name}`", preset["title"], str(preset["sms"]), f"{preset['memory_gb_per_s']:,}", *peaks)
        )
    return {
        "devices_table": table(("name", "device", "SMs", "memory, GB/s", *DTYPES), lines, left=2),
        "devices_sources": "\n".join(f"- `{name}`: {preset['source']}" for name, preset in presets().items()),
    }
