"""Calibration: the costs of one kernel, as fitted to its traces and as a costs file lists them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from tilesim.costs import Costs
from tilesim.devices.device import MAX_CTAS_PER_SM
from tilesim.devices.hardware import Hardware
from tilesim.errors import CostsError, shown, unknown, whole
from tilesim.problems import DTYPE_BYTES, MAX_SIZE
from tilesim.variants import Variant

NEEDED = ("schedule", "dtype", "tile", "ctas_per_sm", "costs")
OPTIONAL = ("kernel", "loads", "warps", "stages", "names", "unseen")
PROVENANCE = ("device", "origins", "tilesim")
"""What `tilesim calibrate` notes for people."""


class Kernel(NamedTuple):
    """What traces of one calibration have in common. `variant` is of a schedule without its parameters."""

    variant: Variant
    dtype: str
    tile: tuple[int, int, int]
    ctas_per_sm: int

    @property
    def resources(self) -> tuple[object, ...]:
        """What a thread block takes of its SM, and so leaves to another there."""
        variant = self.variant
        return variant.loads, variant.warps, variant.stages, self.dtype, self.tile, self.ctas_per_sm


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs fitted to the traces of one kernel.

    `names`: of the traces. `unseen`: costs that the traces do not show, taken from another kernel's or 0.
    """

    kernel: Kernel
    costs: Costs
    names: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What `--costs` and the shipped calibrations hold: of the costs, those that are not as `known`."""
        variant, *rest = self.kernel
        about = {name: getattr(variant, name) for name in VARIANT} | dict(zip(SIZE, rest, strict=True))
        usual = asdict(Costs(**known(self.costs.device, self.kernel.dtype, variant.stages))) | {"device": ""}
        costs = {name: value for name, value in asdict(self.costs).items() if value != usual[name]}
        return about | {"costs": costs, "names": self.names, "unseen": self.unseen}

    @classmethod
    def from_mapping(cls, values: object) -> "Calibration":
        """A calibration from parsed JSON.

        Raises CostsError where a field is missing, unknown, or of another type than `as_json` writes.
        """
        if not isinstance(values, Mapping) or not set(NEEDED) <= set(values):
            raise CostsError(
                f"a calibration is {shown(values)}; it must be an object with {', '.join(NEEDED)}"
            )
        for name in values:
            if name not in (*NEEDED, *OPTIONAL, *PROVENANCE):
                raise CostsError(unknown("field of a calibration", str(name), (*NEEDED, *OPTIONAL)))
        if not isinstance(values["costs"], Mapping):
            raise CostsError(
                f"the costs of a calibration are {shown(values['costs'])}; they must be an object"
            )
        stages = whole("stages of a calibration", values.get("stages", 0), 0, MAX_STAGES, CostsError)
        dtype = _words("dtype", values["dtype"])
        if dtype not in DTYPE_BYTES:
            raise CostsError(unknown("dtype", dtype, DTYPE_BYTES))
        named = dict(values["costs"])
        given = Costs.from_mapping({"k_step": 1.0} | named)  # its device is one that there is
        costs = Costs.from_mapping(known(given.device, dtype, stages) | named)
        variant = Variant(
            _words("schedule", values["schedule"]),
            _words("loads", values.get("loads", "")),
            costs.overlap,
            whole("warps of a calibration", values.get("warps", 0), 0, MAX_WARPS, CostsError),
            stages,
            _words("kernel", values.get("kernel", "")),
        )
        tile = values["tile"]
        if not isinstance(tile, list | tuple) or len(tile) != 3:
            raise CostsError(f"the tile of a calibration is {shown(tile)}; it must be three sizes")
        m, n, k = (whole("a size of a calibration's tile", size, 1, MAX_SIZE, CostsError) for size in tile)
        residents = whole(
            "ctas_per_sm of a calibration", values["ctas_per_sm"], 1, MAX_CTAS_PER_SM, CostsError
        )
        names, unseen = (_list_of_words(name, values.get(name, ())) for name in ("names", "unseen"))
        return cls(Kernel(variant, dtype, (m, n, k), residents), costs, names, unseen)


def known(device: str, dtype: str, stages: int) -> dict[str, Any]:
    """Costs that follow from the preset on which a kernel was measured, and from its stages."""
    if not device:
        return {"stages": stages}
    hardware = Hardware.named(device, dtype)
    return {
        "k_step": 0.0, "device": device, "stages": stages, "launch": hardware.launch_ns,
        "clock_mhz": hardware.clock_mhz,
    }  # fmt: skip


SIZE = ("dtype", "tile", "ctas_per_sm")
VARIANT = ("schedule", "kernel", "loads", "warps", "stages")
"""The fields of a Variant that files list; `overlap` is among the costs."""
MAX_WARPS, MAX_STAGES = 32, 64


def _words(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise CostsError(f"the {name} of a calibration is {shown(value)}; it must be words")
    return value


def _list_of_words(name: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple):
        raise CostsError(f"the {name} of a calibration are {shown(values)}; they must be a list of words")
    return tuple(_words(name, value) for value in values)
