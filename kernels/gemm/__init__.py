"""The matrix-product kernels, one file each, and the device functions that they share."""
