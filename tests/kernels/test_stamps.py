"""What a kernel writes down about itself, and the trace that is made of it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from on_device import DEDICATED, stamped, stamps

from tilesim import Device, Problem, plan
from tilesim.plans import segments
from tilesim_kernels import KernelError
from tilesim_kernels.measure import record as recording
from tilesim_kernels.measure.held_sms import check_apart, hold_us
from tilesim_kernels.probes.spin import BLOCK

CTA, SM, START, DRAIN, DONE, ENTRY = 0, 1, 2, 4, 6, 8
PROBLEM = Problem(40, 72, 40, tile=(16, 32, 16), dtype="fp32")
"""Nine tiles of three K-steps."""
CASES = [(name, "grouped:2") for name in DEDICATED]
CASES += [(name, order) for name in ("naive-ptr", "persistent-ptr") for order in ("column-major", "morton")]


@pytest.mark.parametrize(("name", "order"), CASES)
def test_each_thread_block_does_what_the_plan_says(name, order):
    """And its stamps come in order and none is missing: the interpreter's clock counts them."""
    problem, device = replace(PROBLEM, order=order), Device(5)
    rows, job = stamped(problem, name, ctas=5)
    times, entries = rows[:, [START, DRAIN, DONE]], rows[:, ENTRY][rows[:, ENTRY] > 0]
    assert (np.diff(times) > 0).all() and len(entries) == job.ctas
    every = sorted([*times.ravel().tolist(), *entries.tolist()])
    assert every == list(range(1, 1 + 3 * problem.tiles + job.ctas))

    schedule = name.partition("-")[0]
    trace = recording.trace(rows, job.rows, schedule, problem, device, 1, {"launches": job.ctas})
    made = plan(schedule, problem, device)
    names = ["cta", "tile", "k0", "k1"]
    assert by_cta(trace)[names].tolist() == made.segments[names].tolist()


@pytest.mark.parametrize("k", [8, 40])
def test_an_overlapping_kernel_waits_for_a_store_in_the_next_main_loop(k):
    """For which a single K-step is enough."""
    rows, _ = stamped(replace(PROBLEM, k=k), "persistent-tma-overlap", ctas=4)
    before, after = rows[:-4], rows[4:]
    assert (before[:, DONE] < after[:, DRAIN]).all()
    assert k < PROBLEM.tile_k or (after[:, START] < before[:, DONE]).all()


def test_one_that_does_not_overlap_waits_before_the_next_main_loop():
    rows, _ = stamped(PROBLEM, "persistent-tma", ctas=4)
    assert (rows[:-4, DONE] < rows[4:, START]).all()


def test_thread_blocks_without_a_tile_leave_no_stamp():
    rows, _ = stamped(replace(PROBLEM, n=32), "persistent-tma-overlap", ctas=9)
    assert rows[:, CTA].tolist() == [0, 1, 2]


def stamps_of(rows, entry=()):
    """Stamps from (cta, sm, start, drain, done) of each tile in the order visited.

    `entry`: of each thread block, where it is not its first start.
    """
    made = np.zeros((len(rows), stamps.WORDS), np.int64)
    made[:, [CTA, SM, START, DRAIN, DONE]] = rows
    made[:, 3], made[:, 5] = 10 * made[:, START], 13 * made[:, DRAIN]
    first = np.unique(made[:, CTA], return_index=True)[1]
    made[first, ENTRY] = entry or made[first, START]
    return made


def as_trace(rows, schedule, device, entry=(), launches=None):
    """The trace of tiles of two K-steps each with such stamps."""
    problem = Problem(16 * len(rows), 16, 32, tile=(16, 16, 16))
    whole = segments(-1, np.arange(len(rows)), 0, 2)
    meta = {"gpu": "none", "launches": launches or len({row[0] for row in rows})}
    return recording.trace(stamps_of(rows, entry), whole, schedule, problem, device, 32, meta)


def by_cta(trace):
    return trace.spans[np.lexsort((trace.spans["start"], trace.spans["cta"]))]


def test_more_thread_blocks_than_slots_show_how_many_an_sm_holds():
    rows = [(0, 0, 1000, 1500, 1600), (1, 0, 1100, 1550, 1700), (2, 0, 1650, 1900, 2000)]
    trace = as_trace(rows, "naive", Device(1))
    assert trace.device.ctas_per_sm == 2
    assert by_cta(trace)["cycles"].tolist() == [13 * row[3] - 10 * row[2] for row in rows]
    assert (trace.origin, trace.tick_ns, trace.meta["gpu"]) == ("measured", 32, "none")


