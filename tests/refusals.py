"""Errors as tests expect them: one short sentence, with the file that is to blame before it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tilesim.errors import TilesimError


@contextmanager
def refused(words: str, error: type[TilesimError] = TilesimError, path: object = "") -> Iterator[None]:
    """What is done in here raises `error`, of a sentence with `words`; without it, any error of tilesim."""
    with pytest.raises(error) as caught:
        yield
    said = str(caught.value)
    assert error in (TilesimError, type(caught.value))
    assert words in said and said.isprintable() and len(said) < 400 + len(str(path))
    assert not path or said.startswith(f"{path}: ")
