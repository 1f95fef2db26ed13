"""Launching: from a problem and a variant to a kernel with its configuration, operands and plan."""
