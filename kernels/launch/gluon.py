"""What kernels written in Gluon share: TMA descriptors in layouts of wgmma, when they are launched, flags."""

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


POOLED = 2**22
"""int32 of a GPU's pool, enough for some thousand captured launches."""

_left: dict[int, torch.Tensor] = {}
"""By the GPU's index: what of its pool no launch has."""


def flags(rows: int, columns: int) -> torch.Tensor:
    """Zeros on the current GPU that no other launch has: int32 [rows, columns]. Thread blocks wait for each
    other by them; they are zero before a launch, which leaves them so.

    What is allocated while a CUDA graph is captured would be set to zero at each replay, by a kernel of its
    own that takes as long as a small product. So captured launches get flags from a pool that was zeroed
    once, and each keeps its own for good, since nobody tells when a graph is gone.
    """
    here, size = torch.cuda.current_device(), rows * columns
    if torch.cuda.is_current_stream_capturing():
        left = _left.get(here)
        if left is not None and size <= len(left):
            _left[here] = left[size:]
            return left[:size].view(rows, columns)
    elif here not in _left:
        _left[here] = torch.zeros(POOLED, dtype=torch.int32, device="cuda")
    return torch.zeros(rows, columns, dtype=torch.int32, device="cuda")
