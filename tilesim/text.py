"""Text: names that carry parameters, such as `grouped:8` and `split-k:2`, and counts as people read them."""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature

from tilesim.errors import TilesimError, shown, unknown


def resolve(
    what: str, text: str, registry: Mapping[str, Callable], given: int, error: type[TilesimError]
) -> tuple[Callable, tuple[int, ...]]:
    """Look `name:1:2` up in `registry` and return (function, (1, 2)).

    The function takes `given` positional arguments first; what follows them in its signature are
    the parameters that the name may carry. Each is a whole number from 1.

    Raises `error` for an unknown name, a parameter that is not such a number, or a wrong count.
    """
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
        fault = _miscount(len(words), needed, len(parameters))
        raise error(f"the {what} {shown(text)} {fault}; write it as {form}")
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= 10 and 1 <= int(word) < 2**31):
            raise error(
                f"the {what} {shown(text)} has the parameter {shown(word)}; it must be a whole number from 1"
            )
    return function, tuple(int(word) for word in words)


def name_and_numbers(text: str) -> tuple[str, tuple[int, ...]]:
    """A name and the parameters that it carries, of a text that is known to be one.

    >>> name_and_numbers("split-k:2"), name_and_numbers("row-major")
    (('split-k', (2,)), ('row-major', ()))
    """
    name, *words = text.split(":")
    return name, tuple(map(int, words))


def example(name: str, function: Callable, given: int) -> str:
    """`name` with an example of each parameter that it must carry.

    >>> example("grouped", lambda rows, columns, g: None, given=2)
    'grouped:8'
    """
    needed = [p for p in _parameters(function, given) if p.default is Parameter.empty]
    return ":".join([name, *map(_example, needed)])


def _parameters(function: Callable, given: int) -> list[Parameter]:
    return list(signature(function).parameters.values())[given:]


def _example(parameter: Parameter) -> str:
    """What a name may carry for `parameter`."""
    return str(parameter.default if isinstance(parameter.default, int) else 8)


def _miscount(given: int, least: int, most: int) -> str:
    """What is wrong with a number of parameters that is not from `least` to `most`.

    >>> _miscount(0, 1, 1), _miscount(1, 2, 3)
    ('needs 1 parameter', 'needs at least 2 parameters')
    >>> _miscount(1, 0, 0), _miscount(2, 1, 1), _miscount(2, 0, 1)
    ('has 1 parameter but takes none', 'has 2 parameters but takes 1', 'has 2 parameters but takes at most 1')
    """
    if given < least:
        return f"needs {'at least ' * (least < most)}{plural(least, 'parameter')}"
    takes = f"{'at most ' * (least < most)}{most}" if most else "none"
    return f"has {plural(given, 'parameter')} but takes {takes}"


def unprintable(text: str) -> str:
    """The first character of a text that Python calls not printable, by its number, or "" where all are.

    Those are control characters, lone surrogates, what is no character, and blanks other than " ".

    >>> unprintable("warp specialised"), unprintable("a\\0b"), unprintable("\\ufffe")
    ('', 'U+0000', 'U+FFFE')
    """
    return "" if text.isprintable() else next(f"U+{ord(c):04X}" for c in text if not c.isprintable())


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "tile"), plural(18, "tile")
    ('1 tile', '18 tiles')
    """
    return f"{count} {noun}{'s' * (count != 1)}"
