"""What calibration reads off a run, of runs so small that each figure can be counted by hand."""

import numpy as np
import pytest

from tilesim import Device, Problem, Trace
from tilesim.calibration import observations
from tilesim.calibration.constants import SOUGHT, constants
from tilesim.calibration.observations import mean, observe
from tilesim.metrics import TURNAROUND_NS
from tilesim.spans.columns import SPAN

FIELDS = ("cta", "sm", "slot", "issue", "start", "drain", "ready", "fixup", "done")


def seen(*rows, parts=(), cycles=0, origin="measured", **meta):
    """What is observed of spans by their FIELDS. `parts`: (tile, k0, k1) of each; else each is a tile."""
    spans = np.zeros(len(rows), SPAN)
    for name, column in zip(FIELDS, zip(*rows, strict=True), strict=True):
        spans[name] = column
    parts = parts or [(tile, 0, 12) for tile in range(len(rows))]
    spans["tile"], spans["k0"], spans["k1"] = zip(*parts, strict=True)
    spans["cycles"] = cycles
    tiles = int(spans["tile"].max()) + 1
    device = Device(int(spans["sm"].max()) + 1, int(spans["slot"].max()) + 1)
    problem = Problem(1, tiles, 12, tile=(1, 1, 1))
    return observe(Trace(problem, device, "by hand", spans, origin, 1, meta))


def tile(cta, start, done, sm=0, slot=0, fixup=None, issue=None, ready=None):
    """A tile whose main loop takes 100 ns, and whose write begins with the end of it or at `fixup`."""
    fixup = start + 100 if fixup is None else fixup
    ready = fixup if ready is None else ready
    return cta, sm, slot, start if issue is None else issue, start, start + 100, ready, fixup, done


def test_the_clock_is_known_where_every_main_loop_counted():
    two = tile(0, 0, 100), tile(0, 100, 200)
    assert seen(*two, cycles=(150, 150)).clock_mhz == 1500
    assert seen(*two, cycles=(1, 1)).clock_mhz == 10
    assert seen(*two, cycles=(150, 0)).clock_mhz == 0


@pytest.mark.parametrize(
    ("note", "launch"),
    [
        ({"p50": 200}, 200), ({"p50": 0}, 0), ({"p50": 300.4}, 300), ({"p50": 900}, 700),
        ({"p50": "soon"}, TURNAROUND_NS), ({}, TURNAROUND_NS),
    ],
)  # fmt: skip
def test_the_next_block_begins_after_its_launch_and_its_prologue(note, launch):
    run = seen(tile(0, 0, 300), tile(1, 1000, 1300), launch_ns=note)
    assert observations.launch([run], in_turn=False) == (launch, 700 - launch)
    assert observations.launch([run], in_turn=False, known=250) == (250, 450)


def test_a_block_that_begins_as_another_ends_has_neither_launch_nor_prologue():
    assert observations.launch([seen(tile(0, 0, 300), tile(1, 300, 600))], in_turn=False) == (0, 0)


def test_entries_of_first_blocks_show_a_prologue_where_they_are_recorded():
    first = tile(0, 400, 600, issue=0), tile(1, 550, 700, sm=1, issue=50)
    assert observations.launch([seen(*first, prologue_ns={})], in_turn=False) == (TURNAROUND_NS, 450)
    assert observations.launch([seen(*first)], in_turn=False) is None
    after = tile(2, 600 + TURNAROUND_NS + 300, 1500)
    assert observations.launch([seen(*first, after)], in_turn=False) == (TURNAROUND_NS, 300)
    assert observations.launch([seen(*first, after, prologue_ns={})], in_turn=False) == (TURNAROUND_NS, 400)


def test_loads_of_a_block_wait_for_what_its_own_sm_writes_then():
    """SM 0 writes for another 500 ns, SM 1 only a partial, which takes no turn."""
    run = seen(
        tile(0, 0, 1000), tile(1, 800, 1500, slot=1), tile(2, 1900, 2100),
        tile(3, 0, 1000, sm=1), tile(4, 700, 1450, sm=1, slot=1), tile(5, 1568, 1700, sm=1),
        tile(6, 1550, 1800, sm=1, slot=1),
        parts=[(0, 0, 12), (1, 0, 12), (2, 0, 12), (3, 0, 12), (4, 0, 6), (5, 0, 12), (4, 6, 12)],
    )  # fmt: skip
    launched, prologue = observations.launch([run], in_turn=True, known=10)
    assert launched == 10 and prologue == round(mean([1900 - 1500, 1568 - 1010, 1550 - 1460]))
    assert observations.launch([run], in_turn=False, known=10)[1] == round(mean([890, 558, 90]))


def pairs(*starts):
    """Blocks of two tiles, each on its own SM: the first is written from 100 to 400, the other begins at."""
    rows = []
    for sm, start in enumerate(starts):
        rows += [tile(sm, 0, 400, sm=sm), tile(sm, start, start + 300, sm=sm)]
    return seen(*rows)


