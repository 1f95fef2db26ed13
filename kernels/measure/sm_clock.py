"""How fast the SMs' clocks ran between two points of a stream."""

import numpy as np
import torch
import triton
import triton.language as tl

BLOCKS_PER_SM = 8
"""So many that each SM gets one at least, whatever order they are dispatched in."""


@triton.jit
def read_clocks(out):
    """out: int64 [SMs, 2]; each block writes the cycles and ns of the SM it runs on."""
    sm = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    cycles = tl.inline_asm_elementwise(
        "mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1
    )
    tl.store(out + 2 * sm, cycles)
    tl.store(out + 2 * sm + 1, tl.extra.cuda.globaltimer())


class Clocks:
    """Two readings, of which the second may follow the first as often as one likes."""

    def __init__(self) -> None:
        self.sms = torch.cuda.get_device_properties().multi_processor_count
        self.read = torch.zeros(2, self.sms, 2, dtype=torch.int64, device="cuda")

    def begin(self) -> None:
        """Read now, in the stream's order."""
        read_clocks[(BLOCKS_PER_SM * self.sms,)](self.read[0], num_warps=1)

    def end(self) -> None:
        """Read now, in the stream's order."""
        read_clocks[(BLOCKS_PER_SM * self.sms,)](self.read[1], num_warps=1)

    def mhz(self) -> float:
        """The median over SMs of the cycles between begin and end, in a µs. Waits for the GPU."""
        cycles, ns = np.diff(self.read.cpu().numpy(), axis=0)[0].T
        return 1000 * float(np.median(cycles / ns))
