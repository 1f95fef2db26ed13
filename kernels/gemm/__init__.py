"""The kernels that multiply, a file each, and the device functions that they share."""
