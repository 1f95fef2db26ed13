"""Small kernels, each of which shows one idea by its time: what a film of that idea is measured with."""
