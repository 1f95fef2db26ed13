"""Traces of other profilers: each file of one known run gives that run's trace, or says what it lacks."""

import json

import others
import pytest
from others import FACTS, FILES, MAPS, RUN
from refusals import refused

from tilesim import Problem, Trace, formats
from tilesim.errors import TilesimError, TraceError
from tilesim.formats import reading
from tilesim.formats.profilers import iket
from tilesim.formats.reader import read


def read_file(folder, name, **more):
    return read(others.write(folder, name), FACTS | MAPS[name] | more)


@pytest.mark.parametrize("name", FILES)
def test_a_profilers_file_gives_the_run(tmp_path, name):
    trace = read_file(tmp_path, name)
    assert trace.origin == "measured"
    assert others.places(trace) == others.places(RUN)


@pytest.mark.parametrize("name", ["proton.json", "iket.json", "iket_tables.json"])
def test_a_kernel_is_called_by_its_name(tmp_path, name):
    assert read_file(tmp_path, name).schedule == {"p": "matmul", "i": "gemm_kernel"}[name[0]]


def test_lifetimes_of_warps_say_when_a_block_was_entered(tmp_path):
    document = json.loads(others.iket())
    for one in document["launches"][0]["warpLifetimes"]:
        one["startTs"] -= 70
    (tmp_path / "a.json").write_text(json.dumps(document))
    first = read(tmp_path / "a.json", FACTS | MAPS["iket.json"]).spans
    assert (first["start"] - first["issue"])[:4].tolist() == [70] * 4


LACKS = {
    "proton.json": ("none of its 72 slices says its tile", {"tile_from": None}),
    "flashinfer.perfetto-trace": ("there are 'gemm', 'store': choose one with --map main=NAME", {"map": {}}),
    "sm_profiler.json": ("there are 'compute', 'write': choose", {"map": {}}),
    "nuggets.json": ("does not say its SM", {"map": {"main": "mma", "epilogue": "tma_store"}}),
    "plain.csv": ("there are 'block', 'smid', 't0', 't1', 't2': give one with --map sm=NAME", {"map": {}}),
}


@pytest.mark.parametrize("name", LACKS)
def test_what_is_missing_is_named_and_how_to_give_it(tmp_path, name):
    words, changed = LACKS[name]
    with refused(words, TraceError):
        read_file(tmp_path, name, **changed)


@pytest.mark.parametrize(
    ("name", "names", "words"),
    [
        ("nuggets.json", {"main": "mmma"}, "no slice is called 'mmma'; there are 'mma', 'tma_store'"),
        ("nuggets.json", {"main": "mma", "sm": "smid"}, "has no number 'smid' to take sm from; there are"),
        ("nuggets.json", {"smm": "unit_id"}, "there is no name to map 'smm'; did you mean 'sm'?"),
        ("nuggets.json", {"kernel": "gemm"}, "it has no kernel 'gemm'"),
        ("plain.csv", {"start": "begin"}, "there is no column 'begin' to take start from; there are 'block'"),
    ],
)
def test_a_map_that_leads_nowhere(tmp_path, name, names, words):
    with refused(words, TraceError):
        read_file(tmp_path, name, map=names)


def test_names_are_mapped_once_each_and_long_lists_are_cut():
    for values in (["a"], ["a="], ["=b"], [" =b"], ["a=b", "A=c"]):
        with refused("map", TilesimError):
            reading.pairs(values)
    assert [reading.listed("abcdefghijklm"[:many]).endswith(", ...") for many in (12, 13)] == [False, True]


def test_one_of_several_kernels_is_chosen(tmp_path):
    text = others.proton()
    other = json.loads(text.replace("matmul Core", "norm Core"))["traceEvents"]
    document = json.loads(text)
    document["traceEvents"] += other
    (tmp_path / "both.json").write_text(json.dumps(document))
    with refused("2 kernels; there are 'matmul', 'norm': choose one with --map kernel", TraceError):
        read(tmp_path / "both.json", FACTS | {"tile_from": "order"})
    trace = read(tmp_path / "both.json", FACTS | {"tile_from": "order", "map": {"kernel": "norm"}})
    assert trace.schedule == "norm" and others.places(trace) == others.places(RUN)


def test_tiles_by_block_are_of_naive_kernels(tmp_path):
    text = "cta,sm,start,end\n2,0,0,9\n0,1,0,8\n1,0,10,19\n"
    (tmp_path / "a.csv").write_text(text)
    facts = {"m": 384, "n": 128, "k": 64, "tile": "128x128x64", "sms": 2, "order": "column-major"}
    trace = read(tmp_path / "a.csv", facts | {"tile_from": "cta"})
    assert sorted(trace.spans[["cta", "tile"]].tolist()) == [(0, 0), (1, 1), (2, 2)]
    with pytest.raises(TraceError, match="is the second of block 0; tiles of such come by --tile-from order"):
        (tmp_path / "b.csv").write_text(text.replace("2,0", "0,0"))
        read(tmp_path / "b.csv", facts | {"tile_from": "cta"})


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_tiles_by_a_table(tmp_path, ending):
    rows = RUN.spans[["cta", "tile"]].tolist()
    by_block = sorted(rows, key=lambda row: row[0])
    if ending == "csv":
        text = "\n".join(["cta,tile", *(f"{cta},{tile}" for cta, tile in by_block)])
    else:
        text = json.dumps([{"cta": cta, "tile": tile} for cta, tile in by_block])
    table = tmp_path / f"tiles.{ending}"
    table.write_text(text)
    assert others.places(read_file(tmp_path, "proton.json", tile_from=str(table))) == others.places(RUN)
    table.write_text(text.replace("cta", "block"))
    with pytest.raises(TraceError, match="a table of tiles needs the columns cta and tile"):
        read_file(tmp_path, "proton.json", tile_from=str(table))


