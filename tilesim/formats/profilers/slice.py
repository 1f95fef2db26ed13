"""Slice: a named interval on a named track, as profilers write them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Slice:
    """Slice `number` of its file; `begin` and `end` in ns; `kernel` is "" if the file does not name it."""

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
    """Identifies the track, whatever its name."""

    @property
    def called(self) -> str:
        return f"{self.name} {self.category}"
