"""What a row may leave out, and which row a sentence names when it makes no sense."""

import numpy as np
import pytest
from refusals import refused

from tilesim.errors import TraceError
from tilesim.formats.csv import parse
from tilesim.formats.rows import make
from tilesim.spans.columns import LONGEST_NS, MOST_CYCLES

FACTS = {"m": 256, "n": 256, "k": 128, "tile": (128, 128, 64), "sms": 2}
ROWS = """\
tile,sm,start,end
0,0,1000,2000
1,1,1010,2100
2,0,2200,3000
3,1,2300,3100
"""


def trace_of(text, **facts):
    return make(parse(text), FACTS | facts, "own")


def with_columns(names, *values):
    """ROWS with more columns, each a list of four."""
    head, *lines = ROWS.splitlines()
    more = [f",{','.join(map(str, row))}" for row in zip(*values, strict=True)]
    return "\n".join([f"{head},{names}", *(a + b for a, b in zip(lines, more, strict=True))])


def changed(line, old, new):
    """ROWS with something else in one line."""
    lines = ROWS.splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    return "\n".join(lines)


def test_a_row_is_a_whole_tile_of_a_thread_block_of_its_own():
    spans = trace_of(ROWS).spans
    assert spans["cta"].tolist() == [0, 1, 2, 3]
    assert (spans["k0"] == 0).all() and (spans["k1"] == 2).all() and (spans["cycles"] == 0).all()
    for name in ("drain", "ready", "fixup"):
        assert spans[name].tolist() == spans["done"].tolist() == [1000, 1100, 2000, 2100]


def test_what_is_known_is_kept():
    text = with_columns(
        "drain,ready,fixup,cta,cycles",
        [1900, 2000, 2900, 3000], [1910, 2010, 2910, 3010], [1920, 2020, 2920, 3020], [5, 6, 5, 6],
        [9, 8, 7, 6],
    )  # fmt: skip
    spans = trace_of(text).spans
    assert spans["drain"].tolist() == [900, 1000, 1900, 2000]
    assert spans["ready"].tolist() == [910, 1010, 1910, 2010]
    assert spans["fixup"].tolist() == [920, 1020, 1920, 2020]
    assert spans["cta"].tolist() == [5, 6, 5, 6]
    assert spans["cycles"].tolist() == [9, 8, 7, 6]
    assert "derived" not in trace_of(text).meta


def test_a_tile_may_be_given_by_its_place():
    text = ROWS.replace("tile,sm", "pid_m,pid_n,sm")
    for tile in range(4):
        text = text.replace(f"\n{tile},", f"\n{tile // 2},{tile % 2},")
    assert trace_of(text).spans.tolist() == trace_of(ROWS).spans.tolist()


@pytest.mark.parametrize("time", [2**63, -(2**63) - 1, 12.5])
def test_a_time_that_is_no_whole_number_of_64_bits(time):
    with pytest.raises(TraceError, match=f"line 3: end is '{time}'; .* of ns, of at most 64 bits"):
        trace_of(changed(3, "2100", str(time)))


def test_thread_blocks_that_overlap_on_an_sm_are_residents():
    text = changed(4, "2200", "1200")
    trace = trace_of(text)
    assert trace.device.ctas_per_sm == 2
    assert trace.spans["slot"][trace.spans["tile"] == 2] == 1
    assert trace_of(ROWS, ctas_per_sm=4).device.ctas_per_sm == 4
    assert trace.meta["derived"] == ["cta"]
    with refused("line 4: tile 2 is on SM 0 beside 1 other thread blocks; ctas_per_sm", TraceError):
        trace_of(text, ctas_per_sm=1)


def test_entry_slot_and_issue_are_used_where_they_are_given():
    entry = with_columns("entry", [900, 950, 2100, 2150])
    assert trace_of(entry).spans["issue"].tolist() == [0, 0, 1100, 1200]
    assert trace_of(entry).spans["start"].tolist() == [100, 110, 1300, 1400]
    slot = with_columns("slot", [1, 0, 0, 0])
    assert trace_of(slot).spans[["tile", "slot", "issue"]].tolist() == [
        (0, 1, 0), (1, 0, 0), (2, 0, 0), (3, 0, 1100),
    ]  # fmt: skip
    issue = with_columns("issue", [990, 980, 2150, 2160])
    assert trace_of(issue).spans["issue"].tolist() == [0, 10, 1170, 1180]


@pytest.mark.parametrize("zero", [-(10**18), -5000, 0, 1795204173179770464])
def test_times_have_any_zero(zero):
    head, *lines = ROWS.splitlines()
    moved = [line.split(",") for line in lines]
    text = "\n".join([head, *(f"{a},{b},{int(c) + zero},{int(d) + zero}" for a, b, c, d in moved)])
    assert trace_of(text).spans.tolist() == trace_of(ROWS).spans.tolist()


def test_the_step_of_the_clock_is_what_all_times_show():
    assert trace_of(ROWS).tick_ns == 10
    assert trace_of(changed(2, "2000", "2032")).tick_ns == 2
    assert trace_of(changed(2, "2000", "2001")).tick_ns == 1
    assert trace_of("tile,sm,start,end\n0,0,0,3000000000", m=128, n=128).tick_ns == 10**9


def test_tiles_may_be_cut():
    text = "tile,sm,start,end,k0,k1,cta\n" + "\n".join(
        f"{tile},{k},{1000 * tile},{1000 * tile + 900},{k},{k + 1},{k}" for tile in range(4) for k in (0, 1)
    )
    spans = trace_of(text).spans
    assert len(spans) == 8
    assert np.unique(spans["cta"]).tolist() == [0, 1]


