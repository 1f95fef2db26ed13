"""The version of tilesim, on the ground floor, so that what is written can say which wrote it."""

__version__ = "0.1.0"
