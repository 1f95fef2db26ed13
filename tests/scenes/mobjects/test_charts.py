"""Charts and keys: data where the axes say, figures only of what has grown, and words that have room."""

import numpy as np
import pytest
from manim import Scene
from watching import frame

from tilesim import Device, Problem, simulate
from tilesim_scenes import Bars, Curve, Plot, Roofline
from tilesim_scenes.animations.fade import opacities
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.traces.sm_lane import parts_key
from tilesim_scenes.mobjects.words.key import MOST, Entry, Key

ROWS = [("one", 10.0, "measured"), ("two", 40.0, "measured"), ("three", 20.0, "quiet")]


def shown(figure):
    return max(float(np.max(part)) for one in figure.get_family() for part in opacities(one)[:1] if len(part))


def test_bars_are_to_scale():
    bars = Bars(ROWS)
    widths = [body.width for body, _ in bars.bars]
    assert np.allclose(np.array(widths) / widths[0], [1, 4, 2], rtol=1e-6)


@pytest.mark.parametrize("named", [False, True])
def test_names_that_stand_there_already_stay_while_bars_grow(named):
    with frame(160, 90):
        bars = Bars(ROWS)
        grow = bars.grow(named=named)
        grow.begin()
        grow.interpolate(0.0)
        assert [shown(name) for name in bars.names] == pytest.approx([float(named)] * len(ROWS))
        assert [shown(figure) for figure in bars.figures] == pytest.approx([0.0] * len(ROWS))


def test_only_the_bars_that_are_asked_for_grow_and_figures_come_last():
    with frame(160, 90):
        scene, bars = Scene(), Bars(ROWS)
        grow = bars.grow(1)
        grow.begin()
        assert bars.rows[0] not in grow.parts
        whole = bars.grounds[1].width
        for alpha, share, figure in ((0.0, 0, 0), (0.7, 0.9, 0), (1.0, 1, 1)):
            grow.interpolate(alpha)
            assert bars.bars[1].width == pytest.approx(share * whole, abs=0.1 * whole)
            assert shown(bars.figures[1]) == pytest.approx(figure)
        assert scene.mobjects == []


def test_a_plot_puts_data_where_its_axes_say():
    plot = Plot((0, 100), (0, 10), width=4, height=2).shift([1, 1, 0]).scale(2)
    assert np.allclose(plot.at(0, 0), plot.ground.get_corner([-1, -1, 0]))
    assert np.allclose(plot.at(100, 10), plot.ground.get_corner([1, 1, 0]))
    assert np.allclose(plot.at(50, 5), plot.ground.get_center())


def test_on_logarithmic_axes_equal_factors_are_equal_ways():
    chart = Roofline((0.1, 1000), (1, 1000), peak=800)
    ways = np.diff([chart.at(x, 10)[0] for x in (0.1, 1, 10, 100, 1000)])
    assert np.allclose(ways, ways[0])


def test_a_slope_meets_the_flat_roof_at_the_ridge():
    chart = Roofline((0.1, 1000), (1, 1000), peak=800)
    slope = chart.slope(4000)
    assert np.allclose(slope.get_end(), chart.at(200, 800)) and np.allclose(
        slope.get_end(), chart.flat(200).get_start()
    )
    halfway = chart.at(2, 8)
    assert np.min(np.linalg.norm(slope.points - halfway, axis=1)) < 0.5 * slope.width


@pytest.mark.parametrize("t", [0, 0.5, 1, 2.5, 4, 9])
def test_a_curve_is_drawn_up_to_t(t):
    plot = Plot((0, 4), (0, 2), width=4, height=2)
    curve = Curve(plot, [(0, 0), (1, 2), (2, 1), (4, 2)])
    direct = Curve(plot, [(0, 0), (1, 2), (2, 1), (4, 2)]).show(t).stroke.points
    for step in np.linspace(0, t, 5):
        curve.show(float(step))
    assert np.allclose(curve.show(t).stroke.points, direct)
    if t:
        assert np.allclose(
            curve.stroke.points[-1], plot.at(min(t, 4), np.interp(t, [0, 1, 2, 4], [0, 2, 1, 2]))
        )


def test_below_a_roof_is_all_that_it_allows():
    chart = Roofline((0.1, 1000), (0.1, 1000), peak=800)
    ground = chart.allowed(4500)
    assert np.allclose(ground.get_top(), chart.at(1000, 800) * [0, 1, 0] + ground.get_top() * [1, 0, 1])
    corners = ground.points.round(6).tolist()
    assert all(chart.at(*corner).round(6).tolist() in corners for corner in ((800 / 4.5, 800), (1000, 0.1)))


BLUE = (86, 180, 233)


@pytest.mark.parametrize("width", [14.0, 6.0, 3.0, 1.0])
def test_a_key_fits_its_width(width: float) -> None:
    words = ["launch", "first load", "multiply", "write", "hand over", "wait"]
    key = Key([Entry(word, [BLUE]) for word in words], width)
    assert key.width <= width + 1e-6
    assert [word.original_text for row in key for _, word in row] == words
    # Words with and without descenders stand on one baseline.
    (row,) = Key([Entry("xx", [BLUE]), Entry("xyx", [BLUE])], 12.0)
    feet = [word[0].get_bottom()[1] for _, word in row]
    assert feet[0] == pytest.approx(feet[1], abs=px(1))


def test_a_key_names_the_parts_that_lanes_have_and_no_more_than_six() -> None:
    run = simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))
    cut = simulate("stream-k", Problem(384, 1280, 2048), Device.named("h200", sms=4))
    few, most = (
        [word.original_text for row in parts_key([one], 12.0) for _, word in row] for one in (run, cut)
    )
    assert few == ["launch", "first load", "multiply", "write"]
    assert len(most) == MOST and {"wait", "add partials"} & set(most)
    assert np.all([name in ("hand over", "wait", "add partials", *few) for name in most])