def test_epilogues_overlap_where_most_next_tiles_begin_under_them():
    assert observations.tile_gap([pairs(450, 450)]) == (False, 50, True)
    assert observations.tile_gap([pairs(400, 400, 400)]) == (False, 0, True)
    assert observations.tile_gap([pairs(100, 100)]) == (True, 0, True)
    assert observations.tile_gap([pairs(150, 150, 450, 450)]) == (False, 0, True)
    assert observations.tile_gap([pairs(150, 150, 150, 450)])[:2] == (True, round((3 * 50 + 350) / 4))
    assert observations.tile_gap([seen(tile(0, 0, 400))]) == (False, 0, True)


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ((450, 150, 470, 480), (True, 50, True)),
        ((450, 150, 150), (True, 50, True)),
        ((150, 150, 150, 480), (True, round((3 * 50 + 380) / 4), False)),
    ],
)
def test_a_block_waits_until_a_partial_is_stored_unless_most_go_on_before(starts, expected):
    """The first tile of block 1 is whole, those of the others are cut, and finished at the end by others."""
    rows, parts, many = [], [], len(starts)
    for sm, start in enumerate(starts):
        rows += [tile(sm, 0, 400, sm=sm), tile(sm, start, start + 300, sm=sm)]
        parts += [(sm, 0, 12 if sm == 1 else 6), (many + sm, 0, 12)]
    for sm in range(many):
        if sm != 1:
            rows.append(tile(many + sm, 900, 1200, sm=many + sm))
            parts.append((sm, 6, 12))
    assert observations.tile_gap([seen(*rows, parts=parts)]) == expected


def written(*writes, overlap=False, **more):
    """(epilogue, serialisation) of writes (sm, slot, begin, end), each of another block."""
    rows = [
        tile(cta, begin - 100, end, sm=sm, slot=slot) for cta, (sm, slot, begin, end) in enumerate(writes)
    ]
    return observations.epilogue([seen(*rows, **more)], overlap)


def test_a_write_that_begins_under_another_of_its_sm_shows_how_they_take_turns():
    alone = (0, 0, 1000, 1100)
    assert written(alone, (0, 1, 1050, 1180)) == (100, 80)
    assert written(alone, (0, 1, 1050, 1155)) == (100, 0)  # no more than 5 % longer
    assert written(alone, (0, 1, 1050, 1156)) == (100, 56)
    assert written(alone, (0, 1, 1100, 1230)) == (115, 0)  # begins as the first ends
    assert written(alone, (1, 1, 1050, 1180)) == (115, 0)  # on another SM
    several = [(0, 1, 1050, 1180), (1, 0, 1000, 1100), (1, 1, 1050, 1190), (2, 0, 1000, 1100)]
    assert written(alone, *several, (2, 1, 1050, 1220)) == (100, 85)  # the lower quartile of 80, 90 and 120


def test_under_overlap_the_last_write_of_a_slot_shows_how_long_it_takes():
    rows = tile(0, 0, 900), tile(0, 150, 400, fixup=300), tile(1, 500, 750, slot=1)
    assert observations.epilogue([seen(*rows)], overlap=True) == (round(mean([100, 150])), 0)


def test_tiles_that_had_partials_added_take_no_turns():
    rows = tile(0, 900, 1100), tile(1, 900, 1180, slot=1, fixup=1050, ready=1000)
    assert observations.epilogue([seen(*rows)], overlap=False) == (115, 0)


def merged(*tiles):
    """(merge, fixup) of tiles (partials, ns): the last segment of each drains at 200 and adds the others."""
    rows, parts = [], []
    for number, (partials, ns) in enumerate(tiles):
        for part in range(partials + 1):
            last = part == partials
            fixup = 300 + (ns if last else 0)
            row = (len(rows), len(rows), 0, 0, 0, 200, 300 if last else 200, fixup if last else 200)
            rows.append((*row, fixup + 50 if last else 300))
            parts.append((number, part, 12 if last else part + 1))
    return observations.fixup([seen(*rows, parts=parts)])


def test_a_merge_is_told_from_what_each_partial_adds_to_it():
    assert merged((0, 0)) == (0, 0)
    assert merged((2, 60), (2, 60), (0, 0)) == (0, 30)
    assert merged((1, 30), (2, 50)) == (10, 20)
    assert merged((1, 30), (2, 50), (3, 70)) == (10, 20)
    assert merged((1, 60), (2, 40)) == (50, 0)  # more take less: all alike
    assert merged((1, 20), (2, 60)) == (0, 25)  # less than nothing at first: each alike
    run = seen(
        (0, 0, 0, 0, 0, 200, 200, 200, 330), (1, 1, 0, 0, 0, 200, 330, 400, 500),
        parts=[(0, 0, 6), (0, 6, 12)],
    )  # fmt: skip
    assert observations.partial([run]) == 130


def test_the_least_and_the_greatest_of_twenty_do_not_count():
    assert mean([-1000, *[5] * 18, 4000]) == 5
    assert mean([*[5] * 18, 24]) == 6
    assert mean([]) == 0


def test_a_main_loop_is_under_an_epilogue_that_is_not_over_when_it_begins():
    for start, under in ((399, True), (400, False)):
        run = seen(tile(0, 0, 400), tile(0, start, 700))
        assert run.under_epilogue.tolist() == [False, under]
        assert observations.gap(run) == start - 100
    assert not seen(tile(0, 0, 400), tile(1, 300, 700, slot=1)).under_epilogue.any()


def test_clocks_and_launches_are_read_off_the_runs_that_show_them():
    """In cycles; what is given stays as it is, and nothing is sought that is given."""
    blocks = tile(0, 0, 300), tile(1, 1000, 1300)
    counted = [seen(*blocks, cycles=cycles, launch_ns={"p50": 200}) for cycles in (150, 170)]
    known = {"max_sm_mhz": 1620}

    def found(runs, *given):
        return constants([(runs, 3)], known, (*SOUGHT, *given))

    assert found(counted) == {"sustained_mhz": 1600, "launch_cycles": 320}
    assert found(counted[1:]) == {"sustained_mhz": 1620, "launch_cycles": 340}
    assert found(counted, "sustained_mhz") == {"launch_cycles": 320}
    assert found(counted, "launch_cycles") == {"sustained_mhz": 1600}
    assert found([*counted, seen(*blocks, launch_ns={"p50": 200})]) == {"launch_cycles": 320}
    assert found([seen(*blocks, cycles=150)]) == {"sustained_mhz": 1500}
