"""The picture of a sweep: its numbers are the table's, its words have room, and nothing lies on another."""

from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from manim import ManimColor, ScreenRectangle
from reading import faults_of
from watching import frame, words_of

from tilesim import Device
from tilesim.analysis.sweep import Row, blank, combinations, sweep
from tilesim.cli.commands.sweep import FRAMES
from tilesim.errors import SweepError
from tilesim_scenes.look.theme import LAUNCH, OKABE_ITO, THEMES
from tilesim_scenes.render.files.formats import SIZES
from tilesim_scenes.sweep_chart import chart
from tilesim_scenes.sweep_chart.chart import ticks
from tilesim_scenes.sweep_chart.sawtooth import Sawtooth, draw

H200 = Device.named("h200")
IDEAL = {"schedule": ["naive"], "sms": [132], "m": range(1, 600), "n": [1], "k": [64], "tile": [(1, 1, 64)]}
DEFAULT = {"schedule": ["persistent", "stream-k"], "m": [1536], "n": range(256, 11521, 256), "k": [4096]}
SQUARE = {"schedule": ["naive"], "m": range(256, 4097, 256), "n": ["m"], "k": ["m"]}
SCHEDULES = ["naive", "persistent", "persistent-dynamic", "stream-k", "stream-k-hybrid", "split-k:2"]
CROWDED = {"schedule": SCHEDULES, "m": [768], "n": range(128, 8193, 256), "k": [512]}
PACKED = np.array([2**16, 2**8, 1])
"""A colour times this is one number."""
SWEEPS = {"ideal": IDEAL, "default": DEFAULT, "square": SQUARE, "crowded": CROWDED}


@cache
def swept(name: str) -> list[Row]:
    return sweep(combinations(SWEEPS[name], H200), "ideal" if name == "ideal" else None)


@pytest.fixture(scope="module", params=SWEEPS)
def rows(request) -> list[Row]:
    return swept(request.param)


def wave_count(row: Row) -> int:
    return -(-row.tiles // row.sms)


def test_every_size_that_help_offers_is_there():
    assert set(FRAMES) < set(SIZES)


def test_one_tile_too_many_is_the_worst_drop():
    rows = swept("ideal")
    layout = chart.axes(rows)
    drop = chart.worst_drop(chart.curves(rows, layout), layout)
    assert (drop.x, drop.tiles, drop.waves, drop.high, drop.low) == (133, 133, 2, 100, 100 * 133 / 264)
    assert f"{drop.used:.1%}" == "50.4%"
    assert [(wave.x, wave.tiles) for wave in chart.waves(rows, layout)] == [
        (132 * n, 132 * n) for n in (1, 2, 3, 4)
    ]


def test_waves_are_marked_where_the_next_tile_begins_another(rows):
    layout = chart.axes(rows)
    sizes = {getattr(row, layout.along): row for row in rows}
    after = dict(pairwise(sorted(sizes)))
    marked = {wave.x: wave for wave in chart.waves(rows, layout)}
    for x, later in after.items():
        assert (x in marked) == (wave_count(sizes[later]) > wave_count(sizes[x]))
    assert all((w.tiles, w.waves) == (sizes[x].tiles, wave_count(sizes[x])) for x, w in marked.items())


def test_the_curves_are_the_table(rows):
    layout = chart.axes(rows)
    curves = chart.curves(rows, layout)
    names = [name for curve in curves for name in curve.names]
    assert sorted(names) == sorted({row.schedule for row in rows})
    for curve in curves:
        for name in curve.names:
            own = sorted(
                (row for row in rows if row.schedule == name), key=lambda row: getattr(row, layout.along)
            )
            heights = [100 * row.utilization if chart.in_percent(rows) else row.tflops for row in own]
            assert list(curve.heights) == heights


def test_a_row_without_figures_is_left_out():
    axes = {"schedule": ["naive", "split-k:2"], "m": [64], "n": [64], "k": range(64, 321, 64)}
    rows = sweep(combinations(axes, H200))
    naive, split = chart.curves(rows, chart.axes(rows))
    assert len(split.rows) == len(naive.rows) - 1
    assert draw(rows, SIZES["480p"], THEMES["dark"]).shape == (480, 854, 3)
    one_point = {"schedule": ["split-k:2"], "m": [64], "n": [64], "k": [64, 128]}
    assert draw(sweep(combinations(one_point, H200)), SIZES["480p"], THEMES["dark"]).any()


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (SQUARE, ("m", ("m", "n", "k"), ())),
        (DEFAULT, ("n", ("n",), ("schedule",))),
        (DEFAULT | {"schedule": ["naive"], "m": [128, 256]}, ("n", ("n",), ("m",))),
        (DEFAULT | {"schedule": ["naive"], "device": ["h100", "b200"]}, ("n", ("n",), ("device",))),
        (
            DEFAULT | {"schedule": ["naive"], "sms": [4, 8], "order": ["morton", "hilbert"]},
            ("n", ("n",), ("sms", "order")),
        ),
    ],
)
def test_what_varies_makes_the_curves(axes, expected):
    assert chart.axes([blank(one) for one in combinations(axes, H200)]) == chart.Axes(*expected)


