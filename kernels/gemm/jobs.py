"""From a kernel and a product to launches."""

from importlib import import_module

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..launch.here import check
from ..launch.job import Job


def job(
    config: KernelConfig, product: Product, device: Device, memory: str = "cuda", concurrent: bool = False
) -> Job:
    """The job of a kernel on `device`; `memory` is "cuda" or, for the interpreter, "cpu".

    The kernel's module in kernels/gemm makes it. All launches of a job share one workspace and must follow
    one another. With `concurrent` each launcher has a workspace of its own, so that launches of two may run
    at once, and `check` sees none of them.

    Raises ScheduleError or PlanError where the schedule makes no plan that ends on this device's slots,
    KernelError where the kernel cannot compute the product so, or what the plan needs does not fit into the
    GPU's memory.
    """
    check(config, product)
    module = import_module(f".{config.kernel.replace('-', '_')}", __package__)
    return module.job(config, product, device, memory, concurrent)
