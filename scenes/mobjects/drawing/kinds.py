"""Kinds: one public class whose instances are vectors or an image, whichever they need."""

from functools import cache
from typing import Any


@cache
def one_of(wanted: type, kind: type) -> Any:
    """The class of an instance of `wanted` that is drawn as `kind`: a subclass of both.

    It is known only when somebody's subclass has said what is to be shown, so instances change to it then.

    >>> class Shape: ...
    >>> class Vectors(Shape): ...
    >>> class Mine(Shape): ...
    >>> one_of(Shape, Vectors) is Vectors, one_of(Mine, Vectors).__bases__ == (Mine, Vectors)
    (True, True)
    """
    return kind if issubclass(kind, wanted) else type(wanted.__name__, (wanted, kind), {})
