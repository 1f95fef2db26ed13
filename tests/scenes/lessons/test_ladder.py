"""Ladder: multiplying takes equally many cycles in all programs, or else the film is refused."""

import json
from pathlib import Path

import pytest

import tilesim
from tilesim_scenes.ladder import TILES, Ladder, first_tiles, rows_of_tiles

SHIPPED = Path(tilesim.__file__).parent / "data" / "ladder" / "h200.json"


def made(tmp_path, name="", **changed):
    """The film on a file that is the shipped ladder but for some figures of one step."""
    values = json.loads(SHIPPED.read_text("utf-8"))
    for row in values["rows"]:
        if row["name"] == name and row["k"] == 512:
            row.update(changed)
            row |= {name: changed["us"] for name in ("p20", "p80") if "us" in changed}
            row["tflops"] = round(2 * row["m"] * row["n"] * row["k"] / row["us"] / 1e6, 1)
    (tmp_path / "mine.json").write_text(json.dumps(values), "utf-8")
    scene = Ladder(skip_animations=True)
    scene.settings = {"ladder": str(tmp_path / "mine.json")}
    scene.setup()
    return scene


def test_shares_are_of_the_time_of_all_tensor_cores(tmp_path):
    scene = made(tmp_path)
    own = scene.shares
    assert own == sorted(own) and 0 < own[0] < own[-1] < 1


def test_lanes_show_tiles_of_one_processor_from_its_first_multiplication(tmp_path):
    scene = made(tmp_path)
    for run, overlaps in ((scene.fourth, False), (scene.fifth, True)):
        spans = first_tiles(run)
        assert len(spans) == TILES and spans["start"][0] == 0
        assert (spans["done"][:-1] > spans["start"][1:]).all() == overlaps
        _, loads, writes = rows_of_tiles("one", spans).values()
        assert all(
            (load.start < write.end) == overlaps for load, write in zip(loads[1:], writes, strict=False)
        )


@pytest.mark.parametrize(
    ("name", "changed", "claim"),
    [
        ("pipelined", {"us": 240.0}, "each step saves time"),
        ("ping-pong", {"us": 107.0}, "almost 30 times"),
        ("overlapped", {"tensor_cycles": 1e6}, "equally many cycles"),
        ("coalesced", {"load_sectors": 1e8}, "one number of each piece"),
        ("tiled", {"load_sectors": 33554432}, "one strip of four"),
        ("ping-pong", {"sm_mhz": 1900.0}, "clock is slower"),
    ],
)
def test_a_ladder_that_says_otherwise_is_refused(name, changed, claim, tmp_path):
    with pytest.raises(SystemExit, match=claim):
        made(tmp_path, name, **changed)
