"""A device file from runs on a GPU: its facts, the constants that the runs show, and its kernels' costs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tilesim.calibration.calibrate import by_kernel, calibrations, one_device
from tilesim.calibration.constants import constants
from tilesim.devices.facts import published, values, with_derived
from tilesim.devices.files import checked
from tilesim.devices.presets import adding
from tilesim.errors import DeviceError
from tilesim.kernel_costs.calibration import Calibration
from tilesim.traces import Trace

PROBES = (1, 2)
"""Stages of kernels whose every K-step waits for its loads: recorded to show a latency, not to be used."""


def device_entry(
    name: str, base: Mapping[str, Any], traces: Mapping[str, Trace], measured: Mapping[str, float]
) -> tuple[dict[str, Any], list[Calibration], dict[str, Trace]]:
    """(the entry of a device file, its calibrations, the traces as of that device).

    `name`: that the device will have. `base`: an entry whose constants count as guesses. `traces`: by name.
    `measured`: facts of `tilesim bench memory`, taken as they are. Raises TraceError for traces of two
    devices, DeviceError where the facts lack something, do not fit the traces, or say what cannot be.
    """
    one_device(traces)
    entry = checked({**base, "facts": [*base.get("facts", ()), *_group("tilesim bench memory", measured)]})
    entry.pop("costs", None)
    known = values(with_derived(published(entry)))
    for run, trace in traces.items():
        if trace.device.sms != known["sms"]:
            raise DeviceError(f"{run} ran on {trace.device.sms} SMs, and the device has {known['sms']}")
    kernels = [(list(group.values()), kernel.config.stages) for kernel, group in by_kernel(traces).items()]
    found = constants(kernels, known, tuple(measured))
    note = _note(traces)
    entry = checked({**entry, "facts": [*entry["facts"], *_group("tilesim calibrate", found, note)]})
    with adding(name, entry):
        own = {  # as measured on the device, also where they are of a simulation
            run: replace(trace, device=replace(trace.device, name=name), origin="measured")
            for run, trace in traces.items()
        }
        fitted = [one for one in calibrations(own) if one.kernel.config.stages not in PROBES]
        return {**entry, "costs": [_listed(one) for one in fitted]}, fitted, own


def _listed(one: Calibration) -> dict[str, Any]:
    """A calibration as a device file has it, which does not say on which device it was measured."""
    values = one.as_json()
    return values | {"costs": {name: cost for name, cost in values["costs"].items() if name != "device"}}


def _group(source: str, found: Mapping[str, float], note: str = "") -> Sequence[Mapping[str, Any]]:
    about = {"source": source} | ({"note": note} if note else {})
    return [{**about, **found}] if found else []


def _note(traces: Mapping[str, Trace]) -> str:
    dates = sorted({str(date) for trace in traces.values() if (date := trace.meta.get("date"))})
    first = next(iter(traces.values()))
    gpu = first.gpu or first.device.title
    days = f", {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else ""
    return f"fitted to {len(traces)} runs on {gpu}{days}"
