"""choose: the kernels for a product, the fastest first, by the model of the machine."""

from math import log

from tilesim.choice.candidates import candidates
from tilesim.choice.estimate import Estimate, estimate
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.hardware import Hardware
from tilesim.errors import ChoiceError
from tilesim.gemm import kernel_of
from tilesim.products import Product

ALIKE = 1e-3
"""Estimates that differ by less are alike: measured times repeat no better."""


def choose(product: Product, device: Device, loads: str = "") -> list[Estimate]:
    """What the candidates take, the fastest first; of those that take as long, who has more SMs at work.

    `loads`: see `candidates`. Where a warp-specialized kernel can run, no other is ranked: of 143 times of
    three products in fp8 on an H200 none was faster. Raises ChoiceError where no kernel can compute the
    product, CostsError where the device has no rate of its dtype.
    """
    hardware = Hardware.named(device.name or REFERENCE, product.dtype)
    every = list(candidates(product, device, loads))
    best = [one for one in every if kernel_of(one).warp_specialized]
    found = [estimate(one, product, device, hardware) for one in best or every]
    if not found:
        raise ChoiceError(f"no kernel here computes {product} on {device.title}")
    return sorted(found, key=_rank)


def _rank(one: Estimate) -> tuple:
    config = one.config
    names = config.name, config.schedule, config.tile, config.order
    return round(log(one.ns) / ALIKE), -one.sms, -config.stages, *names, config.warps
