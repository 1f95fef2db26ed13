"""Text: names with parameters, such as `grouped:8` and `split-k:2`, and counts with nouns."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, signature

from tilesim.errors import TilesimError, shown, unknown

NUMBERS = re.compile(r"(:[1-9][0-9]{0,9})*\Z")


def resolve(
    what: str, text: str, registry: Mapping[str, Callable], given: int, error: type[TilesimError]
) -> tuple[Callable, tuple[int, ...]]:
    """Look up `name:1:2` in `registry` and return (function, (1, 2)). The function takes `given` positional
    arguments, then the parameters, positive integers. Raises `error` for what is unknown or does not fit."""
    if not isinstance(text, str):
        raise error(f"the {what} is {shown(text)}; it must be a name such as {next(iter(registry))!r}")
    name, *words = text.split(":")
    if name not in registry:
        raise error(unknown(what, name, registry))
    function = registry[name]
    parameters = _parameters(function, given)
    needed = sum(p.default is Parameter.empty for p in parameters)
    if not needed <= len(words) <= len(parameters):
        form = repr(":".join([name, *(p.name.upper() for p in parameters)]))
        if parameters:
            form += f", such as {':'.join([name, *(_example(p) for p in parameters)])!r}"
        has = plural(len(words), "parameter")
        raise error(f"the {what} {shown(text)} has {has}; write it as {form}")
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= 10 and 1 <= int(word) < 2**31):
            raise error(
                f"the {what} {shown(text)} has the parameter {shown(word)}; it must be a whole number from 1"
            )
    return function, tuple(int(word) for word in words)


def name_and_numbers(text: str) -> tuple[str, tuple[int, ...]]:
    """A name and the parameters at its end; any other colon is part of the name, as in C++.

    >>> name_and_numbers("split-k:2"), name_and_numbers("row-major"), name_and_numbers("ns::kernel")
    (('split-k', (2,)), ('row-major', ()), ('ns::kernel', ()))
    """
    numbers = NUMBERS.search(text)[0]  # type: ignore[index]  # It finds "" at least.
    return text.removesuffix(numbers), tuple(map(int, numbers.split(":")[1:]))


def base_name(text: str) -> str:
    """A name without its parameters."""
    return name_and_numbers(text)[0]


def example(name: str, function: Callable, given: int) -> str:
    """`name` with an example of each required parameter."""
    needed = [p for p in _parameters(function, given) if p.default is Parameter.empty]
    return ":".join([name, *map(_example, needed)])


@cache
def _parameters(function: Callable, given: int) -> tuple[Parameter, ...]:
    return tuple(signature(function).parameters.values())[given:]


def _example(parameter: Parameter) -> str:
    return str(parameter.default if isinstance(parameter.default, int) else 8)


def unprintable(text: str) -> str:
    """The first character that Python calls not printable, as U+XXXX, or "" if there is none."""
    return "" if text.isprintable() else next(f"U+{ord(c):04X}" for c in text if not c.isprintable())


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
