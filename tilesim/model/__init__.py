"""The model of the machine: what a K-step takes, and where its operands come from."""
