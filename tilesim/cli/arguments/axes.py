"""Options that take several values: `--tile 128x128x64,128x256x64`, `--m 128:8192:128`, each repeatable."""

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tilesim.analysis.sweep import MAX_COMBINATIONS

F = TypeVar("F", bound=Callable[..., Any])


class Names(click.ParamType):
    """Values of a type of their own, separated by commas."""

    def __init__(self, kind: click.ParamType) -> None:
        self.kind, self.name = kind, kind.name

    def convert(self, value: Any, param: Any, ctx: Any) -> Sequence[Any]:
        return [self.kind.convert(word.strip(), param, ctx) for word in value.split(",")]

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """As a value of the type itself, after those that are there."""
        before, comma, word = incomplete.rpartition(",")
        items = self.kind.shell_complete(ctx, param, word)
        return [CompletionItem(before + comma + item.value, item.type) for item in items]


class Numbers(click.ParamType):
    """Whole numbers and ranges of them, from:to or from:to:step with both ends, separated by commas."""

    name = "SIZES"

    def __init__(self, *others: str) -> None:
        self.others = others

    def convert(self, value: Any, param: Any, ctx: Any) -> Sequence[int | str]:
        return list(chain.from_iterable(self._values(word, param, ctx) for word in value.lower().split(",")))

    def _values(self, word: str, param: Any, ctx: Any) -> Sequence[int | str]:
        if word in self.others:
            return [word]
        if not re.fullmatch(r"[0-9]{1,15}(:[0-9]{1,15}){0,2}", word, re.ASCII):
            choices = " or ".join(["a number", "a range such as 128:8192:128", *map(repr, self.others)])
            self.fail(f"{word!r} is not {choices}", param, ctx)
        if ":" not in word:
            return [int(word)]
        first, last, step = (*map(int, word.split(":")), 1)[:3]
        if not step or first > last:
            self.fail(f"the range {word!r} has no values; write it as from:to:step", param, ctx)
        values = range(first, last + 1, step)
        if len(values) > MAX_COMBINATIONS:
            self.fail(
                f"the range {word!r} has {len(values)} values; a sweep has at most {MAX_COMBINATIONS}",
                param,
                ctx,
            )
        return values


def axis(name: str, kind: click.ParamType, metavar: str, help: str) -> Callable[[F], F]:
    """An option that takes several values; its own value is a list of them, None where it was not given."""
    return click.option(name, type=kind, metavar=metavar, help=help, multiple=True, callback=_joined)


def _joined(ctx: click.Context, param: click.Parameter, groups: Sequence[Sequence[Any]]) -> list[Any] | None:
    return list(dict.fromkeys(chain.from_iterable(groups))) or None
