"""What changes in a frame: dirty tiles hold it, and no more of images and planes is made anew."""

import av
import numpy as np
import pytest
from av.video.reformatter import VideoReformatter
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from tilesim_scenes.render import dirty as tiles
from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.files.images import Overlay
from tilesim_scenes.render.files.planes import AS_MANIM, HDTV, PIXEL_FORMAT, Planes

SIZE = 230, 150
GRIDS = arrays(bool, tiles.grid(*SIZE).shape)
SPANS = st.tuples(st.integers(-600, 1000), st.integers(0, 600)).map(lambda span: (span[0] / 2, span[1] / 2))


@given(GRIDS)
def test_rectangles_hold_each_dirty_pixel_once(dirty):
    covered = np.zeros(SIZE[::-1], int)
    for place in tiles.rectangles(dirty, *SIZE):
        covered[place.rows, place.columns] += 1
    wanted = dirty.repeat(tiles.TILE, 0).repeat(tiles.TILE, 1)[: SIZE[1], : SIZE[0]]
    assert (covered == wanted).all()


@given(SPANS, SPANS)
def test_tiles_hold_the_rectangle_and_no_tile_beside_it(across, down):
    left, top = across[0], down[0]
    right, bottom = left + across[1], top + down[1]
    above, below, before, after = tiles.tiles(left, top, right, bottom, tiles.grid(*SIZE).shape)
    held = np.zeros_like(tiles.grid(*SIZE))
    held[above:below, before:after] = True
    rows, columns = np.indices(held.shape) * tiles.TILE
    touched = (columns < right) & (columns + tiles.TILE > left) & (rows < bottom) & (rows + tiles.TILE > top)
    assert not (touched & ~held).any()
    inside = (
        (columns <= right) & (columns + tiles.TILE >= left) & (rows <= bottom) & (rows + tiles.TILE >= top)
    )
    assert not (held & ~inside).any()


@given(GRIDS, st.lists(st.tuples(SPANS, SPANS), max_size=9))
def test_what_meets_a_dirty_tile(dirty, spans):
    ranges = [tiles.tiles(x, y, x + w, y + h, dirty.shape) for (x, w), (y, h) in spans]
    meeting = [
        n for n, (top, bottom, left, right) in enumerate(ranges) if dirty[top:bottom, left:right].any()
    ]
    assert tiles.meeting(dirty, np.array(ranges, np.int64).reshape(-1, 4)).tolist() == meeting


def test_where_nobody_knows_all_is_dirty():
    for odd in (np.nan, np.inf, 1e9):
        assert tiles.tiles(0, 0, odd, 9, (4, 5)) == (0, 4, 0, 5)


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