def test_a_block_that_the_table_lacks(tmp_path):
    (tmp_path / "tiles.csv").write_text("cta,tile\n0,0\n")
    with refused("the table of tiles has no row 0 (from 0) of block 1, which event", TraceError):
        read_file(tmp_path, "proton.json", tile_from=str(tmp_path / "tiles.csv"))


def test_a_file_names_no_other_file_to_be_read(tmp_path):
    """What a file from an unknown source says of where tiles come from is not followed."""
    (tmp_path / "tiles.csv").write_text("cta,tile\n0,0\n")
    facts = f"# tile_from={tmp_path / 'tiles.csv'}\n# m=1 n=1 k=1 tile=1x1x1 sms=1\n"
    (tmp_path / "a.csv").write_text(f"{facts}cta,sm,start,end\n0,0,0,1\n")
    with pytest.raises(TraceError, match="there is no fact 'tile_from'"):
        read(tmp_path / "a.csv")


def test_rows_of_work_items(tmp_path):
    trace = read(others.write(tmp_path, "tasks.csv"))
    assert trace.problem.items[:2] == ("rmsnorm 0", "qkv 0") and trace.problem.sizes[:2] == (128, 256)
    assert trace.problem.tiles == len(trace.spans) == 12
    assert trace.spans["tile"].tolist() == list(range(12))


def test_slices_are_work_items_by_their_names(tmp_path):
    trace = read(others.write(tmp_path, "flashinfer.perfetto-trace"), {"sms": 4, "items": True})
    assert set(trace.problem.items) == {"gemm", "store"}
    assert trace.problem.tiles == 24


@pytest.mark.parametrize("ending", [".npz", ".csv", ".json", ".perfetto.json"])
def test_work_items_are_kept_by_every_format(tmp_path, ending):
    trace = read(others.write(tmp_path, "tasks.csv"))
    path = tmp_path / f"again{ending}"
    formats.save(trace, path, formats.format_of(path))
    again = read(path)
    assert again.problem == trace.problem and again.spans.tolist() == trace.spans.tolist()


def test_a_native_file_of_a_product_says_nothing_of_items(tmp_path):
    RUN.save(tmp_path / "a.npz")
    assert Trace.load(tmp_path / "a.npz").problem == RUN.problem == Problem(**RUN.problem.as_json())
    assert "items" not in RUN.problem.as_json()


def test_a_place_without_an_sm_can_be_given_one(tmp_path):
    text = others.iket().replace('"smId"', '"tpcId2"')
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(TraceError, match=r"does not say its SM.* --map sm='cta' from its args"):
        read(tmp_path / "a.json", FACTS | MAPS["iket.json"])
    trace = read(tmp_path / "a.json", FACTS | MAPS["iket.json"] | {"map": {"sm": "cta"}})
    assert trace.spans["sm"].tolist() == trace.spans["cta"].tolist()


def test_blocks_are_numbered_by_x_then_y_then_z_and_ranges_over_all_launches():
    ranges = [
        {"startTs": 2**63 - 20 + n, "endTs": 2**63 - 1, "rangeName": f"tile {n}",
         "warpLocs": [{"smId": 0, "warpId": 0, "ctaId": [n % 2, n // 2 % 3, n // 6]}]} for n in range(12)
    ]  # fmt: skip
    launch, place = {"kernelName": "a", "ranges": ranges}, ranges[0]["warpLocs"][0]
    rows = iket.parse({"launches": [launch, launch]})
    assert rows.columns["cta"].tolist() == list(range(12)) and rows.lines.tolist() == list(range(1, 13))
    for change, words in (
        ({"warpLocs": []}, "range 13 has no location"),
        ({"warpLocs": [], "warpLocIdxs": [1]}, "range 13 refers to entry 1 of a table of 1"),
        ({"warpLocs": [], "warpLocIdxs": [-1]}, "range 13 refers to entry -1 of a table of 1"),
        ({"rangeName": None}, "range 13 refers to entry None of a table of 0"),
        ({"startTs": 2**63}, "ranges[0].startTs is 9223372036854775808; it must be a whole number from"),
        ({"startTs": -(2**63) - 1}, "ranges[0].startTs is -9223372036854775809; it must be"),
        ({"warpLocs": [place | {"ctaId": [0, -1, 0]}]}, "ctaId[1] is -1; it must be a whole number from 0"),
        ({"warpLocs": [place | {"ctaId": [2**31, 0, 0]}]}, "ctaId[0] is 2147483648; it must be"),
    ):
        second = {"kernelName": "b", "ranges": [ranges[0] | change]}
        with refused(words, TraceError):
            iket.parse({"launches": [launch, second], "locationTable": [place]})


def test_an_enormous_product_is_refused_before_its_order_is_made(tmp_path):
    facts = {"m": 2**30, "n": 2, "k": 64, "tile": "1x1x64"}
    with pytest.raises(TraceError, match="it has 12 rows with a tile each; the problem has 2147483648 tiles"):
        read_file(tmp_path, "proton.json", **facts)


def test_a_slice_inside_another_is_no_item_of_its_own(tmp_path):
    slices = [("load", 0, 5), ("attention", 0, 10), ("store", 5, 10), ("epilogue", 10, 12), ("last", 11, 13)]
    about = {"ph": "X", "pid": 1, "tid": 1, "args": {"sm": 0}}
    events = [about | {"name": name, "ts": begin, "dur": end - begin} for name, begin, end in slices]
    (tmp_path / "a.json").write_text(json.dumps(events))
    assert read(tmp_path / "a.json", {"sms": 1, "items": True}).problem.items == (
        "attention",
        "epilogue",
        "last",
    )
