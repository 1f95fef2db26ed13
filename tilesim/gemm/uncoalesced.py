"""uncoalesced: as naive, but a warp loads down a column, to show what coalesced loads are for."""

from tilesim.gemm import Kernel, operands_in_stages

KERNEL = Kernel(shared_bytes=operands_in_stages, schedules=("naive",), warps=8, stages=1, loads="ptr")
