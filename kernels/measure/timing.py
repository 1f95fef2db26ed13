"""Kernel time by graph replay.

A graph, which takes the host out of the figure, holds a rotation: one launch per operand set, back to back,
and the sets together exceed the L2; a sample is the mean over the rotation. Before each sample other memory
is read through the L2, which also gives the host the time to queue the sample. The graphs to compare are
replayed in turn, so that what the GPU's clock does meets them alike. After each sample the GPU rests: without
a pause an H200 reaches its power limit and lowers its clock, and after long kernels some samples come out 6 %
slower (a fifth of them at 5 times the sample, 0.2 % at half).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import ArrayLike

from ..errors import KernelError
from ..launch.here import INTERPRETED

T = TypeVar("T")

REST = 0.5
"""How many times as long as a sample took the GPU rests after it."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """A captured graph of `launches`, which it keeps alive; `before` and `after` are not timed."""

    graph: torch.cuda.CUDAGraph
    launches: Sequence[Callable[[], object]]
    before: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None


def require_gpu() -> None:
    """Raise KernelError unless there is an NVIDIA GPU that PyTorch can use."""
    if torch.version.cuda is None or not torch.cuda.is_available():
        raise KernelError(f"PyTorch {torch.__version__} finds no NVIDIA GPU here, and measuring needs one")
    if INTERPRETED:
        raise KernelError("TRITON_INTERPRET is set, and an interpreter has nothing to measure; unset it")


@contextmanager
def working_gpu() -> Iterator[None]:
    """Raise KernelError, in one sentence, where the GPU fails or is lost during the work inside."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as failed:
        reason = str(failed).partition("\n")[0]
        if "CUDA" not in reason:
            raise
        raise KernelError(
            f"the GPU failed during the measurement ({reason}); nothing of it is kept"
        ) from None


def capture(launches: Sequence[Callable[[], object]]) -> torch.cuda.CUDAGraph:
    """One graph of all launches; each runs once before, so that it is compiled."""
    for launch in launches:
        launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for launch in launches:
            launch()
    return graph


@triton.jit
def read_clocks(out):
    """out: int64 [SMs, 2]; each block writes the cycles and ns of the SM it runs on."""
    sm = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    cycles = tl.inline_asm_elementwise(
        "mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1
    )
    tl.store(out + 2 * sm, cycles)
    tl.store(out + 2 * sm + 1, tl.extra.cuda.globaltimer())


class SMClocks:
    """How fast the SMs' clocks run from `note(0)` to `note(1)`, each of which takes its turn on the GPU."""

    def __init__(self) -> None:
        sms = torch.cuda.get_device_properties().multi_processor_count
        self.reads = torch.zeros(2, sms, 2, dtype=torch.int64, device="cuda")
        self.read = read_clocks[(8 * sms,)]  # so many that each SM gets one at least

    def note(self, which: int) -> None:
        self.read(self.reads[which], num_warps=1)

    def mhz(self) -> float:
        """The median over the SMs."""
        cycles, ns = np.diff(self.reads.cpu().numpy(), axis=0)[0].T
        return 1000 * float(np.median(cycles / ns))


def sample(
    rotations: Mapping[str, Rotation], warmup: int, samples: int, mhz: dict[str, np.ndarray] | None = None
) -> dict[str, np.ndarray]:
    """µs per launch of each rotation, float64 [samples], after `warmup` untimed rounds of all. `mhz` gets how
    fast the SMs' clocks ran during each sample, in the same form."""
    clocks, l2_bytes = SMClocks(), torch.cuda.get_device_properties().L2_cache_size
    sweep = torch.zeros(l2_bytes, dtype=torch.float32, device="cuda")  # four times the L2
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    us = {name: np.empty(samples) for name in rotations}
    if mhz is not None:
        mhz.update({name: np.empty(samples) for name in rotations})
    for turn in range(-warmup, samples):
        for name, rotation in rotations.items():
            rotation.before()
            sweep.sum()  # reading leaves nothing to write back during the sample
            if mhz is not None:
                clocks.note(0)
            begin.record()
            rotation.graph.replay()
            end.record()
            if mhz is not None:
                clocks.note(1)
            end.synchronize()
            ms = begin.elapsed_time(end)
            if turn >= 0:
                us[name][turn] = ms * 1000 / len(rotation.launches)
                if mhz is not None:
                    mhz[name][turn] = clocks.mhz()
                rotation.after()
            time.sleep(REST * ms / 1000)
    return us


def host_us(launches: Sequence[Callable[[], object]], samples: int) -> float:
    """The median µs per launch where the host launches one by one, as programs do, of at most 20 samples."""
    us = []
    for turn in range(-3, min(samples, 20)):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for launch in launches:
            launch()
        torch.cuda.synchronize()
        took = time.perf_counter() - began
        if turn >= 0:
            us.append(took * 1e6 / len(launches))
        time.sleep(REST * took)
    return spread(us)["us"]


def spread(values: ArrayLike, median: str = "us", decimals: int | None = 3) -> dict[str, float]:
    """The median of samples, by the name `median`, with p20 and p80; without `decimals`, to five digits.

    >>> spread([1.0, 2.0, 4.0]), spread([1.0, 2.0, 4.00001], "cycles", None)
    ({'us': 2.0, 'p20': 1.4, 'p80': 3.2}, {'cycles': 2.0, 'p20': 1.4, 'p80': 3.2})
    """
    found = dict(zip((median, "p20", "p80"), np.quantile(values, (0.5, 0.2, 0.8)).tolist(), strict=True))
    if decimals is None:
        return {name: float(f"{value:.5g}") for name, value in found.items()}
    return {name: round(value, decimals) for name, value in found.items()}


def replayed(
    contenders: Mapping[str, Sequence[Callable[[], object]]], warmup: int, samples: int
) -> dict[str, dict[str, float]]:
    """The spread of the µs of each contender, whose launches fill a CUDA graph of its own."""
    rotations = {name: Rotation(capture(each), each) for name, each in contenders.items()}
    return {name: spread(us) for name, us in sample(rotations, warmup, samples).items()}


def in_turns(cases: Iterable[Callable[[], T]], turns: int) -> list[list[T]]:
    """What each case returns, called `turns` times in turn with the others, after once for nothing."""
    each = list(cases)
    called = [[case() for case in each] for _ in range(turns + 1)]
    return [list(found) for found in zip(*called[1:], strict=True)]


def method(launches: str, contenders: str) -> str:
    """How `sample` times what `contenders` are called, for a report; `launches` fill a CUDA graph."""
    return (
        f"CUDA graph of {launches}; a sample is the mean of one replay; {contenders} take turns; before"
        f" each sample the L2 is filled with other data, after it the GPU rests {REST:g} times as long as it"
        " worked"
    )
