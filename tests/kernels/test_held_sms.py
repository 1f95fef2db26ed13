"""What is checked of launches beside a kernel that holds SMs, and the traces that are made of them."""

import numpy as np
import pytest
from on_device import recording, stamps

from tilesim import Device, Problem
from tilesim.plans import segments
from tilesim_kernels import KernelError
from tilesim_kernels.measure.held_sms import check_apart, hold_us
from tilesim_kernels.probes.spin import BLOCK

CTA, SM, START, DRAIN, DONE, ENTRY = 0, 1, 2, 4, 6, 8


def launch(rows):
    """Stamps of one launch from (cta, sm, start, drain, done) of each tile in the order visited."""
    made = np.zeros((len(rows), stamps.WORDS), np.int64)
    made[:, [CTA, SM, START, DRAIN, DONE]] = rows
    first = np.unique(made[:, CTA], return_index=True)[1]
    made[first, ENTRY] = made[first, START] - 10
    return made


def held(*blocks):
    """(sm, begin_ns, end_ns) of each spinning block."""
    return np.array([(sm, 0, 0, begin, end) for sm, begin, end in blocks], BLOCK)


ROWS = [(0, 0, 1000, 1500, 1600), (1, 2, 1000, 1500, 1600), (2, 0, 1650, 2000, 2100)]


def test_a_launch_between_begin_and_end_on_other_sms_is_let_pass():
    check_apart(np.stack([launch(ROWS)] * 2), held((1, 500, 3000), (3, 990, 2100)))


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        (held((2, 500, 3000)), "a tile ran on SM 2, which another kernel was to hold"),
        (held((1, 995, 3000)), "held from 5 ns after the kernel's begin"),
        (held((1, 500, 3000), (3, 500, 2090)), "free 10 ns before the kernel's end"),
    ],
)
def test_a_launch_that_was_not_beside_them_is_refused(blocks, says):
    with pytest.raises(KernelError, match=says):
        check_apart(launch(ROWS)[np.newaxis], blocks)


@pytest.mark.parametrize("residents", [1, 2])
def test_the_trace_has_the_sms_that_were_held_first_in_its_order(residents):
    problem = Problem(48, 16, 32, tile=(16, 16, 16))
    device = Device(4, residents, busy_sms=1, sm_order=(3, 0, 1, 2))
    rows = ROWS if residents == 1 else [(0, 0, 1000, 1500, 1600), (1, 0, 1000, 1500, 1600), ROWS[2]]
    meta = {"gpu": "none", "launches": 7}
    made = recording.trace(launch(rows), segments(-1, np.arange(3), 0, 2), "naive", problem, device, 32, meta)
    assert made.device.busy_sms == 1 and sorted(made.device.free_sms) == [0, 1, 2]
    assert set(made.spans["sm"].tolist()) <= {0, 1, 2}


def test_sms_are_held_for_longer_the_more_waves_the_free_ones_need(monkeypatch):
    monkeypatch.setattr(
        "torch.cuda.get_device_properties", lambda: type("GPU", (), {"multi_processor_count": 132})
    )
    times = [hold_us(1000.0, count) for count in (1, 66, 100, 131)]
    assert times == sorted(times) and times[0] > 4000 and times[-1] > 132_000
