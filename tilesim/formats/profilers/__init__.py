"""Traces of other profilers: what they write is read as slices on tracks, and these as rows."""
