"""The record of a microbenchmark's thread block: its SM, begin and end by two clocks, and a checksum."""

from dataclasses import dataclass

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from ..probes.spin import clocks

WORDS = 6
"""int64 per thread block: SM, begin (cycles, ns), end (cycles, ns), checksum."""

# Triton 3.6 has the long name, Triton 3.7 the short one.
block_barrier = getattr(gl, "barrier", None) or gl.thread_barrier


@gluon.jit
def stamp(stamps, begin, begin_ns, checksum):
    """Write this thread block's row of stamps, int64 [blocks, WORDS], with the current time as its end."""
    end, end_ns = clocks()
    sm = gl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=gl.int32, is_pure=False, pack=1)
    row = stamps + 6 * (gl.program_id(1) * gl.num_programs(0) + gl.program_id(0))
    gl.store(row, sm.to(gl.int64))
    gl.store(row + 1, begin)
    gl.store(row + 2, begin_ns)
    gl.store(row + 3, end)
    gl.store(row + 4, end_ns)
    gl.store(row + 5, checksum.to(gl.int64))


def sum_of_rounds(rounds: list[int], steps: int, together: int) -> int:
    """The sum of what `together` blocks read in so many steps, of which each round has the sums `rounds`."""
    times, rest = divmod(steps, len(rounds))
    return together * (times * sum(rounds) + sum(rounds[:rest]))


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch, from the stamps of its thread blocks. `ns`: first begin to last end. `cycles`: the same on an
    SM, the median over SMs. `sm_mhz`: the SM clock, 0 if the timer did not advance. `residents`: thread
    blocks of the fullest SM. `checksum`: the sum over blocks."""

    ns: int
    cycles: float
    sm_mhz: float
    residents: int
    checksum: int


def stamp_buffer(blocks: int) -> torch.Tensor:
    """Zeroed stamps on the GPU: int64 [blocks, WORDS]."""
    return torch.zeros(blocks, WORDS, dtype=torch.int64, device="cuda")


def read_stamps(stamps: np.ndarray) -> Launch:
    """The launch that wrote `stamps`, int64 [blocks, WORDS]. KernelError for none, or a stopped clock."""
    sm, begin, begin_ns, end, end_ns, checksum = stamps.T
    if (end == 0).any():
        raise KernelError(f"{(end == 0).sum()} of the thread blocks launched wrote no stamp")
    if (end <= begin).any() or (end_ns < begin_ns).any():
        raise KernelError("a clock of this GPU stopped or went backward while thread blocks ran")
    each = [sm == one for one in np.unique(sm)]
    stepped = (end_ns > begin_ns).all()
    cycles = [int(end[here].max() - begin[here].min()) for here in each]
    return Launch(
        ns=int(end_ns.max() - begin_ns.min()),
        cycles=float(np.median(cycles)),
        sm_mhz=1000 * float(np.median((end - begin) / (end_ns - begin_ns))) if stepped else 0.0,
        residents=max(int(here.sum()) for here in each),
        checksum=int(checksum.sum()),
    )