def test_where_curves_have_other_waves_none_are_marked():
    for more in ({"sms": [4, 8]}, {"tile": [(128, 128, 64), (128, 256, 64)]}):
        rows = [blank(one) for one in combinations(DEFAULT | {"schedule": ["naive"]} | more, H200)]
        assert chart.waves(rows, chart.axes(rows)) == []


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        (DEFAULT | {"n": [256]}, "a picture needs a size that varies"),
        (
            DEFAULT | {"order": ["morton", "hilbert"], "sms": [4, 8]},
            "a curve for each schedule and sms and order makes 8",
        ),
    ],
)
def test_what_cannot_be_shown(axes, words):
    with pytest.raises(SweepError, match=words):
        chart.axes([blank(one) for one in combinations(axes, H200)])


def test_the_badge_says_whose_costs():
    path = files("tilesim").joinpath("data/costs/h200.json")

    def origin(**axes):
        return chart.origin(sweep(combinations(SQUARE | {"m": [64, 128]} | axes, H200), path))

    assert origin() == "simulated with H200 timings"
    assert origin(device=["t4"], dtype=["bf16"]) == "simulated with H200 timings on a T4"
    assert origin(device=["a100", "h200"]) == "simulated"


def test_the_line_above_says_what_is_the_same():
    axes = DEFAULT | {"schedule": ["naive"], "tile": [(64, 64, 64), (128, 128, 64)], "order": ["grouped:8"]}
    rows = [blank(one) for one in combinations(axes | {"ctas_per_sm": [2]}, H200)]
    said = "naive, 1536 × N × 4096, bf16, grouped:8, NVIDIA H200 (132 SMs), 2 blocks per SM"
    assert chart.subtitle(rows, chart.axes(rows)) == said
    rows = [
        blank(one) for one in combinations(axes | {"k": ["m"], "m": [64, 128], "tile": [(64, 64, 64)]}, H200)
    ]
    assert chart.subtitle(rows, chart.axes(rows)).startswith("naive, M × N × K, bf16, tile 64 × 64 × 64")


@given(st.floats(0, 1e6), st.floats(1, 1e6), st.integers(1, 9), st.booleans())
def test_ticks_are_round_and_few(low, span, most, powers):
    found = ticks(low, low + span, most, powers)
    assert len(found) <= most and all(low < tick <= (low + span) * (1 + 1e-9) for tick in found)
    assert len({round(step, 6) for step in np.diff(found)}) <= 1


@pytest.mark.parametrize("theme", THEMES)
def test_everything_stands_within_the_frame_and_no_words_on_others(rows, theme):
    with frame(1920, 1080, background_color=ManimColor(THEMES[theme].background)):
        camera = SimpleNamespace(frame=ScreenRectangle(height=8.0))
        words = list(words_of(SimpleNamespace(mobjects=[Sawtooth(rows)], camera=camera)))
    assert not faults_of(words)
    said = {word.text for word in words}
    assert {row.schedule for row in rows} <= said or len({row.schedule for row in rows}) == 1
    assert any("falls from" in text for text in said) and any("run 132 at a time" in text for text in said)


@pytest.mark.parametrize("theme", THEMES)
def test_curves_are_drawn_in_their_colours_and_never_in_that_of_launches(rows, theme):
    pixels = draw(rows, SIZES["720p"], THEMES[theme]).reshape(-1, 3)
    found = np.unique(pixels @ PACKED)
    assert np.dot(THEMES[theme].background, PACKED) in found and np.dot(LAUNCH, PACKED) not in found
    if theme == "dark":
        layout = chart.axes(rows)
        near = lambda colour: np.abs(pixels.astype(int) - colour).max(axis=1).min() <= 2  # noqa: E731
        assert all(near(OKABE_ITO[i]) for i in range(len(chart.curves(rows, layout))))
