"""Badge: where the figures on screen come from."""

from manim import LEFT, Dot, ManimColor, VGroup, config

from tilesim import Trace
from tilesim.costs import badge, said_of
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import cut, fit, label, px
from tilesim_scenes.look.theme import ink_on, theme_now
from tilesim_scenes.mobjects.drawing.quads import rounded, stroke_width

KINDS = ("measured", "counted", "simulated", "model")
ROOM = 0.6
"""Of the frame's width, that its words take at most: a clock stands on the same line."""


class Badge(VGroup):
    """A pill with a dot and `text`: solid for measured and counted, outlined for simulated and model.

    Raises ValueError for another kind.
    """

    def __init__(self, text: str, kind: str = "model", size: float = 40) -> None:
        if kind not in KINDS:
            raise ValueError(f"a badge is one of {', '.join(KINDS)}, not {kind!r}")
        theme = theme_now()
        solid = kind in ("measured", "counted")
        ink = ink_on(theme.measured) if solid else theme.text
        room = ROOM * config.frame_width
        words = label(cut(text, room), size, ink)
        fit(words, room)
        dot = Dot(radius=px(size / 5), color=ManimColor(ink), fill_opacity=float(solid))
        dot.set_stroke(width=stroke_width(4)).next_to(words, LEFT, px(size / 3))
        inside = VGroup(dot, words)
        width, fill = inside.width + px(1.2 * size), theme.measured if solid else theme.background
        pill = rounded(width, px(1.6 * size), px(0.8 * size), ink, 0 if solid else 4, fill)
        super().__init__(pill.move_to(inside), dot, words)
        self.text, self.kind = text, kind


def of_trace(trace: Trace) -> Badge:
    """The badge of a trace: measured on which GPU, or simulated with whose costs."""
    if trace.origin == "measured":
        return Badge(tr("measured on {gpu}", gpu=trace.gpu or tr("a GPU")), "measured")
    return of_costs(badge(trace.meta.get("costs", {}), trace.device))


def of_costs(label: str) -> Badge:
    """The badge of what is simulated with the costs of a `label`, which `tilesim.costs.badge` gives."""
    return Badge(tr("simulated with {costs}", costs=said_of_costs(label)), "simulated")


def said_of_costs(label: str) -> str:
    """What `tilesim.costs.badge` gives; any other label stays as it is.

    >>> said_of_costs("H200 timings on an A100"), said_of_costs("H200 overheads for an A100 on a T4")
    ('H200 timings on A100', 'H200 overheads for A100 on T4')
    """
    return said_of(label, tr)
