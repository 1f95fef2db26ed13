"""The schedules that cut tiles: which thread block gets which K-steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import devices, problems

from tilesim import Costs, Device, Problem, plan, simulate
from tilesim.errors import ScheduleError
from tilesim.orders import rasterize
from tilesim.plans import SEGMENT
from tilesim.schedules.stream_k import MERGE_COST, grid_size


def rows_of(made, cta):
    return made.segments[made.offsets[cta] : made.offsets[cta + 1]]


def steps_by_cta(rows, ctas):
    """K-steps of each thread block: int, shape [ctas]."""
    return np.bincount(rows["cta"], rows["k1"] - rows["k0"], ctas).astype(int)


def ranges(order, steps, ctas):
    """The segments of stream-k, one at a time."""
    total, rows = len(order) * steps, []
    for cta in range(ctas):
        begin, end = total * cta // ctas, total * (cta + 1) // ctas
        while end > begin:
            place = (end - 1) // steps
            first = max(begin, place * steps)
            rows.append((cta, order[place], first - place * steps, end - place * steps))
            end = first
    return np.array(rows, SEGMENT)


@given(problems(), devices(), st.data())
def test_stream_k_walks_even_ranges_from_their_ends_back(problem, device, data):
    g = data.draw(st.integers(1, problem.tiles * problem.k_steps))
    made = plan(f"stream-k:{g}", problem, device)
    assert made.ctas == g
    assert made.segments.tolist() == ranges(rasterize(problem).tolist(), problem.k_steps, g).tolist()
    assert np.ptp(steps_by_cta(made.segments, g)) <= 1


@given(problems(), devices())
def test_stream_k_takes_as_many_blocks_as_its_model_says(problem, device):
    made = plan("stream-k", problem, device)
    assert made.ctas == grid_size(problem, device.slots)
    assert made.segments.tolist() == plan(f"stream-k:{made.ctas}", problem, device).segments.tolist()


@given(problems(max_k_steps=40), st.integers(1, 60))
def test_the_grid_size_is_the_first_of_the_cheapest(problem, slots):
    def cost(g):
        steps = -(-problem.tiles * problem.k_steps // g)
        peers = -(-problem.k_steps // steps)
        return steps + MERGE_COST / problem.tile_k * ((peers > 1) + peers - 1)

    sizes = range(1, min(slots, problem.tiles * problem.k_steps) + 1)
    assert grid_size(problem, slots) == min(sizes, key=cost)


@given(problems(), devices(), st.data())
def test_split_k_cuts_each_tile_alike_and_puts_first_slices_first(problem, device, data):
    s = data.draw(st.integers(1, problem.k_steps))
    made = plan(f"split-k:{s}", problem, device)
    assert made.segments["cta"].tolist() == list(range(s * problem.tiles))
    assert made.segments["tile"].tolist() == s * rasterize(problem).tolist()
    slices = made.segments.reshape(s, problem.tiles)
    assert (slices["k0"][1:] == slices["k1"][:-1]).all()
    assert np.ptp(slices["k1"] - slices["k0"]) <= 1


def whole_tiles(rows, problem):
    return rows[(rows["k0"] == 0) & (rows["k1"] == problem.k_steps)]


@given(problems(max_side=9), devices(max_sms=5), st.sampled_from([1, 2]))
def test_a_hybrid_shares_what_full_waves_leave_over(problem, device, tiles):
    made = plan(f"stream-k-hybrid:{tiles}", problem, device)
    waves, left = divmod(problem.tiles, device.slots)
    if not waves:
        assert made.segments.tolist() == plan("stream-k", problem, device).segments.tolist()
        return
    assert made.ctas == device.slots
    assert np.ptp(steps_by_cta(made.segments, made.ctas)) <= 1
    order, steps = rasterize(problem).tolist(), problem.k_steps
    waves -= tiles - 1 if left else 0
    for cta in range(made.ctas):
        rows = rows_of(made, cta)
        loops = rows[:waves] if tiles == 1 else rows[len(rows) - waves :]
        begin = 0 if tiles == 1 or not left else left + device.slots
        assert loops["tile"].tolist() == order[begin:][cta :: device.slots][:waves]
        assert (loops["k0"] == 0).all()
        assert (loops["k1"] == steps).all()
        shared = steps_by_cta(rows, made.ctas)[cta] - waves * steps
        assert (tiles - 1) * steps * (left > 0) <= shared <= tiles * steps
        assert left or not shared


@given(problems(max_side=9, max_k_steps=12), devices(max_sms=5))
def test_hybrids_reach_the_makespan_of_even_shares(problem, device):
    if problem.tiles >= device.slots:
        steps = -(-problem.tiles * problem.k_steps // device.slots)
        one, two, default = (
            simulate(f"stream-k-hybrid{tiles}", problem, device, Costs.ideal()) for tiles in (":1", ":2", "")
        )
        assert one.makespan == two.makespan == 1000 * steps
        assert default.spans.tolist() == two.spans.tolist()
        # No partial is late; a K-step more or less is what even shares differ by.
        assert (two.spans["ready"] - two.spans["drain"]).max() <= 1000


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        ("split-k", "'split-k' has 0 parameters; write it as 'split-k:S', such as 'split-k:8'"),
        ("split-k:9", "cuts each tile into 9 slices; the tiles of this problem have only 8 K-steps"),
        ("stream-k:17", "stream-k:17 needs a K-step for each of 17 thread blocks; this problem has 16"),
        ("stream-k:1:2", "has 2 parameters; write it as 'stream-k:G'"),
        ("stream-k-hybrid:3", "stream-k-hybrid:3 shares 3 tiles; it must be 1 or 2"),
        ("stream-k-hybrid:1:2", "write it as 'stream-k-hybrid:TILES', such as 'stream-k-hybrid:2'"),
    ],
)
def test_numbers_that_do_not_fit(schedule, sentence):
    with refused(sentence, ScheduleError):
        plan(schedule, Problem(1, 2, 8, tile=(1, 1, 1)), Device(4))
