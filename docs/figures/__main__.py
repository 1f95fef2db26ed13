"""Print every figure by its name."""

from figures import figures

for name, text in figures().items():
    print(f"{name}: {text}" if "\n" not in text else f"{name}:\n{text}")
