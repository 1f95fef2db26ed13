"""Microbenchmarks: kernels that only load, store or multiply.

They are written in Gluon and PTX, because each figure is that of one instruction. Each kernel returns a
checksum or data that verifies what it loaded.
"""
