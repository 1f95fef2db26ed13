"""Reading: what a command line may say about how a file is to be read, beside the facts of its run.

`map` says what the file calls a column: {"start": "t0"}, `--map start=t0`. `tile_from` says where tiles come
from that no row names: "cta", "order" or a file, as docs/profilers.md explains.

Facts hold for a whole run, as a text file or a command line may say them:

m, n, k, tile     of the problem; a tile is "128x256x64" or three sizes. Needed, unless there are `items`.
items, sizes      of work that is no matrix product: names, or true where each row is an item, and their sizes
dtype, order      of the problem, bf16 and row-major where not said
device, sms       a GPU's name, or else how many SMs there are. One of them is needed, or a known gpu
ctas_per_sm       thread blocks that fit on an SM; else as many as were seen there at once
busy_sms          SMs that another kernel holds
sm_order          in which the hardware fills SMs
device_file       what is known of a device that is no preset, as `tilesim.devices.files` has it
schedule          what to call the kernel; else the file's name
origin            "measured", unless it was "simulated"
tick_ns           the step of the clock; else the greatest of which all times are whole numbers
gpu               whose badge a film shows; else the device's
meta              whatever else, JSON values
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tilesim.devices.device import Device
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import recall
from tilesim.errors import TilesimError, TraceError, shown, unknown
from tilesim.orders import rasterize
from tilesim.problems import Problem
from tilesim.storage.decode import decode
from tilesim.work import Work, WorkItems

PRODUCT, ITEMS = ("m", "n", "k", "tile", "dtype", "order"), ("items", "sizes")
PROBLEM = (*PRODUCT, *ITEMS)
DEVICE = ("device", "sms", "ctas_per_sm", "busy_sms", "sm_order", "device_file")
FACTS = (*PROBLEM, *DEVICE, "schedule", "origin", "tick_ns", "gpu", "meta")
ABOUT_DEVICE = ("device", "device_file", "sms", "sm_order")
"""What does not hold for another device."""
SUCH_AS = {"m": 4096, "n": 4096, "k": 512, "tile": "128x256x64"}
"""What a sentence proposes: the problem that the command line takes where it is told none."""
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

    def renamed(self, columns: Iterable[str]) -> list[str]:
        """Columns of a file by tilesim's names; raises TraceError where one that is mapped is not there."""
        found = [column.strip().lower() for column in columns]
        ours = {theirs.lower(): name for name, theirs in self.names.items() if name in OF_ROWS}
        for theirs, name in ours.items():
            if theirs not in found:
                there = listed(found)
                raise TraceError(f"there is no column {shown(theirs)} to take {name} from; {there}")
        taken = set(ours.values())
        return [ours.get(column, f"{column} of the file" if column in taken else column) for column in found]


AS_IT_IS = Reading()
"""Nothing has another name, and rows name their tiles."""


def listed(names: Iterable[str], most: int = 12) -> str:
    """What there is, for a sentence."""
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


WAYS = ("cta", "order")
FROM_TABLE = ("tile", "k0", "k1")
Columns = Mapping[str, np.ndarray]
At = Callable[[int], str]


def tiles_of_rows(how: str | Columns, found: Columns, problem: Work, at: At) -> dict[str, np.ndarray]:
    """`tile` of the rows whose columns are `found`, from a table also k0 and k1: int64 [rows]. `how`: one of
    WAYS, or the columns of a table. Raises TraceError, naming a row as `at` does."""
    if "cta" not in found:
        raise TraceError(
            "there is no cta, the thread block of a row, by which its tile could be found; "
            "name it with --map cta=NAME"
        )
    cta, turn = found["cta"], _turns(found)
    for row in np.flatnonzero(cta < 0):
        raise TraceError(f"{at(row)}: cta is {cta[row]}; it cannot be negative")
    if not isinstance(how, str):
        return _from_table(how, cta, turn, at)
    place = cta if how == "cta" else cta + turn * (int(cta.max()) + 1)
    for row in np.flatnonzero((how == "cta") & (turn > 0)):
        raise TraceError(
            f"{at(row)} is the second of block {cta[row]}; tiles of such come by --tile-from order"
        )
    if problem.tiles > len(cta):
        raise TraceError(f"it has {len(cta)} rows with a tile each; the problem has {problem.tiles} tiles")
    order = rasterize(problem)
    for row in np.flatnonzero(place >= len(order)):
        raise TraceError(
            f"{at(row)}: number {turn[row]} of block {cta[row]} is at place {place[row]} of the order; "
            f"there are {len(order)} tiles"
        )
    return {"tile": order[place].astype(np.int64)}