def test_the_zero_is_the_first_instruction_and_the_launch_is_told_from_the_first_load():
    rows = [(0, 0, 1000, 1500, 1600), (1, 0, 2000, 2500, 2600), (2, 1, 1010, 1500, 1600)]
    trace = as_trace(rows, "naive", Device(2), entry=[400, 1800, 420])
    assert by_cta(trace)["issue"].tolist() == [0, 1200, 0]
    assert by_cta(trace)["start"].tolist() == [600, 1600, 610]
    assert trace.meta["launch_ns"] == {"p20": 200, "p50": 200, "p80": 200}
    assert trace.meta["prologue_ns"]["p50"] == 590


@pytest.mark.parametrize(("sms", "device"), [((0, 0), Device(2)), ((0, 1), Device(1, ctas_per_sm=2))])
def test_other_residents_than_the_plan_counts_on_are_an_error(sms, device):
    apart = 1000 * (sms[0] != sms[1])
    rows = [(0, 0, 1000, 1500, 1600), (1, 0, 1100 + apart, 1550 + apart, 1700 + apart)]
    with pytest.raises(KernelError, match=f"counts on {device.ctas_per_sm} thread blocks per SM"):
        as_trace(rows, "persistent", device)


def test_a_queue_that_only_some_thread_blocks_draw_from_shows_that_not_all_fit():
    rows = [(0, 0, 1000, 1500, 1600), (0, 0, 1700, 2000, 2100), (0, 0, 2200, 2500, 2600)]
    with pytest.raises(KernelError, match="counts on 2 thread blocks per SM, and an SM held 1 at once"):
        as_trace(rows, "persistent-dynamic", Device(1, ctas_per_sm=2), entry=[900], launches=2)


def test_the_launch_that_is_kept_is_typical_in_all_its_parts():
    ends = [(100, 130), (120, 130), (101, 131), (90, 120), (300, 400)]
    kept, makespans = recording.nearest_to_medians(np.array([stamps_of([(0, 0, 0, *end)]) for end in ends]))
    assert kept == 2  # the second has the median makespan, yet a slow main loop
    assert makespans.tolist() == [130, 130, 131, 120, 400]


class TestBesideAKernelThatHoldsSMs:
    ROWS = ((0, 0, 1000, 1500, 1600), (1, 2, 1000, 1500, 1600), (2, 0, 1650, 2000, 2100))
    ENTRY = (990, 990, 1640)

    def check(self, *blocks):
        """Of (sm, begin_ns, end_ns) of each spinning block."""
        held = np.array([(sm, 0, 0, begin, end) for sm, begin, end in blocks], BLOCK)
        check_apart(np.stack([stamps_of(self.ROWS, self.ENTRY)] * 2), held)

    def test_a_launch_between_begin_and_end_on_other_sms_is_let_pass(self):
        self.check((1, 500, 3000), (3, 990, 2100))

    @pytest.mark.parametrize(
        ("blocks", "says"),
        [
            ([(2, 500, 3000)], "a tile ran on SM 2, which another kernel was to hold"),
            ([(1, 995, 3000)], "held from 5 ns after the kernel's begin"),
            ([(1, 500, 3000), (3, 500, 2090)], "free 10 ns before the kernel's end"),
        ],
    )
    def test_another_is_refused(self, blocks, says):
        with pytest.raises(KernelError, match=says):
            self.check(*blocks)

    @pytest.mark.parametrize(("residents", "sm"), [(1, 2), (2, 0)])
    def test_the_trace_has_the_sms_that_were_held_first_in_its_order(self, residents, sm):
        rows = [self.ROWS[0], (1, sm, 1000, 1500, 1600), self.ROWS[2]]
        made = as_trace(rows, "naive", Device(4, residents, 1, sm_order=(3, 0, 1, 2)), self.ENTRY, launches=7)
        assert made.device.busy_sms == 1 and sorted(made.device.free_sms) == [0, 1, 2]
        assert set(made.spans["sm"].tolist()) <= {0, 1, 2}

    def test_sms_are_held_for_longer_the_more_waves_the_free_ones_need(self, monkeypatch):
        gpu = SimpleNamespace(multi_processor_count=132)
        monkeypatch.setattr("torch.cuda.get_device_properties", lambda: gpu)
        times = [hold_us(1000.0, count) for count in (1, 66, 100, 131)]
        assert times == sorted(times) and times[0] > 4000 and times[-1] > 132_000
