"""What kernels took on a GPU: the ladder of optimisation steps, and the kernel times that ship."""
