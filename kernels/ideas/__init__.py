"""Small kernels that show one idea each, a file each."""
