"""Costs of kernels: as calibrated, scaled to another tile or device, and which of them a simulation takes."""