def items(found: Columns, names: Sequence[str]) -> dict[str, list[Any]]:
    """The facts `items` and `sizes` of rows that are work items, by `names` or else by their numbers."""
    first = np.unique(found["tile"], return_index=True)[1].tolist()
    called = [names[row] if names else f"item {found['tile'][row]}" for row in first]
    return {"items": called, "sizes": found["size"][first].tolist() if "size" in found else []}


def _turns(found: Columns) -> np.ndarray:
    """How many rows of its block come before each row, in order of time: int64, shape [rows]."""
    by_block = np.lexsort((found.get("start", np.zeros(len(found["cta"]))), found["cta"]))
    sorted_ctas = found["cta"][by_block]
    turn = np.empty(len(by_block), np.int64)
    turn[by_block] = np.arange(len(by_block)) - np.searchsorted(sorted_ctas, sorted_ctas)
    return turn


def _from_table(table: Columns, cta: np.ndarray, turn: np.ndarray, at: At) -> dict[str, np.ndarray]:
    if not {"cta", "tile"} <= set(table):
        raise TraceError("a table of tiles needs the columns cta and tile")
    keys = zip(table["cta"].tolist(), _turns({"cta": table["cta"]}).tolist(), strict=True)
    lines = {key: line for line, key in enumerate(keys)}
    places = [lines.get(key, -1) for key in zip(cta.tolist(), turn.tolist(), strict=True)]
    for row in np.flatnonzero(np.array(places) < 0):
        raise TraceError(
            f"the table of tiles has no row {turn[row]} (from 0) of block {cta[row]}, which {at(row)} is"
        )
    return {name: table[name][places] for name in FROM_TABLE if name in table}


def together(found: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` over what was `found` in a file; a device that is given drops what the file says of another."""
    if {"device", "sms"} & set(given):
        found = {name: value for name, value in found.items() if name not in ABOUT_DEVICE}
    return {**found, **given}


def work(known: Mapping[str, Any]) -> Work:
    """The work that facts describe; raises TraceError where they say too little, ProblemError if wrong."""
    if known.get("items"):
        return WorkItems(known["items"], known.get("sizes", ()))
    lacking = [name for name in ("m", "n", "k", "tile") if name not in known]
    if lacking:
        names = " and ".join(", ".join(lacking).rsplit(", ", 1))
        how = " ".join(f"--{name} {SUCH_AS[name]}" for name in lacking)
        raise TraceError(
            f"it does not say {names} of the problem; give {how}, or --items if it is no matrix product"
        )
    values = {name: known[name] for name in PRODUCT if name in known}
    tile = values["tile"]
    if isinstance(tile, str):
        sizes = tile.lower().split("x")
        if all(size.isascii() and size.isdigit() and len(size) < 16 for size in sizes):
            values["tile"] = tuple(map(int, sizes))
    return Problem(**values)


def device(known: Mapping[str, Any]) -> Device:
    """The Device that facts describe, with a slot per SM where they do not say how many; errors as above."""
    name = known.get("device")
    if not name and "sms" not in known:
        name = known["gpu"] if preset_of(str(known.get("gpu", ""))) else ""
    if not name and "sms" not in known:
        raise TraceError(
            "it does not say which GPU it ran on; give --device h200 or --sms 132, or write it into the file"
        )
    values = {name: known[name] for name in ("sms", "ctas_per_sm", "busy_sms") if name in known}
    if name:
        values["device"] = name
        if "device_file" in known:
            recall(str(name).lower(), known["device_file"])
    made = Device.chosen(values, Device(1))
    order = known.get("sm_order", made.sm_order)
    return replace(made, sm_order=decode(tuple[int, ...], order, "sm_order", TraceError))


def meta(known: Mapping[str, Any]) -> dict[str, Any]:
    """What a trace's meta holds: JSON values; raises TraceError where that is no object."""
    values = decode(dict[str, Any], known.get("meta", {}), "meta", TraceError)
    return {**values, **{name: known[name] for name in ("gpu",) if name in known}}
