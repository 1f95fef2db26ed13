"""Calibration: the costs of one kernel, as fitted to its traces and as a costs file lists them."""

from dataclasses import asdict, dataclass
from os import PathLike
from typing import Annotated, Any, NamedTuple

from tilesim.costs import RENAMED, Costs, with_current_names
from tilesim.devices import files, presets
from tilesim.devices.device import MAX_CTAS_PER_SM
from tilesim.devices.hardware import Hardware
from tilesim.errors import CostsError, DeviceError
from tilesim.kernel_config import MAX_STAGES, MAX_WARPS, TABLE, KernelConfig
from tilesim.problems import Dtype, Size
from tilesim.storage.decode import between, decode


@dataclass(frozen=True, slots=True)
class Entry:
    """A calibration as a costs file lists it; `device`, `origins` and `tilesim` are notes for people."""

    schedule: str
    dtype: Dtype
    tile: tuple[Size, Size, Size]
    ctas_per_sm: Annotated[int, between(1, MAX_CTAS_PER_SM)]
    costs: dict[str, Any]
    kernel: str = ""
    loads: str = ""
    warps: Annotated[int, between(0, MAX_WARPS)] = 0
    stages: Annotated[int, between(0, MAX_STAGES)] = 0
    names: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    device: Any = None
    origins: Any = None
    tilesim: Any = None


class CalibratedKernel(NamedTuple):
    """What the traces of one calibration have in common; `config` has a schedule without its parameters, and
    always the same order."""

    config: KernelConfig
    dtype: str
    ctas_per_sm: int

    @property
    def resources(self) -> tuple[object, ...]:
        """What a thread block takes of its SM, and so leaves to another there."""
        config = self.config
        return config.loads, config.warps, config.stages, self.dtype, config.tile, self.ctas_per_sm

    def __str__(self) -> str:
        config = self.config
        driven, overlapped = "table-driven" * (config.kernel == TABLE), "overlapped" * config.overlap
        name = " ".join(filter(None, (config.schedule, driven, config.loads, overlapped)))
        return f"{name}, {self.dtype}, tile {'x'.join(map(str, config.tile))}, {self.ctas_per_sm} per SM"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs fitted to the traces of one kernel.

    `names`: of the traces. `unseen`: costs that the traces do not show, taken from another kernel's or 0.
    """

    kernel: CalibratedKernel
    costs: Costs
    names: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What `--costs` and the shipped calibrations hold: of the costs, those that are not as `known`."""
        config, dtype, residents = self.kernel
        about = {name: getattr(config, name) for name in LISTED}
        about |= {"dtype": dtype, "tile": config.tile, "ctas_per_sm": residents}
        usual = asdict(Costs(**known(self.costs.device, dtype, config.stages))) | {"device": ""}
        costs = {name: value for name, value in asdict(self.costs).items() if value != usual[name]}
        return about | {"costs": costs, "names": self.names, "unseen": self.unseen}

    @classmethod
    def from_mapping(cls, values: object, device: str = "") -> "Calibration":
        """A calibration from parsed JSON; a `device` counts over the one that its costs name.

        Raises CostsError where a field is missing, unknown, or of another type than `as_json` writes.
        """
        entry = decode(Entry, values, "a calibration", CostsError)
        named = with_current_names(entry.costs) | ({"device": device} if device else {})
        given = Costs.from_mapping({"k_step": 1.0} | named)  # its device is one that there is
        costs = Costs.from_mapping(known(given.device, entry.dtype, entry.stages) | named)
        config = KernelConfig.of_fields(asdict(entry) | {"order": "row-major", "overlap": costs.overlap})
        kernel = CalibratedKernel(config, entry.dtype, entry.ctas_per_sm)
        return cls(kernel, costs, entry.names, tuple(RENAMED.get(name, name) for name in entry.unseen))


def known(device: str, dtype: str, stages: int) -> dict[str, Any]:
    """Costs that follow from the preset on which a kernel was measured, and from its stages."""
    if not device:
        return {"stages": stages}
    hardware = Hardware.named(device, dtype)
    return {
        "k_step": 0.0, "device": device, "stages": stages, "launch": hardware.launch_ns,
        "clock_mhz": hardware.clock_mhz,
    }  # fmt: skip


LISTED = ("schedule", "kernel", "loads", "warps", "stages")
"""The fields of a configuration that files list beside the tile; `overlap` is among the costs."""


def register(path: str | PathLike[str]) -> str:
    """Make the device of a file known by the file's name, which is returned: "my-gpu" for my-gpu.json.

    One of a preset's name stands in for it until it is discarded. Raises DeviceError, naming the file, where
    it is no device or its costs are none.
    """
    name, entry = files.read(path)
    presets.add({name: entry})
    try:
        calibrations(name)
    except CostsError as error:
        presets.discard(name)
        raise DeviceError(f"{path}: {error}") from None
    return name


def calibrations(name: str) -> tuple[Calibration, ...]:
    """Those in the file of a device that was registered; raises CostsError where they are none."""
    costs = presets.registered()[name].get("costs", ())
    return tuple(Calibration.from_mapping(values, name) for values in costs)
