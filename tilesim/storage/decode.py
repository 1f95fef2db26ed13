"""Decode: parsed JSON as a type describes it, or one sentence with the field, the value and what is allowed.

A type is a dataclass, or is built of what the hints of dataclasses are built of, and Annotated with the rules
of this module. True and False are not numbers, and neither is NaN or what a double cannot hold. A place in
the values is written as jq writes it, such as `rows[0].tile`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from math import inf
from operator import index
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from tilesim.errors import TilesimError, nearest, shown, unknown
from tilesim.storage.files import LARGEST
from tilesim.text import unprintable


class Rule(NamedTuple):
    """What a value must be beside its type: whether it is, how a sentence goes on that says so, and the names
    that it may be, if those are few."""

    allows: Callable[[Any], bool]
    words: str = ""
    names: Callable[[], Iterable[str]] = tuple


def between(low: float, high: float = inf, above: bool = False) -> Rule:
    """Numbers from `low` to `high`; `above`: `low` itself is not allowed."""
    least, most = (str(x) if isinstance(x, int) else f"{x:g}" for x in (low, high))
    words = (f" above {least}", f", up to {most}") if above else (f" from {least}", f" to {most}")
    return Rule(lambda x: low <= x <= high and not (above and x == low), "".join(words[: 1 + (high < inf)]))


def text(least: int = 0, longest: float = inf) -> Rule:
    """Texts of `least` to `longest` characters that can all be printed."""
    words = f" of {least} to {longest} characters" if longest < inf else ""
    return Rule(lambda x: least <= len(x) <= longest and not unprintable(x), words)


def one_of(choices: Iterable[str] | Callable[[], Iterable[str]], empty: bool = False) -> Rule:
    """Texts that are one of `choices`, or of what that returns; `empty`: or none of them, ""."""
    names: Any = choices if callable(choices) else lambda: choices
    return Rule(lambda x: x in names() or (empty and not x), names=names)


FILLED = Rule(bool, " that is not empty")
"""Lists and objects."""
ROUNDED = Rule(lambda _: True)
"""An int that may be written with a fraction, and is rounded."""
ONE_LINE = Rule(lambda _: True)
"""A text in which any white space, such as a line's end, becomes one blank."""
NUMBER = int | float
"""A number that stays as it is written; as a float it becomes one."""
WORDS = {
    Any: "anything", NoneType: "null", bool: "true or false", int: "a whole number", float: "a number",
    NUMBER: "a number", str: "a text", list: "a list", dict: "an object",
}  # fmt: skip


def decode(kind: Any, values: Any, what: str, error: type[TilesimError], *, extra: bool = False) -> Any:
    """Parsed JSON as a `kind`; sentences call the whole `what`. `extra`: unknown fields are left alone.

    Of a union, the first member counts that the value's kind of JSON fits; rules belong to the members.
    Raises `error`, or what the classes raise that are made of the values.
    """
    return _Reader(what, error, extra).value(_node(kind), values, "")


def check(made: Any, error: type[TilesimError], *names: str) -> None:
    """Hold the fields of a dataclass's instance, or those of some `names`, against their types, and convert
    them as `decode` does, which also says what is raised."""
    kind: Any = type(made)
    reader = _Reader("", error, False)
    for name, (node, _) in _fields(kind).items():
        if not names or name in names:
            object.__setattr__(made, name, reader.value(node, getattr(made, name), name))


