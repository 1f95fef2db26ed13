"""What the kernels can do on this machine, and what makes up for what they cannot."""

from collections.abc import Sequence
from dataclasses import replace

import torch
import triton
import triton.language as tl

from tilesim.devices.gpus import features_of
from tilesim.gemm.fit import Limits, why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import TMA_BYTES, Product

from ..errors import KernelError
from .operands import RESULTS, lines

INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)
"""Whether Triton interprets kernels instead of compiling them."""


def limits() -> Limits | None:
    """Those of the current GPU; None without one, and where Triton interprets."""
    if INTERPRETED or not torch.cuda.is_available():
        return None
    here, (major, minor) = torch.cuda.get_device_properties(), torch.cuda.get_device_capability()
    shared = here.shared_memory_per_block_optin, here.shared_memory_per_multiprocessor
    return Limits(*shared, features_of(f"{major}.{minor}"))


def check(config: KernelConfig, product: Product) -> None:
    """Raise KernelError, with the reason, unless a kernel can compute a product so on this machine."""
    why = why_not(config, product, limits())
    if not why and product.dtype == "fp8" and not INTERPRETED and torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability()
        if (major, minor) < (8, 9):  # CUDA C++ Programming Guide
            name = torch.cuda.get_device_name()
            why = f"{name} is sm_{major}{minor}, which cannot multiply fp8; that came with sm_89"
    if why:
        raise KernelError(why)


def on_this_machine(
    config: KernelConfig, product: Product, operands: Sequence[torch.Tensor] = ()
) -> tuple[KernelConfig, str]:
    """(what can run here, why it is not `config`, or ""). `operands`: A and B, if they are not dense."""
    why = no_tma(product, operands) if config.loads == "tma" else ""
    return (replace(config, loads="ptr"), why) if why else (config, "")


def no_tma(product: Product, operands: Sequence[torch.Tensor] = ()) -> str:
    """Why TMA cannot load and store this product's matrices here; empty where it can."""
    if not operands and product.misaligned:
        return product.misaligned
    stride = product.n * RESULTS[product.dtype].itemsize
    if stride % TMA_BYTES:
        return f"N = {product.n} makes rows of {stride} bytes, and TMA needs a multiple of {TMA_BYTES}"
    for name, x in zip("AB", operands, strict=False):
        view, _ = lines(x) or (x, False)
        stride = view.stride(0) * view.element_size()
        if stride % TMA_BYTES or view.stride(0) < view.shape[1]:
            return f"{name}'s lines begin {stride} bytes apart, and TMA needs a multiple of {TMA_BYTES}"
        if view.data_ptr() % TMA_BYTES:
            return f"{name}'s address is no multiple of {TMA_BYTES} bytes, and TMA needs one"
    found = limits()
    if found and "tma" not in found.features:
        return f"{torch.cuda.get_device_name()} has no TMA, which came with sm_90"
    return ""
