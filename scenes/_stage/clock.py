"""The clock of a panel."""

from dataclasses import dataclass, replace

from .board import Text
from .script import microseconds


@dataclass(frozen=True, slots=True)
class Clock:
    """The time since the first issue; it stops when the trace does."""

    at: Text
    end: int

    def __call__(self, t: float) -> tuple[Text]:
        return (replace(self.at, text=microseconds(min(t, self.end))),)
