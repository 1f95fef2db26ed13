"""What l2_order says follows from the measurement, and from what it is asked for."""

from copy import deepcopy

import pytest

from tilesim.errors import TilesimError
from tilesim.ladder.reports import report
from tilesim_scenes.l2_order import L2Order
from tilesim_scenes.story.ideas.l2_order import percent, tell


def changed(change):
    """The shipped report with each row changed."""
    other = deepcopy(dict(report("l2_order")))
    other["rows"] = [row | change(row) for row in other["rows"]]
    return other


@pytest.fixture(scope="module")
def story():
    return tell()


def test_nine_tiles_need_what_triton_s_tutorial_says(story):
    assert story.needed == (90, 54)
    assert "90" in story.row_needs and "54" in story.square_needs


def test_times_are_the_report_s_and_the_finding_is_their_change(story):
    rows = {row["order"]: row for row in report("l2_order")["rows"] if row["k"] == 8192}
    assert [one.us for one in story.ordered] == [
        rows[order]["us"] for order in ("row-major", "grouped:8", "hilbert")
    ]
    fastest = min(rows["grouped:8"]["us"], rows["hilbert"]["us"])
    assert story.number == f"{percent(fastest / rows['row-major']['us'] - 1)} time"
    assert story.number.startswith("−")


def test_where_row_by_row_is_the_fastest_the_finding_says_what_the_others_lose():
    slow = changed(lambda row: {"us": row["us"] * (1.5 if row["order"] != "row-major" else 1)})
    story = tell(slow)
    assert story.number.startswith("+") and story.change > 0.3


def test_the_finding_names_the_clock_only_where_that_explains_it(story):
    first, best = story.ordered[0], story.best
    assert best.us * best.mhz == pytest.approx(first.us * first.mhz, rel=0.01)
    assert f"{best.mhz / first.mhz - 1:.0%}" in story.finding
    cool = tell(changed(lambda row: {"sm_mhz": 1980}))
    assert cool.clock_change == 0 and cool.finding != story.finding
    assert tell(given={"k": 512}).finding == tell(given={"device": "a100"}).finding == cool.finding


def test_the_aside_is_the_same_change_at_the_other_shape(story):
    short = {row["order"]: row["us"] for row in report("l2_order")["rows"] if row["k"] == 512}
    order = story.best.loads.trace.problem.order
    assert story.elsewhere == ("8192×8192×512", short[order] / short["row-major"] - 1)
    alone = deepcopy(dict(report("l2_order")))
    alone["rows"] = [row for row in alone["rows"] if row["k"] == 8192]
    other = tell(alone)
    assert other.elsewhere is None and other.aside == other.shape


def test_orders_are_alike_where_the_l2_holds_a_and_b(story):
    short = tell(given={"k": 512})
    assert not story.alike and short.alike and story.what_hbm_sends != short.what_hbm_sends


def test_a_wave_of_a_group_needs_less(story):
    row_by_row, groups, curve = story.ordered
    assert curve.wave_bytes < groups.wave_bytes < row_by_row.wave_bytes
    assert groups.needs(0) == "88 MB"


def test_what_was_not_measured_is_simulated():
    for given in ({"m": 4096}, {"device": "a100"}, {"order": "morton"}):
        story = tell(given=given)
        assert story.gpu == "" and not story.counted and story.elsewhere is None
        assert story.ordered[0].us == story.ordered[0].loads.trace.makespan / 1000
    without = changed(lambda row: {})
    for row in without["rows"]:
        row.pop("dram_read_bytes")
    assert tell(without).gpu and not tell(without).counted


def test_few_bytes_are_said_in_mb(story):
    short = tell(given={"k": 512})
    assert story.unit[0] == "GB" and short.unit[0] == "MB" and short.ordered[0].sent(0) == "0 MB"


def test_hits_and_bytes_are_said_as_of_the_instant(story):
    one = story.ordered[1]
    end = one.loads.trace.makespan
    assert one.sent(end) == f"{one.loads.hbm_bytes / 1e9:.2f} GB"
    assert one.hits(end) == f"{one.loads.hit_rate(end):.0%} hits" and one.sent(0) == "0.00 GB"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"order": "row-major"}, "the order is row-major, with which others are compared"),
        ({"order": "zigzag"}, "zigzag"),
        ({"device": "h300"}, "h300"),
        ({"m": 10**6, "n": 10**6}, "this film shows up to 65536"),
        ({"k": 0}, "k is 0"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(given, says):
    with pytest.raises(TilesimError, match=says):
        L2Order.checked(given)
