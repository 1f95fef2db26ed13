"""The kernels that multiply matrices, a file each, and the device functions that they share."""
