"""Declared: what each film says of itself in its file, read without running the film and without Manim."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from tilesim.errors import TilesimError, shown
from tilesim.storage.decode import decode, one_of

OTHERS = "Others"
"""What the films are listed under that are in no part of the course."""
TAKES = {
    "traces": (
        *("trace", "map", "tile_from", "items", "schedule", "m", "n", "k", "tile", "order", "dtype"),
        *("device", "sms", "ctas_per_sm", "busy_sms", "costs", "seed"),
    ),
    "ladder": ("ladder",),
    "report": ("report",),
}
"""What a film can take, and which options that are; `tilesim_scenes.film.settings` says what each may be."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a film says of itself; a file without FILM says only what its docstring does.

    `line`: the first line of its docstring, or why what it says cannot be read. `part` and `place`: in the
    course, if any. `seconds`: how long it lasts where nobody asks. `shows`: what one sees, in a few words.
    `finding`: what its end card says of the data that ships. `takes`: one of TAKES, or empty. `gallery`: what
    `make media` renders of it, each a table as of a gallery's file; a film and a poster of its name where it
    does not say.
    """

    file: Path
    line: str = ""
    title: str = ""
    question: str = ""
    part: str = ""
    place: int = 0
    seconds: int = 0
    shows: str = ""
    finding: str = ""
    takes: Annotated[str, one_of(TAKES, empty=True)] = ""
    gallery: tuple[dict[str, Any], ...] = ()

    @property
    def about(self) -> str:
        return f"{self.title}: {self.question}" if self.title else self.line

    @property
    def taken(self) -> tuple[str, ...]:
        return TAKES.get(self.takes, ())


def name_of(file: Path) -> str:
    """What the film in `file` is called on the command line."""
    return file.stem.replace("_", "-")


@cache
def films(folder: Path) -> Mapping[str, Declared]:
    """The films in a folder by name, in teaching order; those in no part come last."""
    found = [_declared(file) for file in sorted(folder.glob("[!_]*.py"))]
    found.sort(key=lambda film: (not film.part, film.place))
    return MappingProxyType({name_of(film.file): film for film in found})


def parts(films: Mapping[str, Declared]) -> dict[str, list[str]]:
    """The names of films by the part of the course that they are in; those in none as OTHERS."""
    named: dict[str, list[str]] = {}
    for name, film in films.items():
        named.setdefault(film.part or OTHERS, []).append(name)
    return named


def course(films: Mapping[str, Declared]) -> tuple[str, ...]:
    """The names of the films of the course, as they follow each other."""
    return tuple(name for name, film in films.items() if film.part)


def after(name: str, films: Mapping[str, Declared]) -> str:
    """The film that follows another one in the course; empty for the last one, and for a film in no part."""
    return dict(pairwise(course(films))).get(name, "")


def _declared(file: Path) -> Declared:
    """What a file declares; where that cannot be read, `line` says why."""
    own = {"output": f"{name_of(file)}.mp4", "poster": f"{name_of(file)}.png", "size": "720p"}
    try:
        tree = ast.parse(file.read_bytes())
        values = _literal(tree)
        if values is None:
            return Declared(file, (ast.get_docstring(tree) or "").partition("\n")[0])
        if not isinstance(values, dict):
            raise TilesimError(f"FILM is {shown(values)}; it must be a dict")
        found = decode(Declared, {"gallery": [own], **values, "file": file}, "FILM", TilesimError)
        if not (found.title and found.question):
            raise TilesimError("FILM needs a title and a question")
        if ("part" in values) != ("place" in values):
            raise TilesimError("FILM has only one of part and place; a film of the course needs both")
    except (SyntaxError, ValueError, TilesimError) as error:
        why = " ".join(str(error).split())
        return Declared(file, f"{file.parent.name}/{file.name} cannot be loaded ({why})")
    return found


def _literal(tree: ast.Module) -> Any:
    """The value that the module gives to FILM, None where it gives none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(one, "id", "") == "FILM" for one in node.targets):
            try:
                return ast.literal_eval(node.value)
            except ValueError:
                raise TilesimError(
                    f"FILM in line {node.lineno} must be a literal, without names and calls"
                ) from None
    return None
