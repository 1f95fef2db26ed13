"""How `matmul` finds the launch for its operands, and keeps it."""
