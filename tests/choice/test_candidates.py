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


H200 = Device.named("h200")
FIVE = Device(8, busy_sms=3, name="h200")


@pytest.fixture
def tried(monkeypatch):
    """What is tried where one kernel has one tile, twice: tried(product, tile, device, name, **tilings)."""

    def tried(product, tile, device=H200, name="naive", schedule="naive", stages=(2,), **options):
        tilings = Tilings(schedule, (tile,), "ptr", stages=stages, **options)
        kernel = replace(kernels()[name], tilings=(tilings, tilings))
        monkeypatch.setattr(tables, "kernels", lambda: {name: kernel})
        return list(candidates(product, device, "ptr"))

    return tried


@pytest.mark.parametrize(
    ("m", "side", "options", "is_tried"),
    [
        (16, 16, {}, True), (1, 16, {}, True), (17, 16, {}, False), (17, 16, {"rows": 2}, True),
        (33, 16, {"rows": 2}, False), (32, 16, {"rows": 2}, True), (32, 32, {}, True),
        (33, 32, {}, False), (16, 32, {}, False), (17, 32, {}, True),
        (65, 64, {}, True), (33, 64, {}, True), (32, 64, {}, False),
    ],
)  # fmt: skip
def test_a_tile_s_rows_are_for_matrices_of_more_than_half_of_them(tried, m, side, options, is_tried):
    """And those below 64 for matrices that are as narrow, or of a kernel for so few rows of tiles."""
    assert bool(tried(Product(m, 512, 512), (side, 64, 1, 4), **options)) == is_tried


@pytest.mark.parametrize(
    ("k", "dtype", "lines", "tile_k"),
    [
        (33, "bf16", 1, [64]), (32, "bf16", 1, [16]), (65, "bf16", 2, [128]), (64, "bf16", 2, []),
        (65, "fp8", 1, [128]), (64, "fp8", 1, [32]), (16, "fp32", 1, [16]),
    ],
)  # fmt: skip
def test_a_k_step_is_shorter_for_sums_of_half_of_it(tried, k, dtype, lines, tile_k):
    made = tried(Product(512, 512, k, dtype), (64, 64, lines, 4))
    assert [one.tile for one in made] == [(64, 64, k) for k in tile_k]


@pytest.mark.parametrize(
    ("name", "tile", "is_tried"),
    [
        ("naive", (128, 128, 1, 4), True),
        ("naive", (128, 256, 1, 4), False),
        ("warp-specialized", (192, 192, 1, 4), True),  # by three groups of four warps
        ("warp-specialized", (128, 256, 1, 4), False),
    ],
)
def test_a_thread_has_128_accumulators_at_most(tried, name, tile, is_tried):
    assert bool(tried(Product(4096, 4096, 512), tile, name=name)) == is_tried


@pytest.mark.parametrize(
    ("k", "tile", "stages"),
    [
        (64, (64, 64, 1, 4), [1]),
        (256, (64, 64, 1, 4), [3, 4]),
        (4096, (64, 64, 1, 4), [3, 6, 14]),
        (4096, (128, 128, 1, 4), [3, 6, 7]),
        (4096, (128, 128, 16, 4), []),
    ],
)
def test_as_many_stages_are_tried_as_fit_and_there_are_k_steps_for(tried, k, tile, stages):
    assert [one.stages for one in tried(Product(512, 512, k), tile, stages=(3, 6, 20))] == stages


@pytest.mark.parametrize(
    ("tiles", "options", "is_tried"),
    [(5, {"one_wave": False}, False), (6, {"one_wave": False}, True), (5, {}, True), (1, {}, True)],
)
def test_some_kernels_are_for_more_than_one_wave(tried, tiles, options, is_tried):
    found = tried(Product(128, 128 * tiles, 512), (128, 128, 1, 8), FIVE, **options)
    assert bool(found) == is_tried


@pytest.mark.parametrize(
    ("m", "n", "tile", "is_tried"),
    [
        (256, 640, (64, 128, 1, 4), True),  # four waves
        (256, 768, (64, 128, 1, 4), False),
        (256, 768, (128, 64, 1, 4), False),
        (255, 768, (64, 128, 1, 4), True),
        (4096, 768, (128, 128, 1, 4), True),
    ],
)
def test_small_tiles_are_for_few_waves_or_narrow_matrices(tried, m, n, tile, is_tried):
    assert bool(tried(Product(m, n, 512), tile, FIVE)) == is_tried


def test_tiles_are_split_for_the_sms_that_are_free(tried):
    found = tried(Product(128, 256, 4096), (128, 128, 1, 8), FIVE, "table", "stream-k")
    assert [one.schedule for one in found] == ["stream-k:5", "stream-k:4"]


@pytest.mark.parametrize(("k", "is_tried"), [(2**37 - 64, True), (2**37, False)])
def test_sums_of_2_to_the_31_k_steps_are_too_long(tried, k, is_tried):
    assert bool(tried(Product(64, 64, k), (64, 64, 1, 4))) == is_tried
