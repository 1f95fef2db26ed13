"""Calibration: the costs of a kernel, as fitted, as a file lists them, and for another tile, dtype or GPU."""

from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Annotated, Any, NamedTuple

from tilesim.costs import MAX_JITTER, RENAMED, Costs, with_current_names
from tilesim.devices import files, presets
from tilesim.devices.device import MAX_CTAS_PER_SM
from tilesim.devices.hardware import Hardware
from tilesim.errors import CostsError, DeviceError
from tilesim.kernel_config import MAX_STAGES, MAX_WARPS, TABLE, KernelConfig
from tilesim.problems import DTYPE_BYTES, Dtype, Problem, Size
from tilesim.storage.decode import between, decode
from tilesim.storage.files import read_json

BY_BYTES = ("epilogue", "epilogue_serialisation", "epilogue_overlap_penalty")
"""Costs of writing C: proportional to the bytes of its tile."""
BY_AREA = ("partial", "merge", "fixup")
"""Costs of accumulators, which are fp32 whatever the dtype: proportional to the elements of a tile."""
SCALED = "; scaled from "
"""What stands in the source of costs before the tiles that they were measured with, if those are others."""


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
    """What the traces of a calibration share; its `config` has no parameters of a schedule, and one order."""

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
    name = files.name_of(path)
    presets.add({name: read_json(path, DeviceError, files.checked)})
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


def extrapolated(costs: Costs) -> str:
    """What costs were measured with instead: other tiles or another dtype, or another GPU; "" if neither."""
    tiles = costs.source.partition(SCALED)[2].partition(";")[0]
    return tiles or ("another GPU" if costs.scaled_to else "")


def for_problem(one: Calibration, problem: Problem, peak_tflops: dict[str, float]) -> Costs:
    """The costs of `one` for the tile and dtype of `problem`; `peak_tflops` by dtype, of the same GPU.

    A K-step that is given is proportional to its multiplications over the peak rate of the dtype. Writing C
    goes by the bytes of its tile, partials by its elements. The jitter is such that a tile's stays.
    """
    (m, n, k), dtype, costs = one.kernel.config.tile, one.kernel.dtype, one.costs
    if ((m, n, k), dtype) == (problem.tile, problem.dtype):
        return costs
    rate = peak_tflops[dtype] / peak_tflops[problem.dtype] if dtype != problem.dtype else 1.0
    area = problem.tile_m * problem.tile_n / (m * n)
    size = area * DTYPE_BYTES[problem.dtype] / DTYPE_BYTES[dtype]
    return replace(
        costs,
        k_step=costs.k_step * rate * problem.tile_m * problem.tile_n * problem.tile_k / (m * n * k),
        jitter=min(costs.jitter * (k / problem.tile_k) ** 0.5, MAX_JITTER),
        source=f"{costs.source}{SCALED}{dtype} tiles of {m}x{n}x{k}",
        **_times(costs, BY_BYTES, size),
        **_times(costs, BY_AREA, area),
    )


def for_device(costs: Costs, problem: Problem, name: str) -> Costs:
    """`costs`, measured on another GPU for this tile and dtype, as overheads on the preset `name`.

    K-steps are what its hardware takes, as much slower than tensor cores as before. Writing goes by the
    datasheet's memory bandwidth per SM; latencies stay. Raises CostsError for an unknown rate of the dtype.
    """
    own, new = (Hardware.named(each, problem.dtype) for each in (costs.device, name))
    preset, measured_on = presets.presets()[name], presets.presets()[costs.device]
    per_sm, other = (each["memory_gb_per_s"] / each["sms"] for each in (preset, measured_on))
    words = (
        f"{measured_on['short']} overheads on {presets.in_words(name)}, K-steps as its hardware takes them"
    )
    return replace(
        costs,
        k_step=costs.k_step * new.peak_ns(problem) / own.peak_ns(problem),
        launch=new.launch_ns,
        clock_mhz=new.clock_mhz,
        scaled_to=name,
        source=f"{words}; {costs.source}",
        **_times(costs, (*BY_BYTES, *BY_AREA), other / per_sm),
    )


def _times(costs: Costs, names: tuple[str, ...], factor: float) -> dict[str, Any]:
    """Those of the costs `names` that are given, times `factor`, in ns."""
    return {name: round(ns * factor) for name in names if (ns := getattr(costs, name)) is not None}
