"""Reading: what a command line may say about how a file is to be read, beside the facts of its run.

map         what the file calls a column: {"start": "t0"}, `--map start=t0`
tile_from   where tiles come from that no row names: "cta", "order" or a file, see
            `tilesim.formats.tile_source`
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilesim.errors import TilesimError, TraceError, shown, unknown

NAMES = ("map", "tile_from")
OF_ROWS = (
    "tile", "pid_m", "pid_n", "sm", "start", "end", "done", "cta", "k0", "k1", "entry", "drain", "ready",
    "fixup", "slot", "issue", "cycles", "item", "size",
)  # fmt: skip
"""Columns that a file may have under another name; `item` is a text."""
OF_SLICES = ("main", "epilogue", "kernel")
"""What else slices are told by: the names of those that are main loops and epilogues, and of a kernel."""


@dataclass(frozen=True, slots=True)
class Reading:
    """`names`: what the file calls what tilesim calls so. `tile_from`: "" where rows name their tiles.
    `items`: whether each row is a work item."""

    names: Mapping[str, str] = field(default_factory=dict)
    tile_from: str = ""
    items: bool = False

    @staticmethod
    def of(given: Mapping[str, Any]) -> "Reading":
        """What `given` says; raises TraceError for a name that nothing goes by."""
        names = dict(given.get("map", {}))
        for name in names:
            if name not in (*OF_ROWS, *OF_SLICES):
                raise TraceError(unknown("name to map", name, (*OF_ROWS, *OF_SLICES)))
        return Reading(names, given.get("tile_from") or "", bool(given.get("items")))

    def theirs(self, name: str) -> str:
        """What the file calls `name`, in small letters."""
        return self.names.get(name, name).lower()

    def renamed(self, columns: Iterable[str]) -> list[str]:
        """Columns of a file by tilesim's names; raises TraceError where one that is mapped is not there."""
        found = [column.strip().lower() for column in columns]
        ours = {self.theirs(name): name for name in self.names if name in OF_ROWS}
        for theirs, name in ours.items():
            if theirs not in found:
                there = listed(found)
                raise TraceError(f"there is no column {shown(theirs)} to take {name} from; {there}")
        taken = set(ours.values())
        return [ours.get(column, f"{column} of the file" if column in taken else column) for column in found]


AS_IT_IS = Reading()
"""Nothing has another name, and rows name their tiles."""


def listed(names: Iterable[str], most: int = 12) -> str:
    """What there is, for a sentence.

    >>> listed(["sm", "t0"]), listed([])
    ("there are 'sm', 't0'", 'there are none')
    """
    found = list(dict.fromkeys(names))
    words = ", ".join(shown(name) for name in found[:most]) + ", ..." * (len(found) > most)
    return f"there are {words}" if found else "there are none"


def pairs(values: Iterable[str]) -> dict[str, str]:
    """`NAME=COLUMN` as a mapping; raises TilesimError where a value is none.

    >>> pairs(["start=t0", "sm=Core id"])
    {'start': 't0', 'sm': 'Core id'}
    """
    found: dict[str, str] = {}
    for value in values:
        name, sign, theirs = value.partition("=")
        if not (sign and name.strip() and theirs.strip()):
            raise TilesimError(f"{shown(value)} maps nothing; write NAME=COLUMN, such as start=begin_ns")
        if name.strip().lower() in found:
            raise TilesimError(f"{name.strip().lower()} is mapped twice; give it once")
        found[name.strip().lower()] = theirs.strip()
    return found
