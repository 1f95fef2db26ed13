"""The model of the machine: how long a K-step takes, and where its operands come from."""
