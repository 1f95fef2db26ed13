"""Work items of unequal lengths: bounds hold, and longest first is what list scheduling says."""

import json

import pytest
from command_line import said
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Device, Problem, simulate
from tilesim.analysis.item_times import greedy, item_times
from tilesim.errors import ProblemError
from tilesim.formats.reader import read

ROWS = "item,sm,start,end\na,0,0,1000\nb,0,1000,1500\nc,1,0,3000\nd,1,3000,3200\ne,0,1500,5600\n"
FACTS = {"items": True, "sms": 2}


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(ROWS)
    return path


def test_what_lengths_say(run):
    found = item_times(read(run, FACTS))
    assert (found.longest, found.longest_ns, found.median_ns) == ("e", 4100, 1000)
    assert found.bound == (1000 + 500 + 3000 + 200 + 4100) / 2 and found.makespan == 5600
    assert found.longest_first == 4500 <= found.in_order


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=40), st.integers(1, 8))
def test_longest_first_is_within_graham_s_bound(lengths, slots):
    least = max(max(lengths), -(-sum(lengths) // slots))
    ends = greedy(sorted(lengths, reverse=True), slots)
    assert least <= ends and greedy(lengths, slots) >= least
    # Against the bound and not the optimum, any list schedule is within 2 - 1/slots.
    assert ends <= (2 - 1 / slots) * least + 1


def test_explain_tells_it(run):
    text = said("explain", run, "--items", "--sms", 2)
    assert "longest item" in text and "longest first" in text and "alternative" not in text
    assert json.loads(said("explain", run, "--items", "--sms", 2, "--json"))["items"]["longest"] == "e"


def test_tiles_of_a_product_are_refused():
    with pytest.raises(ProblemError, match="tiles are alike"):
        item_times(simulate("naive", Problem(256, 512, 64), Device(2)))
