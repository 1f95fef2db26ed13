"""The ladder: kernels that compute one product, each with one change, as a GPU ran them."""
