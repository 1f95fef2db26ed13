"""Microbenchmarks: kernels that only load, store or multiply.

    stamping.py      clocks, and the record of each thread block
    chase.py         latency: a pointer chase
    stream.py        bandwidth: reads, writes and copies by many SMs
    tile_loads.py    operand tiles by TMA and by cp.async, one to six in flight
    multiply.py      the tensor cores, with operands in shared memory
    shared.py        shared memory: latency and bandwidth
    cases.py         which parts of memory are measured, and over which footprints
    tile_cases.py    which tiles are loaded and multiplied

They are written in Gluon and PTX, because each figure is that of one instruction. Each kernel returns a
checksum or data that verifies what it loaded.
"""
