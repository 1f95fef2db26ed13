"""What `choose` tries: schedules that make a difference, and tiles that do not waste most of themselves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Device, Problem
from tilesim.choice import candidates as tables
from tilesim.choice.candidates import SHORTEST, candidates, schedules
from tilesim.choice.sharing import requests
from tilesim.gemm import Tilings, kernels
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


H200, FIVE = Device.named("h200"), Device(8, busy_sms=3, name="h200")


@pytest.fixture
def tried(monkeypatch):
    """What is tried where one kernel has one tile, twice: tried(product, tile, device, name, **tilings)."""

    def tried(product, tile, device=H200, name="naive", schedule="naive", stages=(2,), **options):
        tilings = Tilings(schedule, (tile,), "ptr", stages=stages, **options)
        kernel = replace(kernels()[name], tilings=(tilings, tilings))
        monkeypatch.setattr(tables, "kernels", lambda: {name: kernel})
        return list(candidates(product, device, "ptr"))

    return tried


WIDE, TALL = (64, 128, 1, 4), (128, 64, 1, 4)


@pytest.mark.parametrize(
    ("m", "n", "tile", "options", "is_tried"),
    [
        # Rows: of more than half a tile; below 64 for matrices as narrow, or for so few rows of tiles.
        (1, 512, (16, 64, 1, 4), {}, True), (17, 512, (16, 64, 1, 4), {}, False),
        (32, 512, (16, 64, 1, 4), {"rows": 2}, True), (33, 512, (16, 64, 1, 4), {"rows": 2}, False),
        (16, 512, (32, 64, 1, 4), {}, False), (17, 512, (32, 64, 1, 4), {}, True),
        (32, 512, (32, 64, 1, 4), {}, True), (33, 512, (32, 64, 1, 4), {}, False),
        (32, 512, (64, 64, 1, 4), {}, False), (33, 512, (64, 64, 1, 4), {}, True),
        (65, 512, (64, 64, 1, 4), {}, True),
        # 128 accumulators a thread at most, here also of three groups of four warps.
        (4096, 4096, (128, 128, 1, 4), {}, True), (4096, 4096, (128, 256, 1, 4), {}, False),
        (4096, 4096, (192, 192, 1, 4), {"name": "warp-specialized"}, True),
        # More than a wave of tiles on five SMs.
        (128, 640, (128, 128, 1, 8), {"device": FIVE, "one_wave": False}, False),
        (128, 768, (128, 128, 1, 8), {"device": FIVE, "one_wave": False}, True),
        (128, 128, (128, 128, 1, 8), {"device": FIVE}, True),
        # Small tiles for four waves at most, or narrow matrices.
        (256, 640, WIDE, {"device": FIVE}, True), (256, 768, WIDE, {"device": FIVE}, False),
        (256, 768, TALL, {"device": FIVE}, False), (255, 768, WIDE, {"device": FIVE}, True),
        (4096, 768, (128, 128, 1, 8), {"device": FIVE}, True),
    ],
)  # fmt: skip
def test_tiles_are_tried_where_they_suit(tried, m, n, tile, options, is_tried):
    assert bool(tried(Product(m, n, 512), tile, **options)) == is_tried


@pytest.mark.parametrize(
    ("k", "dtype", "tile", "made"),
    [
        (33, "bf16", (64, 64, 1, 4), [(64, 1)]), (32, "bf16", (64, 64, 1, 4), [(16, 2)]),
        (65, "bf16", (64, 64, 2, 4), [(128, 1)]), (64, "bf16", (64, 64, 2, 4), []),
        (65, "fp8", (64, 64, 1, 4), [(128, 1)]), (64, "fp8", (64, 64, 1, 4), [(32, 2)]),
        (16, "fp32", (64, 64, 1, 4), [(16, 1)]), (256, "bf16", (64, 64, 1, 4), [(64, 3), (64, 4)]),
        (4096, "bf16", (64, 64, 1, 4), [(64, 3), (64, 6), (64, 14)]),
        (4096, "bf16", (128, 128, 1, 4), [(64, 3), (64, 6), (64, 7)]), (4096, "bf16", (128, 128, 16, 4), []),
        (2**37 - 64, "bf16", (64, 64, 1, 4), [(64, 3), (64, 6), (64, 14)]),
        (2**37, "bf16", (64, 64, 1, 4), []),  # 2^31 K-steps
    ],
)  # fmt: skip
def test_k_steps_are_shorter_for_short_sums_and_stages_are_as_many_as_fit(tried, k, dtype, tile, made):
    found = tried(Product(512, 512, k, dtype), tile, stages=(3, 6, 20))
    assert [(one.tile[2], one.stages) for one in found] == made
