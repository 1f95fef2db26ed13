"""The page is painted in the films' colours."""

import re

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


@pytest.mark.parametrize("name", ["dark", "light"])
def test_colours_are_those_of_the_films(name):
    found = colours()[name]
    assert {"background", "write", "wait", "measured", "simulated", "launch"} <= found.keys()
    for role, colour in found.items():
        assert colour == getattr(theme.THEMES[name], role.replace("-", "_")), role


@needs_node
@pytest.mark.parametrize("sms", [1, 4, 6, 7, 132])
def test_sms_have_their_colours(sms):
    found = in_node("return player.smColours(given);", sms)
    apart = max(abs(a - b) for one, other in zip(found, theme.sm_colours(sms).tolist(), strict=True)
                for a, b in zip(one, other, strict=True))  # fmt: skip
    assert apart <= 1
