"""Ladder: multiplying takes about as long in all programs, and a ladder that says otherwise is refused."""

import json
from pathlib import Path

import pytest

import tilesim
from tilesim_scenes.ladder import Ladder

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
    *own, library = scene.shares
    assert 0 < library < 1 and own == sorted(own) and 0 < own[0] < own[-1] < 1


@pytest.mark.parametrize(
    ("name", "changed", "claim"),
    [
        ("pipelined", {"us": 240.0}, "each step saves time"),
        ("ping-pong", {"us": 107.0}, "almost 30 times"),
        ("overlapped", {"tensor_cycles": 1e6}, "about equally long"),
        ("cublas", {"us": 90.0}, "faster than the library"),
    ],
)
def test_a_ladder_that_says_otherwise_is_refused(name, changed, claim, tmp_path):
    with pytest.raises(SystemExit, match=claim):
        made(tmp_path, name, **changed)
