"""Pace: film seconds to trace time and back."""

import numpy as np
import pytest
from films import CLIMBS, FILMS, film, picture, picture_of
from hypothesis import assume, given
from hypothesis import strategies as st

from tilesim_scenes._stage.layout import Frame
from tilesim_scenes._stage.pace import FASTEST, fade, pace
from tilesim_scenes._stage.timing import CLOSING, EARLY, OPENING


@st.composite
def paces(draw):
    """(pace, end, opening, run, slow, slow_s, least): what was asked for, and what came of it."""
    end = draw(st.integers(100, 10**7))
    opening, run = draw(st.floats(0, 5)), draw(st.floats(2, 60))
    low, high = sorted(draw(st.tuples(st.integers(-20, 120), st.integers(-20, 120))))
    slow, slow_s = (low * end / 100, high * end / 100), draw(st.floats(0, 0.6)) * run
    starts = sorted(draw(st.lists(st.integers(0, 99), max_size=6, unique=True)))
    least = [(start * end / 100, draw(st.floats(0.1, 2.0))) for start in starts]
    return pace(end, opening, run, slow, slow_s, least), end, opening, run, slow, slow_s, least


@given(paces(), st.lists(st.floats(-1, 80), min_size=2, max_size=20))
def test_time_never_runs_backwards_and_keeps_to_its_ends(drawn, seconds):
    made, end, opening, run, *_ = drawn
    times = [made.at(second) for second in sorted(seconds)]
    assert times == sorted(times)
    assert made.at(0) == made.at(opening) == 0.0
    assert made.at(opening + run) == pytest.approx(end) == made.at(opening + run + 9)


@given(paces())
def test_knots_are_hit_and_move_forwards(drawn):
    made = drawn[0]
    assert (np.diff(made.film_s) >= 0).all() and (np.diff(made.trace_ns) >= 0).all()
    for second, time in zip(made.film_s, made.trace_ns, strict=True):
        if second:
            assert made.at(second) == pytest.approx(time)


@given(paces(), st.floats(0, 1))
def test_when_inverts_at(drawn, share):
    made, end, opening, run, *_ = drawn
    assume(share * end > 0)
    second = made.when(share * end)
    assert opening - 1e-9 <= second <= opening + run + 1e-9
    assert made.at(second) == pytest.approx(share * end, abs=1e-6 * end)


def speeds(made):
    """ns a second between the knots, where time passes."""
    film, trace = np.diff(made.film_s), np.diff(made.trace_ns)
    return (trace / np.where(film > 0, film, 1))[film > 0]


@given(paces())
def test_nothing_jumps(drawn):
    made, end, _, run, *_ = drawn
    assert speeds(made).max() <= FASTEST * end / run * (1 + 1e-6) or (
        # Where the captions ask for more time than there is, all get faster alike.
        sum(seconds for _, seconds in drawn[6]) + drawn[5] > 0.4 * run
    )


@given(
    st.integers(1000, 10**6), st.floats(0.1, 0.8), st.floats(0.01, 0.1), st.floats(4, 20), st.floats(0.2, 0.5)
)
def test_slow_motion_is_slow(end, low, length, run, share):
    slow = (low * end, (low + length) * end)
    made = pace(end, 2.0, run, slow, share * run)
    within = (slow[1] - slow[0]) / (made.when(slow[1]) - made.when(slow[0]))
    assert within < end / run
    assert made.when(slow[1]) - made.when(slow[0]) >= share * run * 0.99
    assert within == pytest.approx(speeds(made)[1:].min(), rel=1e-6)


@given(st.integers(1000, 10**6), st.floats(10, 20), st.lists(st.floats(0.2, 0.9), min_size=1, max_size=3))
def test_what_is_to_be_read_gets_its_time(end, run, shares):
    starts = np.linspace(0, 0.9, len(shares)) * end
    least = [(float(start), 3 * share) for start, share in zip(starts, shares, strict=True)]
    made = pace(end, 2.0, run, least=least)
    edges = [*starts, end]
    for index, (start, seconds) in enumerate(least):
        begun = max(2.0, made.when(start))
        assert made.when(edges[index + 1]) - begun >= 0.999 * seconds


@pytest.mark.parametrize("name", [*FILMS, *CLIMBS])
def test_every_caption_of_a_film_can_be_read(name):
    made = picture(name)
    shown = [max(OPENING - EARLY, made.pace.when(caption.at)) for caption in made.script.captions]
    assert shown == sorted(shown) and made.script.captions
    for caption, start, end in zip(made.script.captions, shown, [*shown[1:], made.finished], strict=True):
        assert end - start >= 0.98 * (0.35 + 0.25 * len(caption.text.split())), caption.text


@pytest.mark.parametrize("name", [*FILMS, *CLIMBS])
def test_a_film_lasts_12_to_16_seconds_and_ends_on_its_end_card(name):
    made = picture(name)
    assert 12 <= made.seconds <= (16 if name in CLIMBS else 15)
    assert made.finished == pytest.approx(made.seconds - CLOSING)
    assert made.pace.at(made.finished) == pytest.approx(made.end)
    assert made.pace.at(OPENING) == 0


@pytest.mark.parametrize("seconds", [6.0, 7.5, 60.0])
def test_a_film_of_another_length_still_runs(seconds):
    made = picture_of("naive", film("naive", seconds=seconds), Frame(854, 480))
    assert 0 < made.opening < made.finished < seconds
    assert made.finished - made.opening >= seconds / 2
    assert made.pace.at(made.opening) == 0 and made.pace.at(made.finished) == pytest.approx(made.end)


def test_fading():
    assert [fade(second, 1, 4) for second in (0, 1, 1.15, 2, 3.85, 4, 9)] == [0, 0, 0.5, 1, 0.5, 0, 0]
