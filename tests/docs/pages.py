"""The pages, and what stands on them to be tried: fenced blocks, each with the comment in front of it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tilesim import SCHEDULES

ROOT = Path(__file__).parents[2]
DOCS = sorted(page for folder in ("docs", "docs/ideas") for page in (ROOT / folder).glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
FENCED = re.compile(
    r"(?:^<!-- (?P<role>[\w ]+): (?P<what>.+?) -->\n)?^```(?P<language>\S*)(?: [^\n]*)?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block. `role` and `what` are from the comment `<!-- role: what -->` in front of it."""

    language: str
    text: str
    role: str = ""
    what: str = ""


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = FENCED.finditer(page.read_text("utf-8"))
    return [Block(m["language"], m["text"], m["role"] or "", m["what"] or "") for m in found]


def commands(block: Block) -> list[str]:
    """The commands of a block of shell, without comments."""
    lines = (line.partition("  #")[0].strip() for line in block.text.splitlines())
    return [line for line in lines if line]


@cache
def made_figures() -> dict[str, str]:
    """All figures of the pages, made once."""
    from figures import figures

    return figures()


def run(
    *words: str | Path, cwd: Path, said: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command with this environment's programs first on the path; its input and output are text."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=os.environ | {"PATH": path} | environment,
        text=True,
        capture_output=True,
        input=said,
        timeout=300,
    )


@contextmanager
def there(folder: Path) -> Iterator[pytest.MonkeyPatch]:
    """In this process, where Manim is loaded once for all, in that folder, with its modules and schedules."""
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(SCHEDULES, "_registered", dict(SCHEDULES._registered))
        yield patch
