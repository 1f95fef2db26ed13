"""What `choose` tries: schedules that make a difference, and tiles that do not waste most of themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Device, Problem
from tilesim.choice.candidates import SHORTEST, candidates, schedules
from tilesim.choice.sharing import requests
from tilesim.products import Product


@pytest.mark.parametrize(
    ("schedule", "tiles", "steps", "made"),
    [
        ("persistent", 7, 1, ["persistent"]),
        ("stream-k-hybrid", 10, 4, []),
        ("stream-k-hybrid", 11, 4, ["stream-k-hybrid"]),
        ("stream-k-hybrid", 11, 3, []),
        ("stream-k-hybrid", 20, 4, []),  # no rest
        ("stream-k-hybrid", 79, 4, ["stream-k-hybrid"]),
        ("stream-k-hybrid", 81, 4, []),
        ("split-k:2", 5, 8, ["split-k:2"]),
        ("split-k:2", 5, 7, []),
        ("split-k:2", 6, 8, []),
        ("stream-k", 2, 20, ["stream-k:10", "stream-k:4"]),
        ("stream-k", 2, 19, ["stream-k:4"]),
        ("stream-k", 2, 7, []),
        ("stream-k", 10, 99, []),
    ],
)
def test_tiles_are_split_where_ten_slots_would_be_idle(schedule, tiles, steps, made):
    assert schedules(schedule, Problem(1, tiles, steps, tile=(1, 1, 1)), 10) == made


SIZE = st.integers(1, 600)


@given(SIZE, SIZE, SIZE, st.sampled_from(["bf16", "fp8"]))
def test_no_tile_is_half_empty_and_short_ones_are_for_narrow_matrices(m, n, k, dtype):
    for one in candidates(Product(m, n, k, dtype, "nt"), Device.named("h200")):
        for side, size in zip(one.tile[:2], (m, n), strict=True):
            assert side < 2 * size or side == SHORTEST >= size
        assert one.tile[1] >= 64 or one.tile[1] >= n


@pytest.mark.parametrize(
    ("problem", "layout", "made"),
    [
        (Problem(512, 512, 64), "nn", (1.0, 1.0)),
        (Problem(512, 512, 96), "nn", (1.5, 1.0)),
        (Problem(512, 96, 64), "nn", (1.0, 1.5)),
        (Problem(512, 96, 64), "nt", (1.0, 1.0)),
        (Problem(96, 512, 64), "tn", (1.5, 1.0)),
        # Those that begin within a sector take one request more than others within a line.
        (Problem(512, 512, 1088, dtype="fp8"), "nt", (1.5, 1.5)),
        (Problem(512, 512, 1056, dtype="fp8"), "nt", (1.75, 1.75)),
        (Problem(512, 512, 1040, dtype="fp8"), "nt", (2.375, 2.375)),
    ],
)
def test_rows_that_begin_within_a_line_take_another(problem, layout, made):
    assert requests(problem, layout) == made
