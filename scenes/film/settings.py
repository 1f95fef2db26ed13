"""Settings: what a film may be asked for by a TOML file, and what each may be. One table for all who ask."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tilesim import Trace
from tilesim.declared import course
from tilesim.errors import TilesimError, shown, unknown
from tilesim.storage.files import read_bytes
from tilesim_scenes.film.course import OURS
from tilesim_scenes.look.theme import THEMES

MOST_TOML = 2**20
"""Bytes of a file of settings: a thousand times what a long gallery has."""

LONGEST_NAME = 4096
"""Characters of a name, of a file's too."""


class FilmError(TilesimError):
    """Settings that no film can be made of."""


class Kind(NamedTuple):
    """What a setting may be: what `fits`, in `words`; or one of some `choices`."""

    fits: Callable[[Any], bool]
    words: str
    choices: tuple[str, ...] = ()


def whole(low: int = -(2**63), high: int = 2**63 - 1) -> Kind:
    """A whole number from `low` to `high`."""
    ends = "" if low < 0 else f" from {low} to {high}"
    return Kind(lambda value: type(value) is int and low <= value <= high, f"a whole number{ends}")


def one_of(choices: Iterable[str]) -> Kind:
    """One of some names."""
    names = tuple(choices)
    return Kind(lambda value: value in names, "a text", names)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_NAME and "\0" not in value


def _is_tile(value: Any) -> bool:
    """Three sizes: a list of them, or a text such as "128x256x64"."""
    if isinstance(value, str):
        sizes = value.lower().split("x")
        return len(sizes) == 3 and all(s.isascii() and s.isdigit() and len(s) < 16 for s in sizes)
    return isinstance(value, list | tuple) and len(value) == 3 and all(type(size) is int for size in value)


def _are_pairs(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_name(one) for pair in value.items() for one in pair)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


NUMBER = Kind(lambda value: type(value) is float or whole().fits(value), "a number")
NAME = Kind(_is_name, "a text")
BOOL = Kind(lambda value: isinstance(value, bool), "true or false")
FILE = Kind(_is_name, "a file's name")
TILE = Kind(_is_tile, "three sizes such as 128x256x64")

LANGUAGES = ("en", "zh", "pt")
"""Of captions; English is the source."""

NO_FILM = "none"
"""What an end card is asked for that shall name no next film."""

PROBLEM = {"m": whole(), "n": whole(), "k": whole(), "tile": TILE, "order": NAME, "dtype": NAME}
DEVICE = {"device": NAME, "sms": whole(), "ctas_per_sm": whole(), "busy_sms": whole()}
SIMULATION = {
    **PROBLEM,
    **DEVICE,
    "costs": FILE,
    "seed": whole(),
    "schedule": Kind(lambda value: all(map(_is_name, _several(value))), "a name, or a list of them"),
}
LOOK = {
    "theme": one_of(THEMES),
    "seconds": NUMBER,
    "title": NAME,
    "opening": BOOL,
    "work": BOOL,
    "lang": one_of(LANGUAGES),
    "next": one_of((NO_FILM, *course(OURS))),
}
READING = {"map": Kind(_are_pairs, "a table of texts"), "tile_from": NAME, "items": BOOL}
"""How a file of others is read, as `tilesim.formats.reading` has it."""
TRACE = Kind(
    lambda value: all(isinstance(one, Trace) or _is_name(one) for one in _several(value)),
    "a file's name, or a list of them",
)
TRACES = SIMULATION | READING | {"trace": TRACE} | LOOK
"""Of a film of traces, which are given by the names of files, or themselves."""
LADDER = {"ladder": FILE} | LOOK
"""Of a film of a kernel ladder."""
REPORT = {"report": FILE} | LOOK
"""Of a film of a report of `tilesim bench`."""


FILES = ("costs", "trace", "ladder", "report")
"""Settings that name a file, or several."""


def check(settings: Mapping[str, Any], kinds: Mapping[str, Kind], what: str = "film setting") -> None:
    """Raise FilmError where one of `settings` is not in the table `kinds`, or not what that says."""
    for name, value in settings.items():
        if name in TRACES and name not in kinds:
            raise FilmError(
                f"there is no {what} {name!r} for this film, which shows data that ships; the films run and"
                " race take it"
            )
        if name not in kinds:
            raise FilmError(unknown(what, name, kinds))
        kind = kinds[name]
        if isinstance(value, str) and kind.choices and value not in kind.choices:
            raise FilmError(unknown(name, value, kind.choices))
        if not kind.fits(value):
            raise FilmError(f"{name} is {shown(value)}; it must be {kind.words}")


def tile_sizes(tile: Any) -> tuple[int, ...]:
    """The sizes of a tile that fits.

    >>> tile_sizes("128x256x64"), tile_sizes([64, 64, 32])
    ((128, 256, 64), (64, 64, 32))
    """
    return tuple(int(size) for size in (tile.lower().split("x") if isinstance(tile, str) else tile))


def read(path: str | Path) -> dict[str, Any]:
    """What is in a TOML file; raises FilmError, in a sentence that starts with its name, where it is none."""
    data = read_bytes(path, MOST_TOML, FilmError)
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = str(error)
    except ValueError:
        reason = "it has a number of thousands of digits"
    except RecursionError:
        reason = "its values are nested too deep"
    raise FilmError(f"{path}: this is not a TOML file ({reason})")


def relative_to(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same settings, with the files in them, which are relative to `folder`.

    Costs without a dot or a slash are those of a device by name.

    >>> relative_to(Path("films"), {"trace": ["a.npz"], "costs": "h200"})
    {'trace': ['films/a.npz'], 'costs': 'h200'}
    """
    placed = dict(settings)
    for key in FILES:
        value = placed.get(key)
        if isinstance(value, str) and (key != "costs" or {".", "/", "\\"} & set(value)):
            placed[key] = str(folder / value)
        elif isinstance(value, list):
            placed[key] = [str(folder / name) if isinstance(name, str) else name for name in value]
    return placed


def files_in(settings: Mapping[str, Any]) -> list[str]:
    """The files that settings, all of their kind, name.

    >>> files_in({"trace": ["a.npz", "b.npz"], "costs": "c.json", "seed": 1})
    ['c.json', 'a.npz', 'b.npz']
    """
    return [name for key in FILES if key in settings for name in _several(settings[key])]
