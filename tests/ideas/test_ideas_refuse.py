"""What no idea can be asked: each bad input is refused in a sentence that names it."""

import numpy as np
import pytest

from tilesim import Problem
from tilesim.analysis.memory_system import MemorySystem
from tilesim.errors import TilesimError
from tilesim.ideas import (
    coalescing,
    divergence,
    fusion,
    l2_order,
    latency_hiding,
    launch_latency,
    loop_unrolling,
    pipelining,
    reduction,
    thread_indexing,
    tiling_hierarchy,
    warp_specialization,
)  # fmt: skip


def tiled(warps, **changes):
    return tiling_hierarchy.levels(Problem(4096, 4096, 4096, **changes), warps)


def times(**changes):
    return warp_specialization.Times(**{"latency": 1, "k_step": 1, "write": 1} | changes)


def timeline(**changes):
    return warp_specialization.timeline(times(), **{"tiles": 2, "k_steps": 2, "stages": 2} | changes)


REFUSED = [
    (lambda: coalescing.moved(coalescing.strided(4), 3), "3 bytes at once"),
    (lambda: coalescing.moved(coalescing.strided(4), 16), "4 is not a multiple of the 16 bytes"),
    (lambda: coalescing.strided(-4), "the stride is -4"),
    (lambda: coalescing.strided(4, threads=33), "the number of threads is 33"),
    (lambda: divergence.branch([0] * 33, [1]), "a warp has 1 to 32 lanes; got 33"),
    (lambda: divergence.branch([2], [1, 1]), "a lane's way is 2"),
    (lambda: divergence.branch([0], [-1]), "the length of a way is -1"),
    (lambda: divergence.loop([-1], 1), "a lane's number of turns is -1"),
    (lambda: divergence.alternating(33), "the number of ways is 33"),
    (lambda: fusion.Chain(0, 1, 1), "elements is 0"),
    (lambda: fusion.Chain(1, 0, 1), "functions is 0"),
    (lambda: fusion.Chain(1, 2, 3), "the number of kernels is 3; it must be a whole number from 1 to 2"),
    (lambda: fusion.Memory(0, 1, 1, 1, 1), "gb_per_s is 0; it must be a number above 0"),
    (lambda: fusion.Memory(1, 1, 1, 1, -1), "launch_us is -1; it must be a number from 0"),
    (lambda: fusion.most_registers(0, 1, 1, 1), "the rate is 0"),
    (lambda: l2_order.blocks(np.array([0, -1]), 9, 9), "nonnegative integers"),
    (lambda: l2_order.blocks(np.array([[0]]), 9, 9), "must be a list"),
    (lambda: l2_order.blocks(np.array([0]), 0, 9), "the number of tiles in a row is 0"),
    (lambda: latency_hiding.throughput(0, 700, 100), "the number of warps is 0"),
    (lambda: latency_hiding.throughput(1, 0, 1), "the latency is 0"),
    (lambda: latency_hiding.wait(1, 700, 701), "the interval is 701"),
    (lambda: latency_hiding.in_flight(-1.0, 700), "the rate is -1.0"),
    (lambda: latency_hiding.of_memory(MemorySystem.named("h200"), 0, 1), "the size of a request is 0"),
    (lambda: launch_latency.timeline(0, 1, 1, 1), "the number of kernels is 0"),
    (lambda: launch_latency.timeline(1, -1, 1, 1), "the kernel's time is -1"),
    (lambda: launch_latency.each(1, 1.5, 1), "the call's time is 1.5"),
    (lambda: launch_latency.hides(1, -2), "the gap is -2"),
    (lambda: loop_unrolling.instructions(0, 2, 6), "the factor is 0"),
    (lambda: loop_unrolling.instructions(1, -2, 6), "instructions is -2; it must be a number from 0"),
    (lambda: loop_unrolling.in_flight(1, 65, 132), "the number of warps is 65"),
    (lambda: loop_unrolling.rate_of_bursts(0, 350, 4600), "the bytes in flight is 0; it must be above 0"),
    (lambda: loop_unrolling.rate(1, 0, 4600), "the latency is 0; it must be above 0"),
    (lambda: loop_unrolling.cycles(0, 1), "the number of chains is 0"),
    (lambda: loop_unrolling.flights(0, 1, 100), "the number of loads is 0"),
    (lambda: pipelining.pipeline(0, 1, 1, 1), "the number of K-steps is 0"),
    (lambda: pipelining.pipeline(1, 0, 1, 1), "the number of stages is 0"),
    (lambda: pipelining.pipeline(1, 1, -1, 1), "the time of a load is -1"),
    (lambda: pipelining.times({2: 5.0, 3: 4.0}), "1 stage and more are needed"),
    (lambda: pipelining.times({1: 5.0, 2: 5.0}), "must be faster"),
    (lambda: reduction.interleaved(16), "the threads of a block is 16; it must be a whole number from 32"),
    (lambda: reduction.sequential(96), "the threads of a block are 96; they must be a power of two"),
    (lambda: reduction.work(reduction.interleaved(), 0), "the blocks of input that are added is 0"),
    (lambda: reduction.blocks(0), "the number of values is 0"),
    (lambda: thread_indexing.Launch((0, 1), (1, 1)), r"grid\[0\] is 0"),
    (lambda: thread_indexing.Launch((1, 1), (64, 32)), "a block of 2048 threads is too large"),
    (lambda: thread_indexing.Launch((2**10, 2**10), (32, 32)), "threads are too many"),
    (lambda: thread_indexing.warps(np.arange(40)), "40 threads are not a whole number of warps"),
    (lambda: tiled(8, dtype="fp32"), "wgmma does not multiply fp32"),
    (lambda: tiled(6), "6 warps are not whole warp groups"),
    (lambda: tiled(8, tile=(100, 256, 64)), "2 warp groups cannot split a tile of 100x256"),
    (lambda: tiled(8, tile=(256, 256, 64)), "take 256 registers in each of 256 threads"),
    (lambda: tiled(8, tile=(128, 256, 512)), "takes 384 KiB of shared memory"),
    (lambda: tiled(8, tile=(128, 256, 40)), "a K-step of 40 is not a multiple of the 16 of a wgmma"),
    (lambda: times(k_step=0), "k_step"),
    (lambda: times(write=1.5), "write"),
    (lambda: timeline(tiles=0), "tiles is 0"),
    (lambda: timeline(k_steps=2**20), "K-steps"),
    (lambda: timeline(stages=0), "stages is 0"),
    (lambda: timeline(groups=2, producer=False), "groups of consumers is 2"),
]


@pytest.mark.parametrize(("call", "says"), REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(call, says):
    with pytest.raises(TilesimError, match=says):
        call()
