"""A key has few entries, fits its width in rows, and its words stand on one baseline."""

import numpy as np
import pytest

from tilesim import Device, Problem, simulate
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.traces.part_names import parts_key
from tilesim_scenes.mobjects.words.key import MOST, Entry, Key

BLUE = (86, 180, 233)


@pytest.mark.parametrize("width", [14.0, 6.0, 3.0, 1.0])
def test_a_key_fits_its_width(width: float) -> None:
    words = ["launch", "first load", "multiply", "write", "hand over", "wait"]
    key = Key([Entry(word, [BLUE]) for word in words], width)
    assert key.width <= width + 1e-6
    assert [word.original_text for row in key for _, word in row] == words


def test_too_many_entries_are_refused() -> None:
    with pytest.raises(ValueError, match=f"{MOST + 1} entries"):
        Key([Entry("write", [BLUE])] * (MOST + 1), 12.0)


def test_words_with_and_without_descenders_stand_on_one_baseline() -> None:
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
