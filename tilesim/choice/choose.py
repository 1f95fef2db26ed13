"""choose: the kernels for a product, the fastest first, by the model of the machine."""

from math import log

from tilesim.choice.candidates import candidates
from tilesim.choice.estimate import Estimate, estimate
from tilesim.choice.kernels import WARP_SPECIALISED
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.hardware import Hardware
from tilesim.errors import ChoiceError
from tilesim.problems import Problem

ALIKE = 1e-3
"""Estimates that differ by less are alike: measured times repeat no better."""


def choose(problem: Problem, device: Device, layout: str = "nn", loads: str = "") -> list[Estimate]:
    """What the candidates take, the fastest first; of those that take as long, who has more SMs at work.

    `problem`: its sizes and dtype; its tile and order count nothing. `layout` and `loads`: see `candidates`.
    A device without a name is so many SMs of an H200.

    Raises ChoiceError where no kernel can compute the product, CostsError where the device has no rate of its
    dtype.
    """
    hardware = Hardware.named(device.name or REFERENCE, problem.dtype)
    every = list(candidates(problem, device, layout, loads))
    best = [one for one in every if one.variant.kernel in WARP_SPECIALISED]
    found = [estimate(one, device, hardware, layout) for one in best or every]
    if not found:
        raise ChoiceError(
            f"no kernel here computes {problem.m}x{problem.n}x{problem.k} in {problem.dtype}"
            f" on {device.title}"
        )
    return sorted(found, key=_rank)


def _rank(one: Estimate) -> tuple:
    """Its place: the time in steps of ALIKE, the SMs at work, and then its names, so that it is the same in
    whatever order candidates come."""
    variant, problem = one.candidate.variant, one.candidate.problem
    names = variant.name, variant.schedule, problem.tile, problem.order
    return round(log(one.ns) / ALIKE), -one.sms, -variant.stages, *names, variant.warps
