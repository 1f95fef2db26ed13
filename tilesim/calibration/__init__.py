"""Calibration: from measured traces to the costs of a kernel."""
