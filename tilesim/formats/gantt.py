"""ASCII lanes: a line per slot, for a terminal and for tests whose expected picture a person can read."""

from itertools import count

import numpy as np

from tilesim.metrics import slot_index
from tilesim.text import plural
from tilesim.traces import Trace

IDLE = "."
LAUNCH, MAIN, WAIT, FIXUP, EPILOGUE, UNDER = ">", "=", "?", "+", "-", "~"
LEGEND = {
    LAUNCH: "launch or hand-over",
    MAIN: "main loop, its tile's number in it",
    WAIT: "wait for partials",
    FIXUP: "adding partials",
    EPILOGUE: "epilogue",
    UNDER: "main loop with the epilogue of the tile before under it",
    IDLE: "idle",
}


def draw(trace: Trace, width: int = 100) -> str:
    """The lanes of `trace`, `width` columns of equal time from its zero to its last done, and below them how
    many SMs were free and got no work.

    A column shows what its left edge falls into; a main loop has at least one column, and opens with "[" and
    shows its tile's number where there is room. Lines have no trailing blanks.

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> run = simulate("naive", Problem(128, 640, 4, tile=(128, 128, 4)), Device(2), Costs.ideal())
    >>> print(draw(run, 30))
    naive on 2 SMs, simulated: 5 tiles, 3000 ns
          0         1         2         3 µs
          |         |         |         |
    SM 0  [0========[2========[4========
    SM 1  [1========[3========..........
    [= main loop, its tile's number in it   . idle
    """
    ctas, total = trace.device.ctas_per_sm, trace.makespan
    rows = trace.spans[np.lexsort((trace.spans["start"], slot_index(trace)))]
    used = np.unique(rows["sm"]).tolist()
    lanes = {(sm, slot): [IDLE] * width for sm in used for slot in range(ctas)}
    columns = {
        name: np.minimum(width, rows[name] * width // total).tolist()
        for name in ("issue", "start", "drain", "ready", "fixup", "done")
    }
    spans = list(zip(rows["sm"].tolist(), rows["slot"].tolist(), *columns.values(), strict=True))
    for sm, slot, issue, start, drain, ready, fixup, done in spans:
        lane = lanes[sm, slot]
        for first, last, mark in (
            (issue, start, LAUNCH), (drain, ready, WAIT), (ready, fixup, FIXUP), (fixup, done, EPILOGUE),
        ):  # fmt: skip
            lane[first:last] = [mark] * (last - first)
    for (sm, slot, _, start, drain, *_), tile in zip(spans, rows["tile"].tolist(), strict=True):
        _main_loop(lanes[sm, slot], start, drain, tile)

    names = [f"SM {sm}" + f".{slot}" * (ctas > 1) for sm, slot in lanes]
    margin = max(map(len, names)) + 2
    text = ["".join(lane) for lane in lanes.values()]
    tiles = plural(trace.problem.tiles, "tile")
    title = f"{trace.schedule} on {trace.gpu or trace.device.title}, {trace.origin}: {tiles}, {total} ns"
    axis = [" " * margin + line for line in _axis(total, width)]
    drawn = [f"{name:{margin}}{lane}" for name, lane in zip(names, text, strict=True)]
    idle = len(trace.device.free_sms) - len(used)
    rest = [f"... {plural(idle, 'idle SM')}"] * bool(idle)
    used_marks = set("".join(text)) | {MAIN}
    legend = [f"{'[' * (mark == MAIN)}{mark} {words}" for mark, words in LEGEND.items() if mark in used_marks]
    return "\n".join([title, *axis, *drawn, *rest, "   ".join(legend)])


def _main_loop(lane: list[str], start: int, drain: int, tile: int) -> None:
    """Draw a main loop over whatever is in the lane; where that is an epilogue, both go on."""
    start = min(start, len(lane) - 1)
    cells = [UNDER if mark == EPILOGUE else MAIN for mark in lane[start : max(start + 1, drain)]]
    cells[0], number = "[", str(tile)
    under = cells.count(UNDER)
    at = 1 + under if 1 + under + len(number) <= len(cells) else 1
    if at + len(number) <= len(cells):
        cells[at : at + len(number)] = number
    lane[start : start + len(cells)] = cells


def _axis(total: int, width: int) -> tuple[str, str]:
    unit, size = next((u, s) for u, s in (("ms", 10**6), ("µs", 10**3), ("ns", 1)) if total >= s)
    round_numbers = (digit * 10**power for power in count() for digit in (1, 2, 5))
    step = next(number for number in round_numbers if number * width >= 10 * total)
    labels = ticks = ""
    for time in range(0, total + 1, step):
        column = time * width // total
        labels = f"{labels:{column}}{time / size:g}"
        ticks = f"{ticks:{column}}|"
    return f"{labels} {unit}", ticks
