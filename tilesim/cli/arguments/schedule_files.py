"""Schedules in the user's own files: "mine.py:snake" is the function `snake` of mine.py."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from tilesim.errors import ScheduleError, unknown
from tilesim.schedules import SCHEDULES, line, said
from tilesim.text import resolve

NAMED = re.compile(r"(?P<file>.+\.py)(?::(?P<name>.*))?", re.IGNORECASE | re.DOTALL)


def file_and_name(text: str) -> tuple[str, str] | None:
    """The file and the name in it that "FILE.py:NAME" says, "" where it says none; None of other texts.

    A drive has a colon too, and Windows writes endings as it likes.
    """
    found = NAMED.fullmatch(text)
    return (found["file"], found["name"] or "") if found else None


def register(text: str) -> str:
    """Run the file of "mine.py:snake:2", register the function, and return its name as a schedule: "snake:2".
    Raises ScheduleError where that fails, or where the name is another schedule's."""
    path, words = file_and_name(text) or (text, "")
    name = words.partition(":")[0]
    if not name:
        raise ScheduleError(f"{path} does not say which function; write it as {path}:FUNCTION")
    module = _run(path)
    if not callable(function := getattr(module, name, None)):
        found = vars(module).items()
        own = [key for key, value in found if getattr(value, "__module__", "") == module.__name__]
        choices = unknown("function", name, own) if own else "it defines no function"
        raise ScheduleError(f"{path}: {choices}")
    resolve("schedule", words, {name: function}, 2, ScheduleError)
    SCHEDULES.add(name, function, path)
    return words


def register_all(texts: Sequence[str]) -> None:
    for text in texts:
        register(text)


def _run(path: str) -> ModuleType:
    """The module that a file makes; no compiled copy of it is left beside it."""
    if not Path(path).is_file():
        raise ScheduleError(f"{path}: there is no such file")
    module = ModuleType(f"schedules of {path}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # where dataclasses look for the names in their annotations
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise ScheduleError(f"{path} cannot be loaded{line(error)} ({said(error)})") from error
    return module
