"""The devices that are known by name, what each one's constants are, and where they are from."""

import json
from pathlib import Path

from tilesim.calibration.constants import LEAST_SURE
from tilesim.calibration.suite import suite
from tilesim.cli.output.tables import markdown_of
from tilesim.devices.facts import Fact, sources, values
from tilesim.devices.presets import badge, facts, presets

CONSTANTS = {
    "max_sm_mhz": "SM clock, MHz",
    "l2_mb": "L2, MB",
    "l2_gb_per_s": "L2, GB/s",
    "dram_read_gb_per_s": "DRAM read, GB/s",
    "shared_latency": "shared memory, cycles",
    "l2_latency": "L2, cycles",
    "dram_latency": "DRAM, cycles",
    "launch_cycles": "launch, cycles",
}
TRIAL = Path(__file__).parents[2] / "benchmarks" / "device_file.json"
DTYPES = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8")


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    lines, constants = [], []
    for name, preset in presets().items():
        peaks = [f"{preset['peak_tflops'][one]:g}" if one in preset["peak_tflops"] else "" for one in DTYPES]
        lines.append(
            (f"`{name}`", preset["title"], str(preset["sms"]), f"{preset['memory_gb_per_s']:,}", *peaks)
        )
        known = facts(name)
        constants.append((f"`{name}`", *[_cell(known[one]) for one in CONSTANTS], badge(name)))
    listed = sources().values()
    return {
        "devices_table": markdown_of(("name", "device", "SMs", "memory, GB/s", *DTYPES), lines),
        "devices_constants": markdown_of(("name", *CONSTANTS.values(), "badge"), constants),
        "suite_runs": str(len(suite(values(facts("h200"))))),
        "suite_sure": f"{100 * LEAST_SURE:.0f} %",
        "suite_trial": _trial(),
        "devices_sources": "\n".join(
            f"- {_linked(one.title, one.address)}, {one.publisher} {one.year}" for one in listed
        ),
    }


def _trial() -> str:
    """How true the device file of an H200 was to the runs that ship as held out."""
    found = json.loads(TRIAL.read_text("utf-8"))
    own, ship = found["own"], found["shipped"]
    return (
        f"Of the {found['held_out']} held-out runs of other H200s it is off by {own['median']} % in the"
        f" median, {own['mean']} % in the mean and {own['most']} % at most, in cycles; what ships, by"
        f" {ship['median']} %, {ship['mean']} % and {ship['most']} %."
    )


def _cell(fact: Fact) -> str:
    """A value; in brackets where it was derived, with a question mark where it could not be checked."""
    return f"({fact.value:,.0f})" if fact.rule else f"{fact.value:,.0f}{'?' * fact.unverified}"


def _linked(title: str, address: str) -> str:
    if address.startswith("https://"):
        return f"[{title}]({address})"
    return f"{title}: `{address}`" if address else title
