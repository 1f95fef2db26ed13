"""Devices: GPUs and what is known of each, as presets, from files, and as constants of the model."""
