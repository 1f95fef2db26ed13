"""How the documentation is built: `make docs`, where every warning is an error."""

import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "benchmarks")]
# The commands on the pages are the ones of this environment, and write plain text.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
os.environ["COLUMNS"] = "100"

import click  # noqa: E402
import formulas  # noqa: E402
import inline_films  # noqa: E402
import playground  # noqa: E402
from figures import figures  # noqa: E402
from sphinx.util.inspect import signature, stringify_signature  # noqa: E402

from tilesim import __version__  # noqa: E402
from tilesim.cli import main  # noqa: E402

project = "tilesim"
version = release = __version__
copyright = "the authors of tilesim"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "sphinxcontrib.programoutput"]
exclude_patterns = ["_build", "figures", "playground"]

myst_enable_extensions = ["deflist", "substitution"]
myst_heading_anchors = 3
myst_substitutions = figures()

# Docstrings put code into single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# The types in a signature are named, and only the public ones have a page.
nitpick_ignore_regex = [("py:class", ".*")]

html_theme = "furo"
html_title = "tilesim"
html_static_path = ["_static", "../media"]
html_css_files = ["tilesim.css"]
html_js_files = ["films.js", "formulas.js"]
html_show_sphinx = False


def call_by_file(group: click.Group) -> None:
    """Name each command as users call it: click has the name of its function, which is `command` in all."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command:
            command.name = name
        if isinstance(command, click.Group):
            call_by_file(command)


call_by_file(main)


def write_command_pages() -> str:
    """A page for each command, in a folder that git ignores, and the list of them."""
    folder = HERE / "commands"
    folder.mkdir(exist_ok=True)
    names = main.list_commands(click.Context(main))
    for name in names:
        page = f"""```{{eval-rst}}
.. click:: tilesim.cli.commands.{name.replace("-", "_")}:command
   :prog: tilesim {name}
   :nested: full
```
"""
        file = folder / f"{name}.md"
        if not file.is_file() or file.read_text("utf-8") != page:
            file.write_text(page, "utf-8")
    entries = "\n".join(f"commands/{name}" for name in names)
    return f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```"


myst_substitutions |= {
    "command_pages": write_command_pages(),
    "playground_link": '<a class="playground" href="_static/playground/index.html">Open the playground</a>'
    if playground.PYODIDE.is_dir()
    else "The playground has not been built here; [below](#build-it) is how to build it.",
}

FIELD = re.compile(r"`\w+`(, `\w+`)*:")


def list_fields(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Make each line of a docstring that explains a field, "`name`: ...", an item of a list."""
    listed, inside = [], False
    for line in lines:
        if FIELD.match(line):
            listed += [*([] if inside else [""]), f"* {line}"]
            inside = True
        elif not line.strip():
            listed.append(line)
            inside = False
        else:
            listed.append(f"  {line}" if inside else line)
    lines[:] = listed


def sign(app: Any, what: str, name: str, thing: Any, options: Any, written: str, returned: str) -> Any:
    """Give an animation the options of its `__init__`: Manim's `__new__` says nothing of them."""
    if what == "class" and "use_override" in (written or ""):
        made = signature(thing.__init__, bound_method=True)
        made = made.replace(return_annotation=made.empty)
        return stringify_signature(made, unqualified_typehints=True), returned
    return None


def add_playground(app: Any, fault: Exception | None) -> None:
    """Put the playground beside the pages that were built."""
    if app.builder.format == "html" and not fault:
        playground.build(Path(app.outdir) / "_static" / "playground")


def add_stills(app: Any, fault: Exception | None) -> None:
    """Draw what the scenes of the page on mobjects show."""
    if app.builder.format == "html" and not fault:
        # Manim takes a second to load, and no other page needs it.
        import stills

        stills.draw(Path(app.outdir) / "_static" / "scenes")


def show_live(app: Any, docname: str, source: list[str]) -> None:
    """Let films play and formulas compute in a browser; other formats have posters and code."""
    if app.builder.format == "html":
        source[0] = formulas.with_forms(inline_films.inlined(source[0], "../" * docname.count("/")))


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", show_live)
    app.connect("autodoc-process-docstring", list_fields)
    app.connect("autodoc-process-signature", sign)
    app.connect("build-finished", add_playground)
    app.connect("build-finished", add_stills)
