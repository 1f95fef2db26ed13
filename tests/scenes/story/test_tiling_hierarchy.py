"""What the film of tiles within tiles says follows from the model, the report and the ladder."""

from copy import deepcopy
from dataclasses import replace

import pytest

from tilesim.errors import TilesimError
from tilesim.ladder.reports import report
from tilesim_scenes.film.settings import FilmError
from tilesim_scenes.story.ideas.ladder_pairs import shipped
from tilesim_scenes.story.ideas.tiling_hierarchy import tell

REPORT = report("tiling_hierarchy")
STORY = tell(REPORT, shipped())


def test_the_figures_are_those_of_the_levels():
    assert STORY.per_byte(1, 1).startswith("0.5 ") and STORY.per_byte(128, 256).startswith("85 ")
    assert STORY.wgmma == "wgmma m64n256k16" and STORY.instructions == 4
    assert [[round(one) for _, one in of] for of in STORY.rates.values()] == [
        [4, 21],
        [48, 34, 76],
        [80, 128],
    ]
    assert STORY.number == f"×{STORY.before.us / STORY.after.us:.0f}" == "×72"


def test_the_measured_rates_lie_on_the_model_s_curve():
    assert [n for n, _ in STORY.measured] == [n for n, _ in STORY.modelled]
    for (_, measured), (_, modelled) in zip(STORY.measured, STORY.modelled, strict=True):
        assert measured == pytest.approx(modelled, rel=0.002)
    assert "22%" in STORY.narrow


def test_what_was_measured_elsewhere_or_in_another_dtype_is_not_shown():
    assert tell(REPORT, shipped(), dtype="tf32").measured == ()
    other = tell(REPORT, shipped(), device="h100")
    assert other.measured == () and not other.here and "measured on" not in other.sent_from
    slower = deepcopy(dict(REPORT))
    for row in slower["rows"]:
        row["macs_per_clock"]["p50"] /= 2
    assert "11%" in tell(slower, shipped()).narrow


@pytest.mark.parametrize(
    ("asked", "groups", "shared"),
    [
        ({}, (2, 1), {"B"}),
        ({"tile": (64, 256, 64)}, (1, 2), {"A"}),
        ({"warps": 4, "tile": (128, 128, 64)}, (1, 1), set()),
        ({"warps": 16, "tile": (128, 128, 64)}, (2, 2), {"A", "B"}),
    ],
)
def test_what_warp_groups_share_follows_from_how_they_part_the_tile(asked, groups, shared):
    story = tell(REPORT, shipped(), **asked)
    assert story.groups == groups and {"A", "B"} & {*story.shared.split()} == shared


@pytest.mark.parametrize(("dtype", "factor"), [("bf16", ""), ("fp8", "2×"), ("tf32", "0.5×")])
def test_flop_a_byte_are_worked_out_as_area_by_edges(dtype, factor):
    story = tell(REPORT, shipped(), dtype=dtype, tile=(128, 128, 32))
    assert story.worked(128, 128) == f"{factor}128×128/(128+128)"
    assert float(factor.strip("×") or 1) * 128 * 128 / (128 + 128) == story.tile.intensity


def test_a_small_tile_starves_and_the_film_says_of_what():
    usual, small = STORY.fed, tell(REPORT, shipped(), tile=(64, 64, 64), warps=4).fed
    assert usual != small and "L2" in usual and "L2" in small and "too few" in small


def test_a_ladder_whose_tile_wins_nothing_is_told_so():
    rows = tuple(replace(row, us=700.0) if row.name == "element" else row for row in shipped().rows)
    story = tell(REPORT, replace(shipped(), rows=rows))
    assert story.finding != STORY.finding and story.number == "×1"
    with pytest.raises(FilmError, match="no steps element and uncoalesced at 2048x2048x2048"):
        tell(REPORT, replace(shipped(), rows=rows[2:]))


@pytest.mark.parametrize("asked", [{"dtype": "fp32"}, {"device": "a100"}, {"warps": 3}, {"tile": (1, 2, 3)}])
def test_what_no_warp_group_can_do_is_refused(asked):
    with pytest.raises(TilesimError):
        tell(REPORT, shipped(), **asked)
