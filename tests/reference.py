"""A second engine that shares no idea with the first: it counts nanoseconds, one at a time.

For costs of a few ns. Its only rule: at each instant the lowest (step, rank) that can happen does, and
between instants every main loop advances by 1/f(r).
"""

from math import inf

STEPS = ("drained", "merge", "next", "leave", "enter", "multiply")
FIELDS = ("cta", "sm", "slot", "issue", "start", "drain", "ready", "fixup", "done")


class Stuck(Exception):
    """Nothing can happen any more, and not all segments are done."""


class Lane:
    def __init__(self, sm, place):
        self.sm, self.place = sm, place
        self.step, self.at = "leave", 0
        self.cta, self.row, self.todo, self.work, self.under = None, None, [], inf, False


def foreign_partials(plan):
    """{the last row of each tile: the tile's other rows}, rows counted in plan order, the queue's last."""
    rows_of = {}
    for row, segment in enumerate([*plan.segments, *plan.shared]):
        rows_of.setdefault(int(segment["tile"]), []).append(row)
    return {rows[-1]: rows[:-1] for rows in rows_of.values()}


def play(plan, device, costs, work):
    """{row: its FIELDS}; `work[row]` is its main loop alone on an SM, ns. Raises Stuck."""
    filling = device.filling
    lanes = [Lane(sm, filling[:rank].count(sm)) for rank, sm in enumerate(filling)]
    own = {cta: [row for row, s in enumerate(plan.segments) if s["cta"] == cta] for cta in range(plan.ctas)}
    queue = list(range(len(plan.segments), len(plan.segments) + len(plan.shared)))
    foreign = foreign_partials(plan)
    waiting, log, done = list(range(plan.ctas)), {}, {}
    written, takes_turns = {}, costs.epilogue_serialisation > 0 and device.ctas_per_sm > 1
    now = 0

    def able(lane):
        if lane.step == "drained":
            return lane.work < 1e-6
        if lane.step == "merge":
            return all(done.get(row, inf) <= now for row in foreign[lane.row])
        return lane.at <= now and (lane.step != "leave" or bool(waiting))

    def will_be(lane):
        if lane.step == "merge":
            return any(done.get(row, 0) > now for row in foreign[lane.row])
        return lane.step == "drained" or lane.at > now

    def work_for(lane):
        if lane.todo:
            return lane.todo.pop(0)
        return queue.pop(0) if queue else None

    def issue(lane, gap):
        row = work_for(lane)
        if row is None:
            return False
        lane.under = done.get(lane.row, 0) > now + gap
        lane.row = row
        log[lane.row] = [lane.cta, lane.sm, lane.place, now, now + gap]
        lane.step, lane.at = "multiply", now + gap
        return True

    def store(lane, fixup, end, following):
        log[lane.row] += [now, fixup, end]
        done[lane.row] = end
        lane.step, lane.at = "next", following

    while waiting or queue or len(done) < len(plan.segments) + len(plan.shared):
        while True:
            first = [(STEPS.index(lane.step), rank) for rank, lane in enumerate(lanes) if able(lane)]
            if not first:
                break
            lane = lanes[min(first)[1]]
            if lane.step == "drained":
                log[lane.row].append(now)
                lane.work = inf
                if foreign.get(lane.row):
                    lane.step = "merge"
                elif lane.row not in foreign and costs.partial is not None:
                    store(lane, now, now + costs.partial, now + costs.partial)
                else:
                    end = now + costs.epilogue
                    writes = written.get(lane.sm, 0)
                    if takes_turns and writes > now:
                        end = max(end, writes + costs.epilogue_serialisation)
                    written[lane.sm] = max(writes, end)
                    store(lane, now, end, now if costs.overlap else end)
            elif lane.step == "merge":
                fixup = now + costs.merge + costs.fixup * len(foreign[lane.row])
                end = fixup + costs.epilogue
                store(lane, fixup, end, fixup if costs.overlap else end)
            elif lane.step == "next":
                if not issue(lane, costs.tile_gap):
                    lane.step, lane.at = "leave", done[lane.row]
            elif lane.step == "leave":
                lane.cta = waiting.pop(0)
                lane.todo = list(own[lane.cta])
                lane.step, lane.at = "enter", now
            elif lane.step == "enter":
                loads = max(now + costs.launch, written.get(lane.sm, 0) if takes_turns else 0)
                if not issue(lane, loads - now + costs.prologue):
                    lane.step, lane.at = "leave", now + costs.launch
            else:
                lane.step, lane.work = (
                    "drained",
                    work[lane.row] + (costs.epilogue_overlap_penalty if lane.under else 0),
                )
        if not any(map(will_be, lanes)) and (waiting or queue or len(done) < len(work)):
            raise Stuck
        for sm in device.free_sms:
            busy = [lane for lane in lanes if lane.sm == sm and lane.step == "drained"]
            for lane in busy:
                f = costs.coresidency[min(len(busy), len(costs.coresidency)) - 1]
                lane.work -= 1 / f
        now += 1
    return {row: tuple(entry) for row, entry in log.items()}
