"""Course: the films that lie beside this package, as they declare themselves, in teaching order."""

from pathlib import Path

from tilesim.declared import films

FILMS = Path(__file__).parents[1]
"""The folder of the films, a file each."""
OURS = films(FILMS)
