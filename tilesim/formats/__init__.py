"""File formats of a trace, one module each."""
