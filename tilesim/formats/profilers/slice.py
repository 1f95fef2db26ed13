"""Slice: a named stretch of time on a named track, as profilers write it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Slice:
    """Of that number in its file; `begin` and `end` in ns. `kernel`: which one it is of, where the file
    says."""

    number: int
    name: str
    process: str
    thread: str
    begin: int
    end: int
    args: Mapping[str, Any] = field(default_factory=dict)
    category: str = ""
    kernel: str = ""
    track: object = None
    """What tells its track from others, whatever they are called."""

    @property
    def called(self) -> str:
        return f"{self.name} {self.category}"
