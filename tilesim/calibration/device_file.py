"""A device file from runs on a GPU: its facts, the constants that the runs show, and its kernels' costs."""

from collections.abc import Mapping
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
    facts = list(base.get("facts", ()))
    if measured:
        facts.append({"source": "tilesim bench memory", **measured})
    entry = checked({**base, "facts": facts, "costs": []})
    known = values(with_derived(published(entry)))
    for run, trace in traces.items():
        if trace.device.sms != known["sms"]:
            raise DeviceError(f"{run} ran on {trace.device.sms} SMs, and the device has {known['sms']}")
    kernels = [(list(group.values()), kernel.config.stages) for kernel, group in by_kernel(traces).items()]
    found = constants(kernels, known, tuple(measured))
    if found:
        facts.append({"source": "tilesim calibrate", "note": _note(traces), **found})
    entry = checked(entry)
    with adding(name, entry):
        own = {  # as measured on the device, also where they are of a simulation
            run: replace(trace, device=replace(trace.device, name=name), origin="measured")
            for run, trace in traces.items()
        }
        fitted = [one for one in calibrations(own) if one.kernel.config.stages not in PROBES]
        costs = [one.as_json() for one in fitted]
    for one in costs:
        one["costs"].pop("device", None)  # that is what the file is of
    return entry | {"costs": costs}, fitted, own


def _note(traces: Mapping[str, Trace]) -> str:
    dates = sorted({str(date) for trace in traces.values() if (date := trace.meta.get("date"))})
    first = next(iter(traces.values()))
    gpu = first.gpu or first.device.title
    days = f", {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else ""
    return f"fitted to {len(traces)} runs on {gpu}{days}"
