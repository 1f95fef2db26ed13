"""A second engine that shares no idea with the first: it counts nanoseconds, one at a time.

For plans that cut no tile and costs of a few ns. Its only rule: at each instant the lowest (step, rank)
that can happen does, and between instants every main loop advances by 1/f(r).
"""

from math import inf

STEPS = ("drained", "next", "leave", "enter", "multiply")


class Lane:
    def __init__(self, sm, place):
        self.sm, self.place = sm, place
        self.step, self.at = "leave", 0
        self.cta, self.row, self.todo, self.work, self.under = None, None, [], inf, False


def play(plan, device, costs, work):
    """{row: (cta, sm, slot, issue, start, drain, done)}; `work[row]` is its main loop alone on an SM, ns."""
    filling = device.filling
    lanes = [Lane(sm, filling[:rank].count(sm)) for rank, sm in enumerate(filling)]
    own = {cta: [row for row, s in enumerate(plan.segments) if s["cta"] == cta] for cta in range(plan.ctas)}
    queue = list(range(len(plan.segments), len(plan.segments) + len(plan.shared)))
    waiting, log, done = list(range(plan.ctas)), {}, {}
    written, takes_turns = {}, costs.epilogue_serialisation > 0 and device.ctas_per_sm > 1
    door = 0
    now = 0

    def ready(lane):
        if lane.step == "drained":
            return lane.work < 1e-6
        return lane.step in STEPS and lane.at <= now and (lane.step != "leave" or bool(waiting))

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

    while waiting or queue or len(done) < len(plan.segments) + len(plan.shared):
        while True:
            able = [(STEPS.index(lane.step), rank) for rank, lane in enumerate(lanes) if ready(lane)]
            if not able:
                break
            lane = lanes[min(able)[1]]
            if lane.step == "drained":
                done[lane.row] = now + costs.epilogue
                writes = written.get(lane.sm, 0)
                if takes_turns and writes > now:
                    done[lane.row] = max(done[lane.row], writes + costs.epilogue_serialisation)
                written[lane.sm] = max(writes, done[lane.row])
                log[lane.row] += [now, done[lane.row]]
                lane.step, lane.at, lane.work = "next", now if costs.overlap else done[lane.row], inf
            elif lane.step == "next":
                if not issue(lane, costs.handover + (costs.staging if done[lane.row] > now else 0)):
                    lane.step, lane.at = "leave", done[lane.row]
            elif lane.step == "leave":
                lane.cta = waiting.pop(0)
                lane.todo = list(own[lane.cta])
                lane.step, lane.at = "enter", max(now, door)
                door = lane.at + costs.dispatch
            elif lane.step == "enter":
                loads = max(now + costs.launch, written.get(lane.sm, 0) if takes_turns else 0)
                if not issue(lane, loads - now + costs.prologue):
                    lane.step, lane.at = "leave", now + costs.launch
            else:
                lane.step, lane.work = "drained", work[lane.row] + (costs.contention if lane.under else 0)
        for sm in device.free_sms:
            busy = [lane for lane in lanes if lane.sm == sm and lane.step == "drained"]
            for lane in busy:
                f = costs.coresidency[min(len(busy), len(costs.coresidency)) - 1]
                lane.work -= 1 / f
        now += 1
    return {row: tuple(entry) for row, entry in log.items()}
