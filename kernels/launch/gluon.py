"""What kernels written in Gluon share: TMA descriptors in wgmma's layouts, and when they are launched."""

import torch
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tilesim.choice.sharing import dependent_launch
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.hardware import Hardware
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..errors import KernelError
from .here import INTERPRETED, limits, no_tma

DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16, torch.float8_e4m3fn: gl.float8e4nv}
"""wgmma takes 16-bit operands in either major order; fp8 must lie along K."""


def shared_bytes_here(config: KernelConfig, product: Product) -> int:
    """Shared memory that a thread block can have on this GPU.

    Raises KernelError where Triton interprets, without a GPU, and for operands that TMA cannot load.
    """
    if INTERPRETED:
        raise KernelError(f"{config.kernel} is written in Gluon, which Triton's interpreter cannot run")
    if config.loads != "tma" or (why := no_tma(product)):
        reason = why if config.loads == "tma" else "these operands it cannot load"
        raise KernelError(f"{config.kernel} loads by TMA alone, and {reason}")
    here = limits()
    if here is None:
        raise KernelError(f"{config.kernel} needs an NVIDIA GPU, and there is none")
    return here.shared_bytes()


def uses_dependent_launch(config: KernelConfig, product: Product, device: Device) -> bool:
    """Whether it is launched while its predecessor ends; see tilesim.choice.sharing."""
    return dependent_launch(config, product, device, Hardware.named(device.name or REFERENCE, product.dtype))


def descriptor(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """A TMA descriptor of x in boxes [rows, columns], in the layout that wgmma reads."""
    return TensorDescriptor.from_tensor(
        x, block, gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    )
