"""Device files with the costs of kernels that were measured on that device."""

from os import PathLike

from tilesim.devices import presets
from tilesim.errors import CostsError, DeviceError
from tilesim.kernel_costs.calibration import Calibration


def register(path: str | PathLike[str]) -> str:
    """Make the device of a file known, as `tilesim.devices.presets.register`, and check the costs in it, too.

    Raises DeviceError, naming the file, where it is no device or its costs are none.
    """
    name = presets.register(path)
    try:
        calibrations(name)
    except CostsError as error:
        presets.discard(name)
        raise DeviceError(f"{path}: {error}") from None
    return name


def calibrations(name: str) -> tuple[Calibration, ...]:
    """Those in the file of a device that was registered; raises CostsError where they are none.

    A file does not say on which device they were measured: on its own, whatever it is called.
    """
    costs = presets.registered()[name].get("costs", ())
    return tuple(Calibration.from_mapping(values, name) for values in costs)
