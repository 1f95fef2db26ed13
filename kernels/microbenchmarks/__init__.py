"""Microbenchmarks: kernels that only load, store or multiply, in Gluon and PTX, because each figure is that
of one instruction. Each returns a checksum or data that verifies what it loaded."""