REFUSED = {
    "no column": (ROWS.replace("sm,", "cluster,"), "there is no sm; rows need tile (or pid_m"),
    "column twice": (ROWS.replace("start", "sm"), "line 1: the column sm is there 2 times"),
    "both ends": (with_columns("done", "1234"), "both done and end are given"),
    "short row": (changed(3, "1,1,", "1,"), "line 3 has 3 cells; the header has 4"),
    "long row": (changed(3, "2100", "2100,7"), "line 3 has 5 cells; the header has 4"),
    "no tile": (
        ROWS.replace("tile,", "what,"), "'end': give one with --map tile=NAME, or --tile-from cta|order|FILE",
    ),
    "no number": (changed(3, "1010", "soon"), "line 3: start is 'soon'; it must be a whole number"),
    "fraction": (changed(5, "3100", "3.1e3"), "line 5: end is '3.1e3'; it must be a whole number"),
    "huge": (changed(2, "2000", "9" * 40), f"line 2: end is '{'9' * 36}...; it must be a whole number"),
    "end before start": (changed(4, "3000", "2199"), "line 4: tile 2 has its end at 2199 ns, before"),
    "drain after end": (with_columns("drain", [2000, 2100, 3001, 3100]), "line 4: tile 2 has its end at"),
    "drain before start": (with_columns("drain", [2000, 2100, 3000, 9]), "line 5: tile 3 has its drain at"),
    "entry after start": (with_columns("entry", [1, 1, 1, 2301]), "line 5: tile 3 has its start at 2300"),
    "issue after start": (with_columns("issue", [1, 1, 1, 2301]), "line 5: tile 3 has its start at 2300"),
    "SM beyond": (changed(3, "1,1,", "1,2,"), "line 3: sm is 2; it must be from 0 to 1 for"),
    "tile beyond": (changed(5, "3,1,", "4,1,"), "line 5: tile is 4; it must be from 0 to 3 for 256x256"),
    "tile twice": (changed(5, "3,1,", "0,1,"), "line 5: tile 0 was computed before"),
    "tile missing": (ROWS.replace("2,0,2200,3000\n", ""), "tile 2 is never computed"),
    "K-step beyond": (with_columns("k1", [2, 2, 3, 2]), "line 4: k1 is 3; it must be from 1 to 2"),
    "K-steps missing": (with_columns("k1", [2, 2, 1, 2]), "K-steps 1 to 2 of tile 2 are never computed"),
    "block on two SMs": (with_columns("cta", [0, 0, 1, 1]), "thread block 0 ran on SM 0 and on SM 1"),
    "backwards in a block": (with_columns("cta", [0, 1, 0, 1]).replace("2200", "1200"), "tile 2 starts at"),
    "no stamp": (changed(2, "1000", "-9223372036854775808"), "line 2 begins at -9223372036854775808 ns and"),
    "no time": (
        "tile,sm,start,end\n" + "\n".join(f"{tile},0,5,5" for tile in range(4)),
        "line 2 begins at 5 ns and line 2 ends at 5 ns; they must be 1 to",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text, words", REFUSED.values(), ids=REFUSED)
def test_a_row_that_makes_no_sense(text, words):
    with refused(words, TraceError):
        trace_of(text)


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        ("cta", 0, 2**31 - 2), ("k0", 0, 1), ("k1", 1, 2), ("slot", 0, 63), ("cycles", 0, MOST_CYCLES),
        ("pid_m", 0, 1), ("pid_n", 0, 1),
    ],
)  # fmt: skip
def test_numbers_are_from_the_least_to_the_greatest_that_makes_sense(column, low, high):
    def text(value):
        rows = with_columns(column, [low, value, low, low])
        return rows if "pid" not in column else rows.replace("tile", {"m": "pid_n", "n": "pid_m"}[column[-1]])

    for value in (low - 1, high + 1):
        with refused(f"line 3: {column} is {value}; it must be from {low} to {high}", TraceError):
            trace_of(text(value), m=512, n=512, tile=(128, 256, 64) if column == "pid_n" else (256, 128, 64))
    for value in (low, high):
        try:
            trace_of(text(value))
        except TraceError as error:
            assert f"{column} is" not in str(error)


def test_a_run_is_as_long_as_a_trace_can_be_at_most():
    longest = LONGEST_NS // FACTS["sms"]
    one = {"m": 128, "n": 128, "ctas_per_sm": 1}
    assert trace_of(f"tile,sm,start,end\n0,0,0,{longest}", **one).makespan == longest
    with refused(f"they must be 1 to {longest} ns apart", TraceError):
        trace_of(f"tile,sm,start,end\n0,0,0,{longest + 1}", **one)


def test_an_sm_that_another_kernel_holds():
    with refused("line 2: sm is 0; another kernel holds that SM", TraceError):
        trace_of(ROWS, busy_sms=1)


def test_rows_that_no_blocks_of_their_own_could_be_are_told_to_name_their_block():
    """Such as of a persistent kernel whose epilogues lie under the next main loop."""
    text = changed(4, "2200", "1200")
    with pytest.raises(TraceError, match="there is no cta, so each row counts as a thread block of its own"):
        trace_of(text, ctas_per_sm=1)
    rows = "\n".join(f"{tile},0,{tile},500" for tile in range(70))
    with pytest.raises(TraceError, match="no GPU can hold that many; there is no cta"):
        trace_of(f"tile,sm,start,end\n{rows}\n", n=70 * 128, m=128)
    with pytest.raises(TraceError) as caught:
        trace_of(f"{text.splitlines()[0]},cta\n0,0,0,9,0\n1,0,0,9,1\n2,1,0,9,2\n3,1,0,9,3", ctas_per_sm=1)
    assert "there is no cta" not in str(caught.value)
