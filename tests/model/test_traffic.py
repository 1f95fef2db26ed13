"""What plans read from DRAM: plans small enough to count the bytes by hand, and what holds of any plan."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import devices, planned

from tilesim import Device, Plan, Problem, plan
from tilesim.model import traffic
from tilesim.model.traffic import MOST_PIECES, loads
from tilesim.plans import segments
from tilesim.problems import DTYPE_BYTES

PIECE = 128 * 64 * 2
"""Bytes of a K-step of A or B with tiles of 128x128x64 in bf16."""
ENDLESS, TINY = 10**15, 1
GAPS = st.floats(0, 40)


def grid(rows, columns, k_steps, order="row-major"):
    return Problem(128 * rows, 128 * columns, 64 * k_steps, tile=(128, 128, 64), order=order)


def total(seen, cache):
    """Bytes from DRAM in the whole run, behind a cache."""
    found = seen.behind(cache)
    _, first = np.unique(seen.at, return_index=True)
    return float(found.missed[first].sum()) * seen.length


def naive(problem, slots):
    return loads(plan("naive", problem, Device(slots)), problem, slots, gap=0)


@pytest.mark.parametrize(
    ("order", "pieces"),
    [
        # Eight tiles at once: of one row and eight columns, of four rows and two columns, of eight rows.
        ("row-major", 1 + 8),
        ("grouped:4", 4 + 2),
        ("grouped:2", 2 + 4),
        ("column-major", 8 + 1),
    ],
)
def test_tiles_of_a_wave_share_rows_and_columns(order, pieces):
    seen = naive(grid(8, 8, 4, order), slots=8)
    assert seen.behind(TINY).missed == pytest.approx(pieces * PIECE)
    assert total(seen, TINY) == pytest.approx(8 * 4 * pieces * PIECE)


@pytest.mark.parametrize("order", ["row-major", "grouped:4", "morton"])
def test_behind_an_endless_cache_each_operand_is_read_once(order):
    assert total(naive(grid(8, 8, 4, order), slots=8), ENDLESS) == (8 + 8) * 4 * PIECE


def test_first_loads_come_early():
    """Row-major: the first wave reads a row of A and all of B, each later one its row of A."""
    seen = naive(grid(8, 8, 4), slots=8)
    missed = seen.behind(ENDLESS).missed
    assert missed[seen.row < 8].tolist() == [9 * PIECE] * 32
    assert missed[seen.row >= 8].tolist() == [PIECE] * 7 * 32
    # A block waits for DRAM as long as the one that loads the same for the first time.
    l2_miss = seen.behind(ENDLESS).l2_miss
    assert l2_miss[seen.row < 8].tolist() == l2_miss[seen.row >= 8].tolist()[:32] == [1.0] * 32
    assert seen.behind(TINY).l2_miss == pytest.approx(1)
    square = naive(grid(2, 2, 4), slots=1)  # one after another: the last finds both of its operands
    assert [square.behind(ENDLESS).l2_miss[square.row == row].tolist() for row in (0, 1, 3)] == [
        [1.0] * 4, [1.0] * 4, [0.0] * 4,
    ]  # fmt: skip


def test_an_operand_may_be_smaller_than_the_other():
    wide = Problem(128, 512, 64, tile=(128, 256, 64), dtype="fp32")
    assert naive(wide, slots=2).behind(TINY).missed == pytest.approx((128 + 2 * 256) * 64 * 4)


def cyclic():
    """One slot walks along a row of 4 tiles, 100 times: it comes back to a piece of B after 16 K-steps."""
    problem = Problem(100, 4 * 128, 4 * 64, tile=(1, 128, 64))
    return loads(plan("naive", problem, Device(1)), problem, slots=1, gap=0)


@pytest.mark.parametrize(
    ("times", "least", "most"),
    [(0.25, 0.98, 1.0), (0.5, 0.9, 0.98), (0.9, 0.5, 0.7), (1.1, 0.0, 0.5), (2.0, 0.0, 0.01)],
)
def test_what_is_reused_in_a_circle_stays_or_goes_with_the_size_of_the_cache(times, least, most):
    """A cache a little too small keeps little of it: what it will need next is what it threw out last."""
    seen, circle = cyclic(), 16 * (PIECE + 2 * 64)
    of_b, since = seen.operands[1].size, seen.operands[1].since
    again = since < np.inf
    assert again.sum() == 99 * 16 and np.all(since[again] == 16)
    lost = (total(seen, round(times * circle)) - total(seen, ENDLESS)) / (99 * 16 * of_b)
    assert least <= lost <= most


def test_blocks_out_of_step_along_k_share_through_the_cache_alone():
    """Two tiles of one row. The second block begins with the later half of K: no two loads meet."""
    problem = grid(1, 2, 8)
    straight = Plan(segments([0, 1], [0, 1], 0, 8), 2)
    skewed = Plan(segments([0, 1, 1], [0, 1, 1], [0, 4, 0], [8, 8, 4]), 2)
    together, apart = (loads(made, problem, 2, gap=0) for made in (straight, skewed))
    for cache in (TINY, ENDLESS):
        assert total(together, cache) == pytest.approx((8 + 16) * PIECE)
    assert total(apart, TINY) == pytest.approx((16 + 16) * PIECE)
    assert total(apart, ENDLESS) == pytest.approx((8 + 16) * PIECE)
    assert apart.behind(ENDLESS).missed[apart.row == 0].tolist() == [4 * PIECE] * 4 + [2 * PIECE] * 4


def test_what_a_slot_loads_a_k_step_after_another_is_shared():
    """Two tiles of one row, the second so many K-steps behind the first, of 16."""
    problem = grid(1, 2, 16)
    for behind, shared in ((0, 1), (1, 1), (2, 0)):
        made = Plan(segments([0, 1, 1], [0, 1, 1], [0, 16 - behind, 0], [16, 16, 16 - behind]), 2)
        made = made if behind else Plan(segments([0, 1], [0, 1], 0, 16), 2)
        seen = loads(made, problem, 2, gap=0)
        middle = seen.at == seen.at[8]
        found = seen.behind(ENDLESS)
        assert found.asked[middle].tolist() == [4 * PIECE] * 2
        assert found.sent[middle].tolist() == [(4 - shared) * PIECE] * 2


def test_stream_k_asks_for_more_than_whole_tiles():
    """256 tiles on 132 slots: each begins 62 K-steps after the one before, which is at no place the same."""
    problem, device = grid(16, 16, 32), Device.named("h200")
    straight, skewed = (
        loads(plan(name, problem, device), problem, 132, gap=0) for name in ("persistent", "stream-k")
    )
    # Waves of 132 and 124 tiles: 9 and 8 rows, all 16 columns.
    assert total(straight, TINY) == pytest.approx((9 + 16 + 8 + 16) * 32 * PIECE)
    assert total(skewed, TINY) > 5 * total(straight, TINY)
    assert total(skewed, ENDLESS) == total(straight, ENDLESS) == 32 * 32 * PIECE


def test_a_slot_takes_its_segments_one_after_another():
    made = Plan(segments([0, 0, 1], [0, 1, 2], 0, 4), 2)
    seen = loads(made, grid(1, 3, 4), 2, gap=2.5)
    # Four K-steps, 2.5 in which the first slot writes, four more; the second slot beside the first four.
    assert seen.span == 4 + 2.5 + 3 + 1
    assert seen.behind(ENDLESS).missed[seen.row == 0].tolist() == [3 * PIECE] * 4
    assert seen.behind(ENDLESS).missed[seen.row == 1].tolist() == [PIECE] * 4


def test_a_queue_goes_out_wave_by_wave():
    problem, device = grid(4, 4, 2), Device(4)
    queue = loads(plan("persistent-dynamic", problem, device), problem, 4, gap=0)
    assert total(queue, TINY) == total(naive(problem, 4), TINY)


@pytest.mark.parametrize("most", [4096, 700, 64])
def test_pieces_of_several_k_steps_ask_for_as_much(most, monkeypatch):
    problem, device = grid(8, 8, 64), Device(8)
    fine = {name: loads(plan(name, problem, device), problem, 8, 0) for name in ("naive", "stream-k:7")}
    monkeypatch.setattr(traffic, "MOST_PIECES", most)
    for name, one in fine.items():
        coarse = loads(plan(name, problem, device), problem, 8, 0)
        assert coarse.length == -(-64 * 64 // most)
        assert len(coarse.row) <= most + 2 * coarse.rows
        assert total(coarse, TINY) == pytest.approx(total(one, TINY), rel=0.05)
        assert coarse.of_segments(TINY)[0] == pytest.approx(one.of_segments(TINY)[0])
        assert coarse._bytes(np.ones((2, len(coarse.row)))) == pytest.approx(64**2 * 2 * PIECE)
        cache = 150 * PIECE
        means = [seen.mean(seen.behind(cache).missed) for seen in (one, coarse)]
        assert means[1].mean() == pytest.approx(means[0].mean(), rel=0.1)


def test_a_piece_that_is_cut_counts_for_the_part_of_it(monkeypatch):
    """Segments of one K-step each, in pieces of 16: what is asked for in a K-step is what it was."""
    problem, device = grid(4, 4, 16), Device(16)
    monkeypatch.setattr(traffic, "MOST_PIECES", 16)
    seen = loads(plan("split-k:16", problem, device), problem, 16, gap=0)
    assert seen.length == 16
    assert (seen.cut.tolist(), seen.part.tolist()) == (list(range(256)), [1 / 16] * 256)
    assert seen.behind(TINY).missed.max() <= 16 * 2 * PIECE


def test_a_main_loop_of_any_length_is_a_bounded_number_of_pieces():
    problem = Problem(128, 128, 64 * (2**21 + 1), tile=(128, 128, 64))
    seen = naive(problem, 1)
    assert seen.length == 3
    assert len(seen.row) <= MOST_PIECES
    assert seen.behind(10**6).missed[:-1] == pytest.approx(2 * PIECE)
    assert seen.span == pytest.approx(2**21 + 1, abs=3)


@pytest.mark.parametrize("schedule", ["persistent-dynamic", "stream-k"])
def test_a_million_tiles_take_a_bounded_room(schedule):
    problem, device = Problem(128 * 1000, 256 * 1000, 64 * 9), Device.named("h200")
    made = plan(schedule, problem, device)
    tracemalloc.start()
    seen = loads(made, problem, device.slots, gap=0.5)
    found = seen.behind(50 * 10**6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(seen.row) <= MOST_PIECES + seen.rows
    assert peak < 256 * len(seen.row)
    # No slot asks for more than its operands in a K-step; tiles of 132 slots share most of theirs.
    assert found.missed.min() > 0 and found.missed.max() < 132 * (128 + 256) * 64 * 2


def test_a_long_pause_between_main_loops_takes_no_room():
    problem = grid(4, 4, 4)
    seen = loads(plan("persistent", problem, Device(2)), problem, 2, gap=1e15)
    assert seen.at.max() < len(seen.row)
    assert total(seen, ENDLESS) == 8 * 4 * PIECE


@given(planned(), devices(), GAPS, st.integers(1, 10**7))
def test_what_holds_of_any_plan(case, device, gap, cache):
    schedule, problem = case
    made = plan(schedule, problem, device)
    seen = loads(made, problem, device.slots, gap)
    rows = np.concatenate([made.segments, made.shared])
    steps = (rows["k1"] - rows["k0"]).astype(np.int64)
    starts = traffic._starts(made, steps, device.slots, gap)
    assert (starts >= 0).all() and starts.min() == 0
    assert all((one.since >= 0).all() for one in seen.operands)
    assert np.bincount(seen.row, minlength=seen.rows).tolist() == steps.tolist()
    found, bytes_of_one = seen.behind(cache), sum(one.size for one in seen.operands)
    assert (found.missed >= 0).all()
    assert (found.missed <= bytes_of_one * device.slots * (1 + 1e-9)).all()
    assert ((found.l2_miss >= 0) & (found.l2_miss <= 1)).all()
    assert seen.mean(np.ones(len(seen.row))).tolist() == [1.0] * len(rows)
    assert (found.sent <= found.asked * (1 + 1e-9)).all() and (found.sent >= 0).all()
    # Each operand at least once, and at most once for each tile.
    size = problem.tile_k * DTYPE_BYTES[problem.dtype] * problem.k_steps
    least = (problem.tiles_m * problem.tile_m + problem.tiles_n * problem.tile_n) * size
    most = problem.tiles * (problem.tile_m + problem.tile_n) * size
    assert total(seen, ENDLESS) == pytest.approx(least)
    assert least * (1 - 1e-9) <= total(seen, cache) <= most * (1 + 1e-9)
    assert total(seen, 2 * cache) <= total(seen, cache) * (1 + 1e-9)


@given(planned(), devices(), GAPS, st.integers(1, 10**7), st.randoms(use_true_random=False))
def test_rows_and_columns_may_have_any_name(case, device, gap, cache, random):
    schedule, problem = case
    made = plan(schedule, problem, device)
    names = [list(range(count)) for count in (problem.tiles_m, problem.tiles_n)]
    for each in names:
        random.shuffle(each)

    def renamed(rows):
        row, column = np.divmod(rows["tile"], problem.tiles_n)
        tile = np.array(names[0])[row] * problem.tiles_n + np.array(names[1])[column]
        return segments(rows["cta"], tile, rows["k0"], rows["k1"])

    other = Plan(renamed(made.segments), made.ctas, renamed(made.shared))
    seen = [loads(each, problem, device.slots, gap) for each in (made, other)]
    one, two = (each.behind(cache) for each in seen)
    assert seen[0].row.tolist() == seen[1].row.tolist()
    assert one.sent == pytest.approx(two.sent)
    assert one.missed == pytest.approx(two.missed, rel=1e-6)
    assert one.l2_miss == pytest.approx(two.l2_miss, rel=1e-6, abs=1e-9)


def test_what_segments_load_adds_up_to_what_passes_at_all_times():
    problem = Problem(1024, 2048, 1024, order="grouped:2")
    seen = loads(plan("naive", problem, Device(8)), problem, slots=8, gap=1.0)
    cache = 2**20
    found, (asked, missed) = seen.behind(cache), seen.of_segments(cache)
    first = np.unique(seen.at, return_index=True)[1]
    assert asked.sum() == pytest.approx(seen.length * found.asked[first].sum())
    assert missed.sum() == pytest.approx(seen.length * found.missed[first].sum())
    assert (missed <= asked).all() and missed.min() < missed.max()
