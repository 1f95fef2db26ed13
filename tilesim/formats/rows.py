"""The rows and facts that a text file holds, whatever wrote it, and the Trace that they make.

A row is a segment, or a work item. docs/own-kernel.md lists its columns, and what counts where one is
missing; `done` is `end` too, and rows without `cta` leave ["cta"] in meta's `derived`. All are whole numbers,
times in ns from any zero; other columns are left alone. Tiles may come from elsewhere, see
`tilesim.formats.reading`. A work item is called by `items`, as large as `size` says, and numbered by `tile`
or else as it starts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tilesim.devices.device import MAX_CTAS_PER_SM
from tilesim.errors import TraceError, shown
from tilesim.formats import reading
from tilesim.formats.reading import OF_ROWS, Columns, listed
from tilesim.spans import recorded_slots
from tilesim.spans.checks import row_fault
from tilesim.spans.columns import FIELDS, SPAN, TIMES
from tilesim.traces import Trace
from tilesim.work import Work

TRUE = (True, "true", 1)
"""What the fact `items` is where rows name the items."""
COLUMNS = tuple(name for name in OF_ROWS if name != "item")
"""Those of whole numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Facts by name, and `columns`, int64 arrays of one length by name. `lines` numbers the rows as the file
    does, and `noun` is what it calls them. `items`: what each row is called, () where nothing says it.
    `called`: what the file's own columns are called."""

    known: Mapping[str, Any]
    columns: Mapping[str, np.ndarray]
    lines: np.ndarray
    noun: str
    items: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    def at(self, row: int) -> str:
        """How a sentence names a row."""
        return f"{self.noun} {self.lines[row]}"


def integers(name: str, values: Sequence[Any], at: Callable[[int], str]) -> np.ndarray:
    """A column of whole numbers, or texts of such, as int64; `at` names a row for the sentence."""
    found = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        try:
            if type(value) not in (int, str):
                raise ValueError
            found[row] = int(value)
        except (ValueError, OverflowError):
            ns = " of ns" * (name in ("end", "entry", *TIMES))
            raise TraceError(
                f"{at(row)}: {name} is {shown(value)}; it must be a whole number{ns}, of at most 64 bits"
            ) from None
    return found


def make(
    rows: Rows, given: Mapping[str, Any], name: str, tile_from: str | Mapping[str, np.ndarray] = ""
) -> Trace:
    """The Trace of `rows`; facts that are `given` count over the file's, and `name` labels it without one.
    `tile_from`: as `reading.tiles_of_rows` takes it.

    Raises TraceError, naming the row at fault, and ProblemError or DeviceError for facts.
    """
    known = reading.together(rows.known, given)
    columns = dict(rows.columns)
    if "done" in columns and "end" in columns:
        raise TraceError("both done and end are given; they are the same, so leave out one")
    if "end" in columns:
        columns["done"] = columns.pop("end")
    _check_there(rows, columns, tiled=bool(tile_from or known.get("items")))
    if known.get("items") in TRUE:
        by_start = np.lexsort((columns["sm"], columns["start"]))
        columns.setdefault("tile", np.argsort(by_start))  # the place of each row in this order
        known |= reading.items(columns, rows.items)
    problem, device = reading.work(known), reading.device(known)
    if tile_from:
        columns |= reading.tiles_of_rows(tile_from, columns, problem, rows.at)
    if "tile" not in columns:
        columns["tile"] = columns["pid_m"] * problem.tiles_n + columns["pid_n"]
    if "ctas_per_sm" not in known:  # here as many as can be, below as many as there were
        device = replace(device, ctas_per_sm=MAX_CTAS_PER_SM)
    if fault := row_fault(problem, device, columns, rows.at):
        raise TraceError(fault)
    if not {"k0", "k1"} & set(columns):
        _check_uncut(rows, columns["tile"])
    spans = _spans(columns, problem)
    alone = "; there is no cta, so each row counts as a thread block of its own: name the block of each"
    hint = "" if "cta" in columns else alone
    if "slot" not in columns:
        try:
            spans["slot"] = recorded_slots.slots(spans, columns.get("entry"))
        except TraceError as error:
            raise TraceError(f"{error}{hint}") from None
    if "ctas_per_sm" not in known:
        device = replace(device, ctas_per_sm=int(spans["slot"].max()) + 1)
    for row in np.flatnonzero(spans["slot"] >= device.ctas_per_sm).tolist():
        raise TraceError(
            f"{rows.at(row)}: tile {spans['tile'][row]} is on SM {spans['sm'][row]} beside "
            f"{spans['slot'][row]} other thread blocks; ctas_per_sm is {device.ctas_per_sm}{hint}"
        )
    if "issue" not in columns:
        spans["issue"] = recorded_slots.issues(spans, columns.get("entry"))
    tick = known["tick_ns"] if "tick_ns" in known else _step(columns)
    label, origin = known.get("schedule", name), known.get("origin", "measured")
    meta = reading.meta(known) | ({"derived": ["cta"]} if "cta" not in columns else {})
    return Trace(problem, device, label, spans, origin, tick, meta)


def _check_there(rows: Rows, columns: Columns, tiled: bool) -> None:
    """Raise TraceError where a column is missing, or all rows; `tiled`: tiles come from elsewhere."""
    lacking = [name.replace("done", "end") for name in ("sm", "start", "done") if name not in columns]
    if not (tiled or "tile" in columns or {"pid_m", "pid_n"} <= set(columns)):
        lacking.insert(0, "tile")
    if lacking:
        how = [f"; {listed(rows.called)}: give one with --map {lacking[0]}=NAME"] * bool(rows.called)
        how += [", or --tile-from cta|order|FILE, or --items"] * ("tile" in lacking and bool(rows.called))
        raise TraceError(
            f"there is no {' and no '.join(lacking)}; rows need tile (or pid_m and pid_n), sm, start and end"
            + "".join(how)
        )
    if not len(rows.lines):
        raise TraceError("it has no rows; it needs at least one")


def _check_uncut(rows: Rows, tile: np.ndarray) -> None:
    """Raise TraceError where rows that are whole tiles repeat one; what else is wrong, Trace says."""
    first = np.unique(tile, return_index=True)[1]
    for row in np.setdiff1d(np.arange(len(tile)), first)[:1]:
        raise TraceError(
            f"{rows.at(row)}: tile {tile[row]} was computed before; where tiles are cut along K, rows need "
            "k0 and k1"
        )


def _spans(columns: Columns, problem: Work) -> np.ndarray:
    spans = np.zeros(len(columns["done"]), SPAN)
    spans["cta"], spans["k1"] = np.arange(len(spans)), problem.k_steps
    spans["drain"] = columns.get("drain", columns["done"])
    spans["ready"] = columns.get("ready", spans["drain"])
    spans["fixup"] = columns.get("fixup", spans["ready"])
    for name in [name for name in FIELDS if name in columns]:
        spans[name] = columns[name]
    return spans


def _step(columns: Columns) -> int:
    """The greatest step that all times are whole numbers of, from the first of them: ns, at most 1 s."""
    times = np.concatenate([columns[name] for name in ("start", "done", "drain") if name in columns])
    return min(10**9, max(1, int(np.gcd.reduce(times - times.min()))))
