"""The course: all films in the order in which they teach, with the question that each answers."""

import tomllib
from pathlib import Path

from tilesim.cli.output.tables import markdown_of
from tilesim.cli.packages import scene_names

ROOT = Path(__file__).parents[2]


def course() -> str:
    """A line a film: its part of the course, its name, the question, and its page where it has one."""
    about = scene_names()
    lines = []
    for part in tomllib.loads((ROOT / "scenes" / "course.toml").read_text("utf-8"))["part"]:
        for number, name in enumerate(part["films"]):
            title, _, question = about[name].partition(": ")
            page = f"ideas/{name}.md" if (ROOT / "docs" / "ideas" / f"{name}.md").is_file() else "films.md"
            question = question[0].upper() + question[1:]
            lines.append(("" if number else part["title"], f"[{title}]({page})", question))
    return markdown_of(("part", "film", "question"), lines)


def figures() -> dict[str, str]:
    return {"course_table": course()}
