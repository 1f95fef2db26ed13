"""The rows and facts that a text file holds, whatever wrote it, and the Trace that they make.

A row is a segment, or a work item. docs/own-kernel.md lists its columns, and what counts where one is
missing; `done` is `end` too, and rows without `cta` leave ["cta"] in meta's `derived`. All are whole numbers,
times in ns from any zero; other columns are left alone. Tiles may come from elsewhere, see
`tilesim.formats.reading`. A work item is called by `items`, as large as `size` says, and numbered by `tile`
or else as it starts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tilesim.devices.device import MAX_CTAS_PER_SM, Device
from tilesim.errors import TraceError, shown
from tilesim.formats import reading
from tilesim.formats.reading import OF_ROWS, listed
from tilesim.spans import recorded_slots
from tilesim.spans.columns import LONGEST_NS, MOST_CYCLES, SPAN, TIMES
from tilesim.traces import Trace
from tilesim.work import Work

NEEDED = ("sm", "start", "end")
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

    def within(self, column: str, low: int, high: int, why: str = "") -> None:
        """Raise TraceError about the first row whose `column`, where there is one, is not in [low, high]."""
        if column in self.columns:
            values = self.columns[column]
            rule = f"it must be from {low} to {high}" + f" {why}" * bool(why)
            self.refuse((values < low) | (values > high), column, rule)

    def refuse(self, bad: np.ndarray, column: str, rule: str) -> None:
        """Raise TraceError about the first row where `bad` holds: what its `column` must be."""
        for row in np.flatnonzero(bad):
            raise TraceError(f"{self.at(row)}: {column} is {self.columns[column][row]}; {rule}")


def integers(
    name: str, values: Sequence[Any], number: Callable[[Any], int], at: Callable[[int], str]
) -> np.ndarray:
    """A column as int64; `number` raises ValueError for what is none, `at` names a row for the sentence."""
    found = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        try:
            found[row] = number(value)
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
    rows = replace(rows, columns=columns)
    if "done" in columns and "end" in columns:
        raise TraceError("both done and end are given; they are the same, so leave out one")
    if "done" in columns:
        columns["end"] = columns.pop("done")
    _check_there(rows, tiled=bool(tile_from or known.get("items")))
    if known.get("items") in TRUE:
        by_start = np.lexsort((columns["sm"], columns["start"]))
        columns.setdefault("tile", np.argsort(by_start))  # the place of each row in this order
        rows.within("tile", 0, len(rows.lines) - 1, "as each row is a work item")
        known |= reading.items(columns, rows.items)
    problem, device = reading.work(known), reading.device(known)
    if tile_from:
        columns |= reading.tiles_of_rows(tile_from, columns, problem, rows.at)
    if "tile" not in columns:
        rows.within("pid_m", 0, problem.tiles_m - 1)
        rows.within("pid_n", 0, problem.tiles_n - 1)
        columns["tile"] = columns["pid_m"] * problem.tiles_n + columns["pid_n"]
    _check_places(rows, problem, device)
    _check_coverage(rows, problem)
    spans = _spans(rows, problem)
    _check_times(rows, spans, device)
    entry = columns.get("entry")
    try:
        spans["slot"] = columns["slot"] if "slot" in columns else recorded_slots.slots(spans, entry)
    except TraceError as error:
        raise TraceError(f"{error}{_without_cta(rows)}") from None
    if "ctas_per_sm" not in known:
        device = replace(device, ctas_per_sm=int(spans["slot"].max()) + 1)
    for row in np.flatnonzero(spans["slot"] >= device.ctas_per_sm):
        raise TraceError(
            f"{rows.at(row)}: tile {spans['tile'][row]} is on SM {spans['sm'][row]} beside "
            f"{spans['slot'][row]} other thread blocks; ctas_per_sm is {device.ctas_per_sm}"
            + _without_cta(rows)
        )
    spans["issue"] = columns["issue"] if "issue" in columns else recorded_slots.issues(spans, entry)
    zero = min(0, int(spans["issue"].min()))  # times may be negative in a file, and not in a trace
    for time in TIMES:
        spans[time] -= zero
    tick = known["tick_ns"] if "tick_ns" in known else _step(rows)
    label, origin = known.get("schedule", name), known.get("origin", "measured")
    meta = reading.meta(known) | ({"derived": ["cta"]} if "cta" not in columns else {})
    return Trace(problem, device, label, spans, origin, tick, meta)


def _without_cta(rows: Rows) -> str:
    """What to add where rows are taken for more thread blocks than they may be of."""
    if "cta" in rows.columns:
        return ""
    return "; there is no cta, so each row counts as a thread block of its own: name the block of each"


def _check_there(rows: Rows, tiled: bool) -> None:
    """Raise TraceError where a column is missing, or all rows; `tiled`: tiles come from elsewhere."""
    lacking = [name for name in NEEDED if name not in rows.columns]
    if not (tiled or "tile" in rows.columns or {"pid_m", "pid_n"} <= set(rows.columns)):
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


def _check_places(rows: Rows, problem: Work, device: Device) -> None:
    rows.within("tile", 0, problem.tiles - 1, f"of {problem.title}")
    rows.within("sm", 0, device.sms - 1, f"of {device.title}")
    rows.refuse(~np.isin(rows.columns["sm"], device.free_sms), "sm", "another kernel holds that SM")
    for name, low, high in (
        ("cta", 0, 2**31 - 2),
        ("k0", 0, problem.k_steps - 1),
        ("k1", 1, problem.k_steps),
        ("slot", 0, MAX_CTAS_PER_SM - 1),
        ("cycles", 0, MOST_CYCLES),
    ):
        rows.within(name, low, high)


def _check_coverage(rows: Rows, problem: Work) -> None:
    """Every tile is there, once where it is not cut; what is wrong with cut tiles, Trace says."""
    tiles, first, index = np.unique(rows.columns["tile"], return_index=True, return_inverse=True)
    if not {"k0", "k1"} & set(rows.columns):
        for row in np.flatnonzero(first[index] != np.arange(len(index))):
            raise TraceError(
                f"{rows.at(row)}: tile {tiles[index[row]]} was computed in {rows.at(first[index[row]])} "
                "already; where tiles are cut along K, rows need k0 and k1"
            )
    for missing in np.flatnonzero(np.append(tiles, -1) != np.arange(len(tiles) + 1)):
        if missing < problem.tiles:
            raise TraceError(f"tile {missing} is never computed; there are tiles 0 to {problem.tiles - 1}")


def _spans(rows: Rows, problem: Work) -> np.ndarray:
    columns = rows.columns
    spans = np.zeros(len(rows.lines), SPAN)
    spans["done"] = spans["drain"] = columns["end"]
    spans["cta"] = np.arange(len(spans))
    spans["k1"] = problem.k_steps
    for name in ("tile", "sm", "start", "cta", "k0", "k1", "drain", "cycles"):
        if name in columns:
            spans[name] = columns[name]
    spans["ready"] = columns.get("ready", spans["drain"])
    spans["fixup"] = columns.get("fixup", spans["ready"])
    return spans


def _check_times(rows: Rows, spans: np.ndarray, device: Device) -> None:
    """What happens to a segment happens in order, and the run is no longer than a trace can be."""
    times = {name: rows.columns.get(name, spans["start"]) for name in ("entry", "issue")}
    times |= {name: spans[name] for name in ("start", "drain", "ready", "fixup")} | {"end": spans["done"]}
    # Those that the file has come first: a sentence about a derived time would name what nobody wrote.
    in_order = list(times)[2:]
    written = [name for name in in_order if name in rows.columns]
    for earlier, later in [
        ("start", "end"),
        ("entry", "start"),
        ("issue", "start"),
        *pairwise(written),
        *pairwise(in_order),
    ]:
        for row in np.flatnonzero(times[later] < times[earlier]):
            raise TraceError(
                f"{rows.at(row)}: tile {spans['tile'][row]} has its {later} at {times[later][row]} ns, "
                f"before its {earlier} at {times[earlier][row]} ns"
            )
    begin = np.minimum(times["entry"], times["issue"])
    first, last = int(begin.argmin()), int(times["end"].argmax())
    length, limit = int(times["end"][last]) - int(begin[first]), LONGEST_NS // device.slots
    if length > limit:
        raise TraceError(
            f"{rows.at(first)} begins at {begin[first]} ns and {rows.at(last)} ends at "
            f"{times['end'][last]} ns; they can be at most {limit} ns apart"
        )


def _step(rows: Rows) -> int:
    """The greatest step that all times are whole numbers of, from the first of them: ns, at most 1 s."""
    times = np.concatenate([rows.columns[name] for name in ("start", "end", "drain") if name in rows.columns])
    return min(10**9, max(1, int(np.gcd.reduce(times - times.min()))))
