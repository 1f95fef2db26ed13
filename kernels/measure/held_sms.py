"""SMs that another kernel holds while one is measured: thread blocks that only spin, on a stream of their
own, with all the shared memory that a block can have. They stamp their SM, their begin and their end, so
that a recorded launch can show that it stayed away from them.
"""

import time

import numpy as np
import torch
import triton

from ..errors import KernelError
from ..gemm.stamps import WORDS
from ..probes.spin import blocks, launch, shared_kb, stamp_buffer

MOST_US = 500_000
"""The longest that SMs are held; the spinning kernel counts cycles with 32 bits."""


class HeldSMs:
    """`count` SMs, each time held for `us` µs at least. KernelError for all SMs, or longer than MOST_US."""

    def __init__(self, count: int, us: float) -> None:
        sms = torch.cuda.get_device_properties().multi_processor_count
        if not 0 < count < sms:
            raise KernelError(f"{count} of {sms} SMs cannot be held; at least one must be held, and one free")
        if us > MOST_US:
            raise KernelError(
                f"SMs would have to be held for {us / 1000:.0f} ms, and {MOST_US // 1000} ms are the most;"
                " take a smaller product or hold fewer"
            )
        driver = triton.runtime.driver.active.utils
        khz = driver.get_device_properties(torch.cuda.current_device())["sm_clock_rate"]
        self.cycles = int(us * khz / 1000)
        self.stream = torch.cuda.Stream()
        self.ended = torch.cuda.Event()
        self.stamps = stamp_buffer(1, count, warps=4)
        launch(self.stamps[0], 1, kb=shared_kb())  # so that it is compiled
        torch.cuda.synchronize()

    def hold(self) -> None:
        """Hold the SMs, as soon as those held before are free; returns when they are held."""
        torch.cuda.synchronize()
        with torch.cuda.stream(self.stream):
            self.stamps.zero_()
            launch(self.stamps[0], self.cycles, kb=shared_kb())
            self.ended.record()
        time.sleep(300e-6)  # some 30 times what a launch takes

    def check(self) -> None:
        """Raise KernelError unless the SMs are held still."""
        if self.ended.query():
            raise KernelError("the SMs that were to be held were free again before the kernel was done")

    def blocks(self) -> np.ndarray:
        """What the spinning blocks stamped, a row each: BLOCK [count]. Waits until they end."""
        self.stream.synchronize()
        return blocks(self.stamps)[0]


def hold_us(rotation_us: float, count: int) -> float:
    """How long to hold `count` SMs for a rotation that takes so many µs on all of this GPU. A schedule that
    counts on all SMs takes a wave more for each time that the free ones go into all; twice that, and two
    milliseconds for what the host does and for the memory that is read in between."""
    sms = torch.cuda.get_device_properties().multi_processor_count
    waves = -(-sms // max(1, sms - count))
    return 2000 + 2 * (waves + 1) * rotation_us + 500 * (waves - 1)


def check_apart(stamps: np.ndarray, held: np.ndarray) -> None:
    """Raise KernelError unless launches ran beside the blocks that held SMs, and on none of their SMs.
    `stamps`: int64 [launches, rows, WORDS], see `gemm.stamps`; `held`: BLOCK [SMs held]."""
    rows = stamps.reshape(-1, WORDS)
    shared = np.intersect1d(rows[:, 1], held["sm"])
    if shared.size:
        raise KernelError(f"a tile ran on SM {shared[0]}, which another kernel was to hold")
    entry = np.where(rows[:, 8] > 0, rows[:, 8], rows[:, 2])
    begin, end = int(entry.min() - held["begin_ns"].max()), int(held["end_ns"].min() - rows[:, 6].max())
    if begin < 0:
        raise KernelError(f"the SMs were held from {-begin} ns after the kernel's begin")
    if end < 0:
        raise KernelError(f"the SMs were free {-end} ns before the kernel's end")
