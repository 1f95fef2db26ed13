"""`tilesim init`: write a commented scene to start from, which already renders."""

import re
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from tilesim.errors import TilesimError, shown

TAKEN = (
    "Default", "Device", "FadeIn", "Film", "Finding", "Group", "Lanes", "PlayTrace", "Problem", "TileGrid",
)  # fmt: skip


@click.command(short_help="Write a scene to start a film from.")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.py")
def command(file: Path) -> None:
    """Write a commented scene to FILE.py that already renders. An existing file is not overwritten."""
    if file.suffix != ".py":
        raise click.UsageError(f"{shown(str(file))} is no Python file; call it {file.stem or 'my_film'}.py")
    name = class_name(file.stem)
    template = Template(files("tilesim.cli").joinpath("new_scene.txt").read_text("utf-8"))
    title = f"{name}: a film of tiles, and when each SM computes them."
    text = template.substitute(title=title, file=file.name, stem=file.stem, name=name)
    try:
        with file.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        raise TilesimError(f"{file} already exists and was not changed; choose another name") from None
    click.echo(f"wrote {file}; render it with: tilesim export {file}:{name} -o {file.stem}.mp4", err=True)


def class_name(stem: str) -> str:
    """The name of a file's scene: its words, capitalized and joined.

    >>> class_name("my_film"), class_name("race-2"), class_name("3 waves"), class_name("lanes")
    ('MyFilm', 'Race2', 'Film3Waves', 'LanesFilm')
    """
    words = re.findall(r"[^\W_]+", stem)
    name = "".join(word[0].upper() + word[1:] for word in words)
    if not name.isidentifier():
        name = f"Film{name}" if f"Film{name}".isidentifier() else "MyFilm"
    return f"{name}Film" if name in TAKEN else name
