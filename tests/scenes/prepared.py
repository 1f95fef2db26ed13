"""Prepared: a film that has checked its data, of which nothing has been drawn."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from tilesim_scenes.film.scene import Film

F = TypeVar("F", bound=Film)


def prepared(film: type[F], settings: Mapping[str, Any] = MappingProxyType({})) -> F:
    """The film before its first picture; it ends in SystemExit where its data does not bear it out."""
    scene = film(skip_animations=True)
    scene.settings = settings
    scene.setup()
    return scene
