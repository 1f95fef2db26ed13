"""Parts of a frame are converted as the encoder converts all of it."""

import av
import numpy as np
import pytest
from av.video.reformatter import VideoReformatter
from hypothesis import given, settings
from hypothesis import strategies as st

from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.files.planes import AS_MANIM, HDTV, PIXEL_FORMAT, Planes


@pytest.mark.parametrize("conversion", [AS_MANIM, HDTV], ids=["as Manim", "HDTV"])
@settings(max_examples=40)
@given(st.data())
def test_parts_are_converted_as_the_whole(conversion, data):
    """Wherever they are, and whatever was there before."""
    height, width = (2 * data.draw(st.integers(1, 150)) for _ in range(2))
    picture, other = np.random.default_rng(0).integers(0, 256, (2, height, width, 4), np.uint8)
    planes = Planes(width, height, PIXEL_FORMAT, conversion)
    planes.convert(picture, [])
    for _ in range(3):
        left, top = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
        across, down = data.draw(st.integers(1, width - left)), data.draw(st.integers(1, height - top))
        place = Pixels(left, top, across, down)
        picture[place.rows, place.columns] = other[place.rows, place.columns]
        planes.convert(picture, [place])
    frame = av.VideoFrame.from_ndarray(picture, format="rgba")
    whole = VideoReformatter().reformat(frame, width, height, PIXEL_FORMAT, **conversion.options)
    assert (planes.frame.to_ndarray() == whole.to_ndarray()).all()
