"""sm_order: which SM gets which thread block of a launch that fills the GPU.

The groups of SMs are found twice. From the orders: SMs that come one after the other in every launch belong
together. And from clusters (sm_90 and later), whose blocks share a GPC: launches of more clusters than fit,
of uneven length, so that the clusters mix, join what belongs together.
"""

import time
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from tilesim.devices.facts import fill_order
from tilesim.devices.presets import presets

from ..errors import KernelError
from ..measure.machine import device, measuring
from ..probes.spin import blocks, launch, shared_kb, stamp_buffer

WARPS = 8
CYCLES = 20_000
PAUSE_S = 0.05
CLUSTER = 4
"""Thread blocks a cluster; the smallest GPC of an H200 is left out of clusters of 16."""

LAUNCHED = ("cold", "back to back", "after a full GPU")
"""What is between two launches: a pause, nothing, or a kernel of 16 blocks for each SM of uneven length."""

METHOD = (
    f"launches of one or two blocks for each SM that spin {CYCLES} cycles; cold: after {1000 * PAUSE_S:g} ms"
    " without work; after a full GPU: right after a kernel of 16 blocks for each SM of uneven length; alike:"
    " launches in the most frequent order; explained: launches that fill_order gives from tiers and first,"
    f" the SM that each tier begins with; gpcs: SMs joined by clusters of {CLUSTER}"
)


@measuring
def sm_order(launches: int = 200) -> dict[str, Any]:
    """The order in which this machine's GPU fills its SMs: "device" (the preset's name, or ""), "tiers" (of
    groups of SMs, by the orders), "as_preset" (whether the preset says the same, None where it says nothing),
    "gpcs" (by clusters) and "rows": launched, blocks_per_sm, launches, alike, explained, and first, a list of
    [SM that each tier began with, launches]. Raises KernelError, too, where the blocks did not spread over
    all SMs evenly."""
    here = device(1)
    kinds = [(launched, each) for each in (1, 2) for launched in LAUNCHED]
    seen = {kind: _launches(here.sms, *kind, launches) for kind in kinds}
    orders = {kind: [places(run["sm"], here.sms) for run in runs] for kind, runs in seen.items()}
    found = tiers([place for runs in orders.values() for run in runs for place in run])
    known = presets()[here.name].get("sm_tiers") if here.name else None
    rows = [
        {"launched": launched, "blocks_per_sm": each} | tally(runs, known or found)
        for (launched, each), runs in orders.items()
    ]
    return {
        "method": METHOD,
        "device": here.name,
        "tiers": found,
        "as_preset": None if known is None else found == known,
        "gpcs": _gpcs(here.sms),
        "rows": rows,
    }


def _launches(sms: int, launched: str, each: int, launches: int) -> np.ndarray:
    """The stamps of `launches` launches of `each` blocks for each SM: BLOCK [launches, each * sms]."""
    kb = (shared_kb() + 1) // each - 1
    stamps = stamp_buffer(launches, each * sms, WARPS)
    launch(stamps[0], CYCLES, 0, kb)  # compiles
    stamps[0] = 0
    full = stamp_buffer(1, 16 * sms, WARPS)[0]
    for run in stamps:
        if launched == "cold":
            torch.cuda.synchronize()
            time.sleep(PAUSE_S)
        elif launched == "after a full GPU":
            launch(full, CYCLES // 2, CYCLES // 2 - 1000, 48)
        launch(run, CYCLES, 0, kb)
    return blocks(stamps)


def _gpcs(sms: int) -> list[list[int]]:
    """The SMs that clusters join; empty on a GPU without clusters."""
    if torch.cuda.get_device_capability() < (9, 0):
        return []
    stamps = stamp_buffer(20, 16 * sms // CLUSTER * CLUSTER, 32)
    for run in stamps:
        launch(run, CYCLES // 2, CYCLES // 2, 0, CLUSTER)
    return joined(blocks(stamps)["sm"].reshape(-1, CLUSTER))


def joined(clusters: np.ndarray) -> list[list[int]]:
    """The SMs that clusters [clusters, blocks] join, directly or through others: groups of two or more."""
    group: dict[int, set[int]] = {}
    for cluster in np.unique(np.sort(clusters, axis=1), axis=0).tolist():
        together = set().union(*(group.get(sm, {sm}) for sm in cluster))
        group |= dict.fromkeys(together, together)
    return sorted(sorted(sms) for first, sms in group.items() if first == min(sms) and len(sms) > 1)


def places(order: np.ndarray, sms: int) -> list[list[int]]:
    """The SMs in the order of their first blocks, of their second blocks, and so on. Raises KernelError where
    an SM got more blocks than another."""
    each = len(order) // sms
    if (np.bincount(order, minlength=sms) != each).any():
        used = len(set(order.tolist()))
        raise KernelError(f"{len(order)} thread blocks should fill {sms} SMs evenly, and went to {used}")
    found: list[list[int]] = [[] for _ in range(each)]
    had: Counter[int] = Counter()
    for sm in order.tolist():
        found[had[sm]].append(sm)
        had[sm] += 1
    return found


def tiers(orders: list[list[int]]) -> list[list[list[int]]]:
    """Tiers of groups of SMs that explain `orders`, as far as so many orders can tell them apart. A group:
    SMs that follow each other in every order. A tier: groups that come before all others in every order; it
    begins with the group that has its lowest SM."""
    follows = set.intersection(*(set(pairwise(order)) for order in orders))
    heads = set(orders[0]) - {b for _, b in follows}
    made: list[list[list[int]]] = [[]]
    for i, sm in enumerate(orders[0]):
        if sm not in heads:
            made[-1][-1].append(sm)
            continue
        if i and all(set(order[:i]) == set(orders[0][:i]) for order in orders):
            made.append([])
        made[-1].append([sm])
    return [_from_lowest(groups) for groups in made]


def _from_lowest(groups: list[list[int]]) -> list[list[int]]:
    first = min(range(len(groups)), key=lambda i: min(groups[i]))
    return groups[first:] + groups[:first]


def begins(order: list[int], model: list[list[list[int]]]) -> tuple[int, ...] | None:
    """The SM that each tier of `model` begins with in `order`; None where it cannot give that order."""
    sizes = [sum(map(len, groups)) for groups in model]
    if sum(sizes) != len(order):
        return None
    first = tuple(order[sum(sizes[:i])] for i in range(len(sizes)))
    if any(sm not in [group[0] for group in groups] for sm, groups in zip(first, model, strict=True)):
        return None
    return first if fill_order(model, first) == tuple(order) else None


def tally(runs: list[list[list[int]]], model: list[list[list[int]]]) -> dict[str, Any]:
    """How alike launches are, by their `places`, and how many `model` explains: all places begin alike."""
    alike = Counter(tuple(map(tuple, run)) for run in runs)
    starts = Counter(
        None if len(s := {begins(place, model) for place in run}) > 1 else s.pop() for run in runs
    )
    first = [[list(sms), count] for sms, count in starts.most_common() if sms is not None]
    return {
        "launches": len(runs),
        "alike": max(alike.values()),
        "explained": len(runs) - starts[None],
        "first": first,
    }
