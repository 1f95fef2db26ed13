"""Kernels that are called and run one after another: properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas import launch_latency as launches

NS = st.integers(0, 10**6)
COUNT = st.integers(1, 50)


@given(COUNT, NS, NS, NS)
def test_no_kernel_begins_before_its_call_and_the_gap_and_none_waits_for_more(count, kernel, call, gap):
    made = launches.timeline(count, kernel, call, gap)
    free = np.append(0, made["end"][:-1] + gap)
    assert (made["begin"] == np.maximum(made["called"], free)).all()
    assert (made["end"] - made["begin"] == kernel).all()
    assert (np.diff(made["called"], prepend=0) == call).all()


@given(NS, NS, NS)
def test_each_kernel_takes_what_is_said_after_the_first_and_hides_its_call_from_a_length(kernel, call, gap):
    each, made = launches.each(kernel, call, gap), launches.timeline(30, kernel, call, gap)
    assert (np.diff(made["end"]) == each).all()
    assert (each == kernel + gap) == (kernel >= launches.hides(call, gap))
    if kernel:
        turns = made["end"][-1] - made["end"][0]
        assert launches.idle(kernel, call, gap) == pytest.approx(1 - 29 * kernel / turns)
