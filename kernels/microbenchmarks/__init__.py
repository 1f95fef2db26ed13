"""Microbenchmarks: kernels that load, store or multiply and do nothing else.

    stamping.py      the clocks, and what each thread block leaves behind
    chase.py         latency: a pointer chase
    stream.py        bandwidth: reads, writes and copies by many SMs
    tile_loads.py    tiles of operands by TMA and by cp.async, one to six of them in flight
    multiply.py      the tensor cores, their operands in shared memory already
    shared.py        shared memory: latency and bandwidth
    cases.py         what of the memory is measured, and over which footprints
    tile_cases.py    which tiles are loaded and multiplied

Written in Gluon and PTX, since each figure is of one instruction: no layout, cache or pipeline is left to the
compiler. Each kernel leaves a checksum, or data, by which what it loaded is compared with what was there.
"""
