"""latency_hiding: y = a * x + y by 1 to 32 warps of an SM, by threads of the host, and a product's K-steps.

Each warp of the GPU waits for what it asked before it asks again (see kernels.ideas.axpy). The vectors come
out of DRAM. Once an SM has the memory for itself, once all SMs work alike.
"""

from typing import Any

import numpy as np
import torch

from tilesim.problems import Problem

from ..errors import KernelError
from ..ideas.axpy import ASKED, VALUES, WARPS, cycles, launch, vectors
from ..launch.operands import gpu_memory
from ..measure.host import axpy_by_threads
from ..measure.machine import measuring
from ..measure.record import record
from ..measure.timing import spread
from ..microbenchmarks.cases import flush_l2, sms
from .pipelining import k_step

A = 1.5
ROUNDS = 64
FROM, SHOWN = 28, 6
"""Rounds of a warp whose stamps are kept, from where the median warp begins round FROM."""

PRODUCT = Problem(1536, 2816, 4096, tile=(128, 128, 64), order="grouped:8")
"""264 tiles: on 132 SMs each gets two, at once or one after the other."""
BLOCKS = ((1, 3), (2, 3), (1, 6))
"""Thread blocks an SM, and the stages of each."""

METHOD = (
    "y = a * x + y in fp32, {rounds} rounds of each warp, 16 bytes of x and of y a thread in a round, out of"
    " DRAM: other data, four times the L2, is read before each launch; a warp waits for both before it stores"
    " and asks again; one block of {warps} warps an SM, of which some leave at once; y is compared with an"
    " exact sum first; cases take turns, {repeats} times; cycles: of an SM from its first warp's begin to its"
    " last warp's end, by the elements of that SM, median over SMs; wait: from a warp's question to its"
    " answer, over all rounds, warps and SMs, in launches that stamp each round; lanes: {shown}"
    " requests of each warp of the SM whose waits are then nearest to the mean of all, cycles from when its"
    " median warp began round {first}; blocks: a persistent kernel's main loops, as `tilesim record` stamps"
    " them"
)


@measuring
def latency_hiding(repeats: int = 9) -> dict[str, Any]:
    """Time warps, host threads and thread blocks, in JSON values: "machine", "method", "repeats", "sms",
    "rows", "lanes", "host" and "blocks".

    A row per SMs at work (1 or all) and warps: sms, warps, cycles (an element; p20, p50, p80 over repeats),
    bytes_per_clock (asked and stored, by the median), wait (cycles, p20, p50, p80). Lanes, where all SMs
    work: sms, warps, asked and came, cycles [warps][requests]. Host: see kernels.measure.host. Blocks:
    blocks, stages, and what a K-step takes each of them, k_step_ns and k_step_cycles.
    """
    random = torch.Generator("cuda").manual_seed(0)
    cases = [(blocks, warps) for blocks in (1, sms()) for warps in range(1, WARPS + 1)]
    took: dict[tuple[int, int], list[float]] = {case: [] for case in cases}
    waited: dict[tuple[int, int], np.ndarray] = {}
    lanes = []
    for turn in range(repeats):
        for case in cases:
            x, y = vectors(*case, ROUNDS, random)
            if turn == 0:
                waited[case], kept = _stamped(x, y)
                if case[0] == sms():
                    lanes.append({"sms": case[0], "warps": case[1]} | kept)
            took[case].append(_timed(x, y))
    with gpu_memory(PRODUCT):
        steps = [_blocks(*each) for each in BLOCKS]
    method = METHOD.format(rounds=ROUNDS, warps=WARPS, repeats=repeats, first=FROM, shown=SHOWN)
    return {
        "method": method,
        "repeats": repeats,
        "sms": sms(),
        "rows": [row(*case, np.array(took[case]), waited[case]) for case in cases],
        "lanes": lanes,
        "host": axpy_by_threads(repeats),
        "blocks": steps,
    }


def row(blocks: int, warps: int, took: np.ndarray, waited: np.ndarray) -> dict[str, Any]:
    """What there is to say of a case: `took`, cycles an element of each repeat; `waited`, cycles of rounds.

    >>> row(1, 2, np.array([4.0, 4.0, 4.0]), np.array([700, 700]))["bytes_per_clock"]
    3.0
    """
    per_element = 1.5 * ASKED / VALUES
    return {
        "sms": blocks,
        "warps": warps,
        "cycles": spread(took, "p50", 4),
        "bytes_per_clock": round(float(per_element / np.median(took)), 3),
        "wait": spread(waited, "p50", 1),
    }


def window(asked: np.ndarray, came: np.ndarray, since: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(asked, came) of `count` requests of each warp, cycles from `since` on: int64 [warps, count].

    The first of them is under way then, or the next to be asked. Of a block's int64 [warps, rounds].

    >>> asked = np.array([[0, 100, 200, 300], [50, 250, 450, 650]])
    >>> window(asked, asked + 90, since=220, count=2)[0].tolist()
    [[-20, 80], [30, 230]]
    """
    first = np.minimum((came <= since).sum(axis=1), came.shape[1] - count)
    rounds = first[:, None] + np.arange(count)
    shown = (np.take_along_axis(times, rounds, axis=1) - since for times in (asked, came))
    return next(shown), next(shown)


def nearest(waits: list[np.ndarray], mean: float) -> int:
    """Whose waits have a mean that is nearest to a mean.

    >>> nearest([np.array([5, 5]), np.array([7, 6]), np.array([8, 9])], mean=6.7)
    1
    """
    return int(np.argmin([abs(one.mean() - mean) for one in waits]))


def _timed(x: torch.Tensor, y: torch.Tensor) -> float:
    """Cycles an element of one launch."""
    flush_l2()
    ends, _ = launch(x, y, A)
    _, _, warps, _ = x.shape
    return float(np.median(cycles(ends.cpu().numpy()))) / (ROUNDS * warps * VALUES)


def _stamped(x: torch.Tensor, y: torch.Tensor) -> tuple[np.ndarray, dict[str, Any]]:
    """(the wait of each round, the lanes to show) of one launch whose sums are checked."""
    right = A * x.double() + y.double()
    flush_l2()
    ends, stamps = launch(x, y, A, stamped=True)
    if not torch.equal(y.double(), right):
        raise KernelError(f"{x.shape[2]} warps of {x.shape[1]} SMs got a * x + y wrong, so none was timed")
    cycles(ends.cpu().numpy())
    asked, came = np.moveaxis(stamps.cpu().numpy(), -1, 0)
    if (came <= asked).any():
        raise KernelError("a clock of this GPU stopped or went backwards while warps ran")
    each = [
        window(*block, since=int(np.median(block[0][:, FROM])), count=SHOWN)
        for block in zip(asked, came, strict=True)
    ]
    waits = came - asked
    shown = each[nearest([end - begin for begin, end in each], waits.mean())]
    return waits.ravel(), {name: one.tolist() for name, one in zip(("asked", "came"), shown, strict=True)}


def _blocks(blocks: int, stages: int) -> dict[str, Any]:
    """What a K-step takes each of some thread blocks on an SM."""
    trace = record("persistent", PRODUCT, warps=4, stages=stages, ctas_per_sm=blocks)
    return {"blocks": blocks, "stages": stages} | k_step(trace)
