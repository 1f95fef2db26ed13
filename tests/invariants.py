"""What must hold of every run of a plan, stated a second time and without the engine's help."""

from itertools import pairwise

import numpy as np


def by_slot(spans):
    """{(sm, slot): its spans in the order of their main loops}."""
    lanes = {}
    for span in sorted(spans, key=lambda span: (span["start"], span["drain"])):
        lanes.setdefault((int(span["sm"]), int(span["slot"])), []).append(span)
    return lanes


def by_cta(spans):
    """{cta: its spans in the order of their main loops}."""
    ctas = {}
    for span in sorted(spans, key=lambda span: (span["start"], span["drain"])):
        ctas.setdefault(int(span["cta"]), []).append(span)
    return ctas


def segment(span):
    return int(span["tile"]), int(span["k0"]), int(span["k1"])


def check_run(plan, device, costs, spans):
    """`spans` are what `plan` may become on `device` under `costs`, whatever the jitter."""
    check_work(plan, spans)
    check_places(plan, device, spans)
    check_times(plan, costs, spans)


def check_work(plan, spans):
    """Each segment of the plan ran once; a thread block ran its own in order, then some of the queue's."""
    planned = sorted(map(segment, [*plan.segments, *plan.shared]))
    assert sorted(map(segment, spans)) == planned
    queue = [segment(row) for row in plan.shared]
    ctas = by_cta(spans)
    for cta in range(plan.ctas):
        own = [segment(row) for row in plan.segments if row["cta"] == cta]
        ran = [segment(span) for span in ctas.get(cta, [])]
        assert ran[: len(own)] == own
        places = [queue.index(entry) for entry in ran[len(own) :]]
        assert places == sorted(places)


def check_places(plan, device, spans):
    """A thread block keeps its slot; a slot holds one at a time, and multiplies for one segment at a time."""
    free = set(device.free_sms)
    for cta, ran in by_cta(spans).items():
        assert 0 <= cta < plan.ctas
        assert len({(span["sm"], span["slot"]) for span in ran}) == 1
    for (sm, slot), ran in by_slot(spans).items():
        assert sm in free
        assert 0 <= slot < device.ctas_per_sm
        for before, after in pairwise(ran):
            assert before["drain"] <= after["start"]
            if before["cta"] != after["cta"]:
                assert before["done"] <= after["issue"]
        ctas = [span["cta"] for span in ran]
        assert sum(a != b for a, b in pairwise(ctas)) == len(set(ctas)) - 1


def check_times(plan, costs, spans):
    """Each step of each segment takes what its knob says."""
    pieces = dict(zip(*np.unique(spans["tile"], return_counts=True), strict=True))
    rows = {segment(row): i for i, row in enumerate([*plan.segments, *plan.shared])}
    owner = {}
    for (tile, _, _), row in rows.items():
        owner[tile] = max(row, owner.get(tile, -1))
    for span in spans:
        owns = rows[segment(span)] == owner[span["tile"]]
        others = [s for s in spans if s["tile"] == span["tile"] and segment(s) != segment(span)]
        partials = pieces[span["tile"]] - 1 if owns else 0
        awaited = [s["done"] for s in others] if owns else []
        assert span["drain"] > span["start"]
        assert span["ready"] == max([span["drain"], *awaited])
        assert span["fixup"] - span["ready"] == (costs.merge + costs.fixup * partials if partials else 0)
        stored = not owns and costs.partial is not None
        took = span["done"] - span["fixup"] - (costs.partial if stored else costs.epilogue)
        under = [
            s["done"] for s in spans if s["sm"] == span["sm"] and s["fixup"] <= span["fixup"] < s["done"]
        ]
        assert took == 0 or (
            0 < took <= max(under) + costs.epilogue_serialisation - span["fixup"]
            and costs.epilogue_serialisation
        )
        assert took == 0 or not (stored or partials)
        assert span["cycles"] == 0
    previous = 0
    for _, ran in sorted(by_cta(spans).items()):
        waited = ran[0]["start"] - ran[0]["issue"] - costs.launch - costs.prologue
        ends = [s["done"] for s in spans if s["sm"] == ran[0]["sm"] and s["fixup"] <= ran[0]["issue"]]
        assert waited == 0 or (
            costs.epilogue_serialisation and ran[0]["issue"] + costs.launch + waited in ends
        )
        assert ran[0]["issue"] >= previous
        previous = ran[0]["issue"]
        for before, after in pairwise(ran):
            blocks = costs.partial is not None and rows[segment(before)] != owner[before["tile"]]
            assert after["issue"] == before["fixup" if costs.overlap and not blocks else "done"]
            assert after["start"] - after["issue"] == costs.tile_gap


def check_no_slot_waits(plan, device, costs, spans):
    """Thread blocks start in id order, each on the slot that is free first, at once.

    For plans in which every thread block has work. Ties go to the slot that the hardware fills first.
    """
    filling = device.filling
    rank = {(sm, filling[:rank].count(sm)): rank for rank, sm in enumerate(filling)}
    free = dict.fromkeys(rank, 0)
    last = 0
    ctas = by_cta(spans)
    for cta in range(plan.ctas):
        ran = ctas[cta]
        place = int(ran[0]["sm"]), int(ran[0]["slot"])
        assert place == min(free, key=lambda p: (free[p], rank[p]))
        assert ran[0]["issue"] == max(free[place], last)
        last = ran[0]["issue"]
        free[place] = ran[-1]["done"]
