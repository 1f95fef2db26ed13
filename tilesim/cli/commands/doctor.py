"""`tilesim doctor`: what is installed, and how to fix what is not."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import click

from tilesim.cli.arguments.film_targets import LANGUAGES
from tilesim.cli.arguments.options import json_option
from tilesim.cli.packages import load
from tilesim.devices import gpus
from tilesim.errors import TilesimError
from tilesim.text import plural

EXTRAS = {
    "": "tilesim",
    "films": "films",
    "kernels": "kernels on a GPU",
    "scale": "large simulations",
    "calibration": "device files of GPUs",
    "tables": "tables as Parquet",
    "cluster": "films on many machines",
    "slides": "slides for PowerPoint",
}
"""The extras that users have a use for, each with what for; "" for what is always needed."""
NEEDED = ("", "films")
CLONE = Path(__file__).resolve().parents[2] / "pyproject.toml"
"""The project file of a clone, which knows more than what was noted when it was installed."""

REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*([^;]*)(?:;(.*))?")
BOUND = re.compile(r"(>=|<)\s*([0-9.]+)")


class Check(NamedTuple):
    use: str
    name: str
    state: str
    found: str = ""
    advice: str = ""
    needed: bool = False


def checks() -> Iterator[Check]:
    yield Check(EXTRAS[""], "Python", "ok", ".".join(map(str, sys.version_info[:3])), needed=True)
    for extra in EXTRAS:
        packages = [package(name, bounds, extra) for name, bounds in requirements(extra)]
        yield from packages
        if extra == "films" and all(one.state == "ok" for one in packages):
            yield from _libraries()
        if extra == "kernels":
            yield _gpu()


def requirements(extra: str) -> list[tuple[str, str]]:
    """The packages of an extra, or what is always needed, each with its bounds: ("manim", ">=0.22")."""
    if CLONE.is_file():
        project = tomllib.loads(CLONE.read_text("utf-8"))["project"]
        lines = project["optional-dependencies"][extra] if extra else project["dependencies"]
    else:
        of = {line: re.search(r"extra == ['\"](\w+)['\"]", line) for line in requires("tilesim") or []}
        lines = [line for line, found in of.items() if (found[1] if found else "") == extra]
    named = []
    for line in lines:
        name, bounds, marker = REQUIREMENT.fullmatch(line).groups()  # type: ignore[union-attr]
        if sys.platform == "linux" or "platform_system" not in (marker or ""):
            named.append((name, bounds.strip(" ()")))
    return named


def package(name: str, bounds: str, extra: str) -> Check:
    what = EXTRAS[extra], name
    install = f"pip install '.[{extra}]'" if extra else "pip install ."
    try:
        found = version(name)
    except PackageNotFoundError:
        return Check(*what, "missing", "", install, extra in NEEDED)
    state = "ok" if within(found, bounds) else "old"
    return Check(*what, state, found, "" if state == "ok" else install, extra in NEEDED)


def within(found: str, bounds: str) -> bool:
    numbers = _numbers(found)
    return all(
        (numbers >= _numbers(limit)) if sign == ">=" else (numbers < _numbers(limit))
        for sign, limit in BOUND.findall(bounds)
    )


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers at the head of a version, without zeros at their end: 1.0 is 1."""
    head = re.match(r"[0-9.]*", text)
    numbers = [int(part) for part in (head[0] if head else "").split(".") if part]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _libraries() -> Iterator[Check]:
    """What films need that is no package, as the packages that know tell it."""
    use = EXTRAS["films"]
    try:
        machine = load("scenes", "render.machine")
        yield Check(use, "cairo, Pango", "ok", machine.drawing(), needed=True)
    except (TilesimError, OSError) as error:
        advice = "install cairo and pango (apt install libcairo2 libpango-1.0-0 libpangocairo-1.0-0)"
        yield Check(use, "cairo, Pango", "missing", str(error), advice, True)
        return

    def all_of(name: str, missing: list[str], found: str, advice: str, needed: bool = False) -> Check:
        if missing:
            return Check(use, name, "missing", f"without {', '.join(missing)}", advice, needed)
        return Check(use, name, "ok", found, needed=needed)

    typefaces, language = load("scenes", "look.typefaces"), load("scenes", "look.language")
    advice = "install tilesim again, which brings them; films look different without them"
    yield all_of("fonts", typefaces.missing(), f"{typefaces.SANS}, {typefaces.MONO}", advice)
    lacking = {}
    for name in LANGUAGES:
        try:
            language.check_font(name)
        except TilesimError as error:
            lacking[name] = str(error)
    written = ", ".join(name for name in LANGUAGES if name not in lacking)
    yield Check(use, "languages", "missing" if lacking else "ok", written, "; ".join(lacking.values()))
    encoders, advice = "H.264, VP9, QuickTime animation", "pip install --force-reinstall av"
    yield all_of("encoders", machine.missing_encoders(), encoders, advice, needed=True)
    latex = machine.latex()
    advice = "only Manim's own Tex and MathTex need it (apt install texlive-latex-extra dvisvgm)"
    yield Check(use, "LaTeX", "ok" if latex else "missing", latex, "" if latex else advice)


def _gpu() -> Check:
    use, words = EXTRAS["kernels"], ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)
        name, driver = said.stdout.splitlines()[0].split(", ")
    except (OSError, subprocess.SubprocessError, LookupError, ValueError):
        advice = "kernels are recorded on a machine with an NVIDIA GPU and its driver; films need neither"
        return Check(use, "GPU", "missing", "", advice)
    count = said.stdout.count("\n") - 1
    others = f" and {plural(count, 'other')}" * bool(count)
    known = gpus.named(name)
    note = "" if known is None else f"; {known.note}" if known.note else f", preset {known.preset}"
    return Check(use, "GPU", "ok", f"{name}{others}, driver {driver}{note}")


@click.command(short_help="Check what is installed, and how to fix the rest.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check whether everything that tilesim can use is ok, missing, or too old, and say how to fix it.

    The exit code is 0 if films can be made, and 1 otherwise. Nothing is downloaded or changed.
    """
    found = list(checks())
    wanting = [check.name for check in found if check.needed and check.state != "ok"]
    if as_json:
        listed = [check._asdict() for check in found]
        click.echo(json.dumps({"films": not wanting, "checks": listed}, ensure_ascii=False))
    else:
        for use, group in groupby(found, lambda check: check.use):
            click.echo(use)
            for check in group:
                words = "; ".join(filter(None, (check.found, check.advice)))
                click.echo(f"  {check.state:8} {check.name:13} {words}".rstrip())
        verdict = f"cannot be made: see {', '.join(wanting)}" if wanting else "can be made"
        click.echo(f"films {verdict}")
    ctx.exit(1 if wanting else 0)
