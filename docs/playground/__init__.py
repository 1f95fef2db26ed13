"""The playground: a page of the documentation on which tilesim runs in the reader's browser.

`build` writes it into a folder that a server can give as it is. Its program is TypeScript in `source/`, and
Python for the browser is Pyodide, both of which `make playground` brings; see `docs/playground.md`.
"""

import json
import shutil
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlencode
from zipfile import ZIP_DEFLATED, ZipFile

import tilesim
from tilesim.player import playground

HERE = Path(__file__).parent
TILESIM = Path(tilesim.__file__).parent
PYODIDE = HERE.parents[1] / ".cache" / "pyodide"
"""Where `make playground` puts Python for the browser."""

RUNTIME = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
OURS = ("playground.js", "worker.js", "playground.css")
DATA = ("data/devices.json", "data/costs/*.json", "player/*.js", "player/*.css", "player/*.html")
"""Beside the modules, what tilesim reads to simulate and to show."""

ROWS = (
    {"m": "M", "n": "N", "k": "K"},
    {"tile": "Tile, M×N×K", "dtype": "Of A and B"},
    {"order": "Order of tiles"},
    {"device": "GPU", "sms": "SMs"},
    {"schedules": "Schedules, up to four"},
)
"""The form: fields beside one another, each with its label."""
WIDE = ("tile", "device")

EXAMPLES = {
    "the race": {"order": "grouped:8"},
    "a wave too many": {"m": "2176", "n": "2048", "schedules": "naive persistent stream-k"},
    "long K": {"m": "512", "n": "1024", "k": "16384", "schedules": "naive split-k:8 stream-k"},
    "four SMs": {"m": "384", "n": "1536", "sms": "4"},
}


def build(folder: Path, pyodide: Path = PYODIDE) -> None:
    """Write the page and all that it needs into `folder`; without `pyodide`, it says what it lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page(), "utf-8")
    archive(folder / "tilesim.zip")
    for file in (*(HERE / name for name in OURS), TILESIM / "player" / "player.css"):
        shutil.copy(file, folder)
    if (pyodide / "pyodide.mjs").is_file():
        shutil.copytree(pyodide, folder / "pyodide", dirs_exist_ok=True)


def archive(path: Path) -> None:
    """What of tilesim runs in the browser, all but its command line: a zip, the same to the byte."""
    modules = (file for file in TILESIM.rglob("*.py") if "cli" not in file.relative_to(TILESIM).parts)
    files = {*modules, *(file for pattern in DATA for file in TILESIM.glob(pattern))}
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as found:
        for file in sorted(files):
            # Zip entries carry a time; opened by name alone, it is 1980.
            with found.open(f"tilesim/{file.relative_to(TILESIM).as_posix()}", "w") as entry:
                entry.write(file.read_bytes())


def page() -> str:
    """The HTML of the page, whose form can be read before Python is loaded."""
    return Template((HERE / "page.html").read_text("utf-8")).substitute(
        policy=escape(_policy()),
        fields="\n".join(map(_row, ROWS)),
        examples="\n".join(
            f'<a href="#{escape(urlencode(fields))}">{words}</a>' for words, fields in EXAMPLES.items()
        ),
    )


def _row(labels: Mapping[str, str]) -> str:
    """Fields beside one another, and below them what is wrong with any."""
    fields = "".join(
        f'<div class="field{" wide" * (name in WIDE)}">'
        f'<label for="{name}">{words}</label>{_control(name)}</div>'
        for name, words in labels.items()
    )
    wrong = "".join(f'<p id="{name}-error" class="wrong" role="alert"></p>' for name in labels)
    return f'<div class="fields">{fields}</div>{wrong}'


def _control(name: str) -> str:
    about = f'id="{name}" name="{name}" aria-describedby="{name}-error"'
    default, offered = playground.DEFAULT[name], playground.choices().get(name, {})
    if offered and name != "schedules":
        options = "".join(
            f'<option value="{escape(value)}"{" selected" * (value == default)}>{escape(words)}</option>'
            for value, words in offered.items()
        )
        return f"<select {about}>{options}</select>"
    number = ' inputmode="numeric"' * (name in ("m", "n", "k", "sms"))
    hint = ' placeholder="all"' * (name == "sms")
    control = f'<input {about} value="{default}" maxlength="200"{number}{hint}>'
    chips = "".join(
        f'<button type="button" data-schedule="{escape(one)}" aria-pressed="false">{escape(one)}</button>'
        for one in offered
    )
    return control + (
        f'<div class="chips" role="group" aria-label="Schedules">{chips}</div>' if chips else ""
    )


def _policy() -> str:
    """A content security policy: what this folder holds, the player's own program and style, nothing else."""
    player = [(TILESIM / "player" / name).read_bytes() for name in ("player.js", "player.css")]
    program, style = (f"'sha256-{b64encode(sha256(text).digest()).decode()}'" for text in player)
    parts = [
        "default-src 'none'",
        f"script-src 'self' 'wasm-unsafe-eval' {program}",
        f"style-src 'self' {style}",
        "connect-src 'self'",
        "worker-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(parts)


def take_runtime(source: Path, numpy: Path, folder: Path = PYODIDE) -> None:
    """Put Pyodide's files from `source`, its npm package, and the wheel of its NumPy into `folder`.

    That package holds no NumPy, but the hash of the one that belongs to it, so it may come from anywhere:
    `numpy` is that wheel, or an archive that has it somewhere. Raises ValueError where it is another.
    """
    lock = json.loads((source / "pyodide-lock.json").read_text("utf-8"))
    wanted = lock["packages"]["numpy"]
    wheel = numpy.read_bytes()
    if numpy.name != wanted["file_name"]:
        with ZipFile(numpy) as found:
            names = [name for name in found.namelist() if name.endswith(f"/{wanted['file_name']}")]
            if not names:
                raise ValueError(f"{numpy.name} is not {wanted['file_name']} and does not hold it")
            wheel = found.read(names[0])
    if sha256(wheel).hexdigest() != wanted["sha256"]:
        raise ValueError(f"{numpy.name} is not the {wanted['file_name']} that Pyodide was released with")
    folder.mkdir(parents=True, exist_ok=True)
    for name in RUNTIME:
        shutil.copy(source / name, folder)
    (folder / wanted["file_name"]).write_bytes(wheel)
