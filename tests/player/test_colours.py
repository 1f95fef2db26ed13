"""The page is painted in the films' colours."""

import re
from itertools import pairwise

import numpy as np
import pytest
from programs import PLAYER, in_node, needs_node

theme = pytest.importorskip("tilesim_scenes.look.theme")
COLOUR = r"rgb\((\d+) (\d+) (\d+)\)"
NAMED = re.compile(rf"--([a-z-]+): (?:light-dark\({COLOUR}, )?{COLOUR}\)?;")


def colours() -> dict[str, dict[str, tuple[int, ...]]]:
    """The colours of each theme by their names, as the style sheet has them."""
    root = (PLAYER / "player.css").read_text("utf-8").partition(":root {")[2].partition("}")[0]
    found: dict[str, dict[str, tuple[int, ...]]] = {"light": {}, "dark": {}}
    for role, *rgb in NAMED.findall(root):
        dark = rgb[3:]
        found["light"][role] = tuple(map(int, rgb[:3] if rgb[0] else dark))
        found["dark"][role] = tuple(map(int, dark))
    return found


EYES = {
    "every cone": np.eye(3),
    "no red cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
}
"""What of linear sRGB these see: Machado, Oliveira and Fernandes (2009)."""
PATHS = (
    "idle, launch, first load, multiply, wait, fix up, write, launch",
    "idle, write, hand over, multiply, fix up, both, multiply, write, both, wait, write",
    "idle, hand over, both, first load, write",
)
"""Phases that follow one another in a lane, and a first load beside a multiply with a write."""
LEAST_APART = 0.09
"""In OKLab, some four times what is just told apart."""


def oklab(colour: tuple[int, ...], seen: np.ndarray) -> np.ndarray:
    share = np.array(colour) / 255
    linear = seen @ np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
    ]
    return to_lab @ np.cbrt(np.clip(cones @ linear, 0, None))


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("name", ["dark", "light"])
def test_phases_that_meet_are_told_apart(name, eyes):
    painted = theme.THEMES[name]
    colours = painted.by_phase | {"both": painted.both, "idle": painted.idle}
    for path in PATHS:
        for one, other in pairwise(path.split(", ")):
            apart = np.linalg.norm(oklab(colours[one], EYES[eyes]) - oklab(colours[other], EYES[eyes]))
            assert apart >= LEAST_APART, (one, other)


@pytest.mark.parametrize("name", ["dark", "light"])
def test_phases_stand_out_from_the_background_in_the_colours_of_the_films(name):
    painted, found = theme.THEMES[name], colours()[name]
    for kind, colour in painted.by_phase.items():
        assert theme.contrast(colour, painted.background) >= theme.LEAST_CONTRAST, kind
    assert {"background", "write", "wait", "measured", "simulated", "launch"} <= found.keys()
    for role, colour in found.items():
        assert colour == getattr(painted, role.replace("-", "_")), role


@needs_node
@pytest.mark.parametrize("sms", [1, 4, 6, 7, 132])
def test_sms_have_their_colours(sms):
    found = in_node("return player.smColours(given);", sms)
    apart = max(abs(a - b) for one, other in zip(found, theme.sm_colours(sms).tolist(), strict=True)
                for a, b in zip(one, other, strict=True))  # fmt: skip
    assert apart <= 1


@needs_node
@pytest.mark.parametrize("sms", [1, 6, 132])
@pytest.mark.parametrize("ground", [[222, 226, 231], [33, 39, 48]])
def test_shapes_and_the_numbers_in_them_can_be_told_from_their_ground(ground, sms):
    script = """return player.smColours(given.sms).map((hue) => {
        const made = player.legible(hue, given.ground);
        return [made, player.inkOn(made).match(/\\d+/g).map(Number)];
    });"""
    for shape, ink in in_node(script, {"sms": sms, "ground": ground}):
        assert theme.contrast(shape, ground) >= 3
        assert theme.contrast(ink, shape) >= 4.5
