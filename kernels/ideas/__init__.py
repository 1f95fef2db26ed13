"""Small kernels that each measure one idea, for its film."""