@cache
def _fields(kind: Any) -> dict[str, tuple["_Node", bool]]:
    """(the type, whether it must be given) of each field that a dataclass is made from, by name."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.name: (_node(hints[field.name]), field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
        if field.init
    }


SHAPES: dict[Any, Any] = {list: list | tuple, dict: Mapping}


class _Node(NamedTuple):
    """A type, its family, what it is built of, and the rules that it is annotated with.

    The family is one of WORDS, or Union or Literal; dataclasses and dicts are dicts, tuples are lists.
    """

    kind: Any
    family: Any
    parts: tuple[Any, ...]
    rules: tuple[Rule, ...]

    def takes(self, value: object) -> bool:
        """Whether `value` is of the kind of JSON that the type is decoded from."""
        family = self.family
        if type(value) is family and family is not float:
            return True
        if family is Union:
            return any(each.takes(value) for each in self.parts)
        if family is Literal:
            return any(type(value) is type(each) and value == each for each in self.parts)
        if family is int and ROUNDED not in self.rules:
            return not isinstance(value, bool) and hasattr(value, "__index__")
        if family in (int, float, NUMBER):
            return not isinstance(value, bool) and isinstance(value, NUMBER) and abs(value) <= LARGEST
        shape: Any = SHAPES.get(family) or family
        return family is Any or isinstance(value, shape)

    def words(self) -> str:
        """What the type allows, for a sentence."""
        if self.family is Union:
            return " or ".join(each.words() for each in self.parts)
        if names := self.choices():
            return f"one of {', '.join(names)}"
        family = NUMBER if self.family is int and ROUNDED in self.rules else self.family
        words = WORDS[family] + "".join(rule.words for rule in self.rules)
        fixed = get_origin(self.kind) is tuple and ... not in self.parts
        return f"{words} of {len(self.parts)}, each {self.parts[0].words()}" if fixed else words

    def choices(self) -> list[str]:
        """The texts that the type allows, where it lists them."""
        if self.family is Union:
            return [name for each in self.parts for name in each.choices()]
        if self.family is Literal:
            return list(map(str, self.parts))
        return [name for rule in self.rules for name in rule.names()]


@cache
def _node(kind: Any) -> _Node:
    rules: tuple[Any, ...] = ()
    if get_origin(kind) is Annotated:
        kind, *found = get_args(kind)
        rules = tuple(found)
    family = get_origin(kind) or kind
    if kind == NUMBER or kind is object:
        family = NUMBER if kind == NUMBER else Any
    elif family in (Union, UnionType):
        family = Union
    elif is_dataclass(family) or family is Mapping:
        family = dict
    elif family is tuple:
        family = list
    nested = family in (Union, list, dict)
    parts = tuple(_node(each) if nested and each is not ... else each for each in get_args(kind))
    return _Node(kind, family, parts, rules)


@dataclass(frozen=True, slots=True)
class _Reader:
    what: str
    error: type[TilesimError]
    extra: bool

    def value(self, node: _Node, value: Any, at: str) -> Any:
        """`value`, found `at` a place, as a type says."""
        kind, family, parts, rules = node
        if not node.takes(value):
            raise self._refusal(node, value, at)
        if family is Union:
            return self.value(next(each for each in parts if each.takes(value)), value, at)
        if family is str and ONE_LINE in rules:
            value = " ".join(value.split())
        for rule in rules:
            if not rule.allows(value):
                raise self._refusal(node, value, at)
        if family is int:
            return round(value) if ROUNDED in rules else index(value)
        if family is list:
            return self._items(node, value, at)
        if family is dict and is_dataclass(kind):
            return self._made(kind, value, at)
        if family is dict and parts:
            for name in value:
                self.value(parts[0], name, f"a field of {at or self.what}")
            return {name: self.value(parts[1], each, _in(at, name)) for name, each in value.items()}
        return float(value) if family is float else value

    def _items(self, node: _Node, values: Any, at: str) -> Any:
        make, parts = get_origin(node.kind) or node.kind, node.parts
        if make is list or ... in parts:
            parts = parts[:1] * len(values)
        elif parts and len(parts) != len(values):
            raise self._refusal(node, values, at)
        nodes = parts or (_node(Any),) * len(values)
        return make(
            self.value(n, v, f"{at}[{i}]") for i, (n, v) in enumerate(zip(nodes, values, strict=True))
        )

    def _made(self, kind: Any, values: Mapping[str, Any], at: str) -> Any:
        known, place = _fields(kind), at or self.what
        for name in values if not self.extra else ():
            if name not in known:
                raise self.error(unknown(f"field of {place}", str(name), known))
        lacking = [name for name, (_, needed) in known.items() if needed and name not in values]
        if lacking:
            raise self.error(f"{place} lacks {' and '.join(', '.join(lacking).rsplit(', ', 1))}")
        return kind(
            **{
                name: self.value(node, values[name], _in(at, name))
                for name, (node, _) in known.items()
                if name in values
            }
        )

    def _refusal(self, node: _Node, value: Any, at: str) -> TilesimError:
        place = at or self.what
        odd = unprintable(value) if isinstance(value, str) else ""
        if odd:
            return self.error(f"{place} is {shown(value)} with a {odd}, which cannot be printed")
        names = node.choices() if isinstance(value, str) else []
        if names:
            return self.error(f"{place} is {shown(value)}; {nearest(value, names)}")
        return self.error(f"{place} is {shown(value)}; it must be {node.words()}")


def _in(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
