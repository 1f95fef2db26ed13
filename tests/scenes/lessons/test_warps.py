"""Lessons on warps: data that does not show what a lesson says is refused."""

import json
from copy import deepcopy

import pytest

from tilesim.cli.packages import scene_class
from tilesim.ladder.reports import report


def refused(name, tmp_path, change):
    """What a lesson says of the report that ships, once `change` has altered it."""
    altered = deepcopy(dict(report(name)))
    change(altered)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(altered))
    scene = scene_class(name)(skip_animations=True)
    scene.settings = {"report": str(path)}
    with pytest.raises(SystemExit) as found:
        scene.setup()
    assert str(found.value).count("\n") == 0
    return str(found.value)


def rows(found, **wanted):
    return [row for row in found["rows"] if wanted.items() <= row.items()]


def part_ways(found):
    for row in found["rows"]:
        row["joined"] = 0.5


def overlap(found):
    spans = next(one for one in found["spans"] if one["ways"] == 4)["spans"]
    spans[1][0] = spans[0][1] - 100


def sorting_is_no_use(found):
    for row in rows(found, code="branch", split="warps", warps=32, ways=4):
        row["cycles"] *= 3


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (part_ways, "continue together"),
        (overlap, "one case after another"),
        (sorting_is_no_use, "lose as much"),
    ],
)
def test_divergence(change, claim, tmp_path):
    assert claim in refused("divergence", tmp_path, change)
