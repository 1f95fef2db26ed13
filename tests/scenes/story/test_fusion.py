"""What the film fusion says follows from the report that it is given."""

from copy import deepcopy

import pytest

from tilesim.errors import ReportError
from tilesim.ladder.reports import report
from tilesim_scenes.story.ideas.fusion import tell

LARGE, SMALL = 2**26, 2**21


def changed(change) -> dict:
    """The shipped report with some figures of each row changed."""
    other = deepcopy(dict(report("fusion")))
    other["rows"] = [row | change(row) for row in other["rows"]]
    return other


def without(leave_out) -> dict:
    """The shipped report without some rows."""
    other = deepcopy(dict(report("fusion")))
    other["rows"] = [row for row in other["rows"] if not leave_out(row)]
    return other


def test_the_number_is_the_ratio_of_the_times_of_the_longest_chain():
    story = tell()
    rows = {row["kernel"]: row["us"] for row in report("fusion")["rows"]
            if (row["elements"], row["functions"]) == (LARGE, 8)}  # fmt: skip
    assert float(story.number[1:]) == pytest.approx(rows["eager"] / rows["fused"], abs=0.05)
    assert [us for _, us, _ in story.bars] == [rows["eager"], rows["fused"]]
    slower = tell(changed(lambda row: {"us": row["us"] * (3 if row["kernel"] == "fused" else 1)}))
    assert float(slower.number[1:]) == pytest.approx(rows["eager"] / rows["fused"] / 3, abs=0.05)


def test_another_chain_can_be_asked_for():
    assert tell(functions=4).far.functions == tell(functions=4).near.functions == 4
    assert float(tell(functions=4).number[1:]) == pytest.approx(4, abs=0.1)
    for length in (3, 1, 1024):
        with pytest.raises(ReportError, match=rf"functions is {length}; the report has chains of 2, 4, 8"):
            tell(functions=length)


def test_a_report_that_lacks_chains_is_refused_in_a_sentence():
    for kernel in ("eager", "fused"):
        with pytest.raises(ReportError, match="no chain of 2 to 16 functions that ran both ways"):
            tell(without(lambda row, kernel=kernel: row["kernel"] == kernel))
    with pytest.raises(ReportError, match="no chain of 2 to 16 functions"):
        tell(changed(lambda row: {"functions": 50 * row["functions"]}))
    with pytest.raises(ReportError, match="us of eager is 0; a time must be above 0"):
        tell(changed(lambda row: {"us": 0}))


def test_a_size_that_ran_one_way_only_is_left_out():
    story = tell(without(lambda row: (row["elements"], row["kernel"]) == (SMALL, "fused")))
    assert story.near is None and story.far.elements == LARGE


def test_where_fusing_wins_nothing_the_finding_says_so():
    alike = tell(changed(lambda row: {"us": 100.0}))
    assert alike.number == "×1.0" and alike.finding != tell().finding and "8" not in alike.finding


def test_bytes_are_counted_only_where_counters_were_read():
    story = tell()
    assert (
        story.badge[1] == "counted" and story.far.counted and story.far.saved == pytest.approx(8.35, abs=0.01)
    )
    bare = deepcopy(dict(report("fusion")))
    for row in bare["rows"]:
        row.pop("dram_read_bytes", None)
    assert tell(bare).badge[1] == "model" and tell(bare).far.saved == 8


def test_the_aside_has_torch_compile_and_the_l2_only_where_they_were_measured():
    aside = tell().aside
    assert "torch.compile: ×8.0" in aside and "×5.2" in aside
    assert "torch.compile" not in tell(without(lambda row: row["kernel"] == "torch.compile")).aside
    bare = tell(without(lambda row: row["elements"] == SMALL))
    assert bare.near is None and "5.2" not in bare.aside


def test_a_small_x_stays_in_the_l2_where_its_kernels_move_no_more_than_one_does():
    story = tell()
    assert story.near.stays and not story.far.stays and story.near.elements == SMALL
    moves = tell(changed(lambda row: {"dram_read_bytes": 10**8 * (7 if row["kernel"] == "eager" else 1)}))
    assert not moves.near.stays and moves.near_trips != story.near_trips


def test_arithmetic_binds_from_the_first_chain_that_takes_longer():
    story = tell()
    assert story.binding == 128 and "128" in story.roof
    never = tell(changed(lambda row: {"us": 130.0}))
    assert never.binding is None and "1024" in never.roof
    early = tell(changed(lambda row: {"us": 100.0 + row["functions"]}))
    assert early.binding == 32


def test_what_climbs_is_what_was_measured_below_the_roofs():
    story = tell()
    assert [spot.intensity * 8 for spot in story.climb] == list(story.lengths)
    for spot in story.climb:
        assert spot.tflops <= 1.005 * min(story.tflops, spot.intensity * story.gb_per_s / 1000)


def test_a_launch_is_what_a_kernel_takes_that_has_nothing_to_do():
    assert tell().launch == pytest.approx(1.26, abs=0.01)
    assert tell(without(lambda row: row["elements"] == 2**10)).launch == 0


def test_of_a_gpu_that_nobody_knows_the_peak_is_at_least_the_most_that_was_measured():
    other = tell(report("fusion") | {"machine": report("fusion")["machine"] | {"gpu": "mine"}})
    assert other.tflops == max(spot.tflops for spot in tell().climb) and not other.published
    assert tell().published and other.waiting != tell().waiting
