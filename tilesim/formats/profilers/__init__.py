"""Traces of other profilers, read as slices on tracks and converted to rows."""
