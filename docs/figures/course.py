"""The course: all films in the order in which they teach, with the question that each answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilesim.cli.output.tables import markdown_of
from tilesim.cli.packages import declared
from tilesim.declared import Declared

DOCS = Path(__file__).parents[1]


def course(films: Mapping[str, Declared]) -> str:
    """A line a film: its part of the course, its name, the question, and its page where it has one."""
    lines, last = [], ""
    for name, film in films.items():
        page = page_of(name, film) or "films.md"
        lines.append(("" if film.part == last else film.part, f"[{film.title}]({page})", film.question))
        last = film.part
    return markdown_of(("part", "film", "question"), lines)


def shown(films: Mapping[str, Declared]) -> str:
    """What each film that is on no page shows, and its end card, which leads to it."""
    found = []
    for name, film in films.items():
        poster = poster_of(film)
        if poster and not page_of(name, film):
            picture, video = (f"../media/{poster[key]}" for key in ("poster", "output"))
            found.append(f"**{name}**: {film.shows}\n\n[![{film.title}]({picture})]({video})")
    return "\n\n".join(["No page shows these films:", *found]) if found else ""


def pages(films: Mapping[str, Declared], docs: Path = DOCS) -> str:
    """The pages of ideas for the sidebar: those of films in the order of the course, then all others."""
    there = {page.stem for page in (docs / "ideas").glob("*.md")}
    ordered = [name for name in films if name in there]
    entries = "\n".join(f"ideas/{name}" for name in [*ordered, *sorted(there - set(ordered))])
    return f"```{{toctree}}\n:maxdepth: 1\n:hidden:\n\n{entries}\n```"


def page_of(name: str, film: Declared, docs: Path = DOCS) -> str:
    """The page of a film, relative to `docs`: that of its name, or else the first with its poster, or ""."""
    own = docs / "ideas" / f"{name}.md"
    if own.is_file():
        return own.relative_to(docs).as_posix()
    poster = poster_of(film)
    for page in sorted(docs.rglob("*.md")) if poster else ():
        if f"media/{poster['poster']})](" in page.read_text("utf-8"):
            return page.relative_to(docs).as_posix()
    return ""


def poster_of(film: Declared) -> Mapping[str, Any]:
    """The entry of a film's gallery that has its poster; empty if none has."""
    return next((entry for entry in film.gallery if "poster" in entry), {})


def figures() -> dict[str, str]:
    films = declared()
    return {"course_table": course(films), "films_shown": shown(films), "idea_pages": pages(films)}
