"""Images whose pixels change lie on a frame as if they were warped anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tilesim_scenes.render import dirty as tiles
from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.files.images import Overlay

WIDTH, HEIGHT = 150, 100
WHOLE = Pixels(0, 0, WIDTH, HEIGHT)
SCALES = st.tuples(st.floats(-3, 4), st.floats(0.3, 4)).filter(lambda scale: abs(scale[0]) > 0.3)


def warp(scale, shift, sampling):
    """What lies on a frame for an image that is scaled (turned over where negative) and shifted."""

    def warped(image):
        coefficients = (1 / scale[0], 0, -shift[0] / scale[0], 0, 1 / scale[1], -shift[1] / scale[1])
        turned = Image.fromarray(image, mode="RGBA").transform(
            (WIDTH, HEIGHT), Image.Transform.AFFINE, coefficients, sampling
        )
        return WHOLE, np.array(turned)

    return warped


@pytest.mark.parametrize("sampling", [Image.Resampling.NEAREST, Image.Resampling.BICUBIC])
@given(
    SCALES, st.tuples(st.integers(-40, 120), st.integers(-40, 80)), st.integers(0, 2**32 - 1), st.booleans()
)
def test_an_image_that_changes_is_warped_anew_where_it_does(sampling, scale, shift, seed, opaque):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (30, 40, 4), np.uint8)
    if opaque:
        image[..., 3] = 255
    lay = warp(scale, shift, sampling)
    overlay = Overlay(image, lay, sampling == Image.Resampling.NEAREST)
    ground = rng.integers(0, 256, (HEIGHT, WIDTH, 4), np.uint8)

    def shown():
        frame = ground.copy()
        overlay.draw(frame, WHOLE)
        return frame

    for _ in range(3):
        before, changed = shown(), tiles.grid(WIDTH, HEIGHT)
        top, left = rng.integers(0, 30), rng.integers(0, 40)
        image[top : top + rng.integers(1, 9), left : left + rng.integers(1, 9)] = rng.integers(0, 256, 4)
        overlay.update(image, changed)
        truth = np.array(Image.alpha_composite(Image.fromarray(ground), Image.fromarray(lay(image)[1])))
        assert (shown() == truth).all()
        same = ~changed.repeat(tiles.TILE, 0).repeat(tiles.TILE, 1)[:HEIGHT, :WIDTH]
        assert (shown()[same] == before[same]).all()


def test_an_image_that_stays_marks_nothing():
    image = np.full((20, 20, 4), 255, np.uint8)
    overlay = Overlay(image, warp((2.0, 2.0), (5, 5), Image.Resampling.NEAREST), True)
    changed = tiles.grid(WIDTH, HEIGHT)
    assert not overlay.update(image.copy(), changed) and not changed.any()
    image[0, 0] = 7
    assert overlay.update(image, changed) and changed.sum() == 1
