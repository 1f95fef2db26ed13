"""Panel: a group that may hold images, and does what Manim's groups of vectors do."""

from typing import Any, Self

from manim import Group, Mobject


class Panel(Group):
    """Mobjects of any kind, which are faded, saved and restored together.

    Manim's Group has no opacity, so `set_opacity` does nothing, and cannot become another.
    """

    def set_opacity(self, opacity: float, family: bool = True) -> Self:
        """Of all that it shows."""
        for one in self.submobjects if family else ():
            one.set_opacity(opacity)
        return self

    def become(self, mobject: Mobject, *args: Any, **how: Any) -> Self:
        """As Manim's; each member becomes that of the other with its data."""
        pairs = list(zip(self.submobjects, mobject.submobjects, strict=False))
        alike = len(self.submobjects) == len(mobject.submobjects) and type(self) is type(mobject)
        if args or how or not alike or any(type(one) is not type(other) for one, other in pairs):
            return super().become(mobject, *args, **how)
        for one, other in pairs:
            one.become(other)
        return self

    def interpolate_color(self, mobject1: Mobject, mobject2: Mobject, alpha: float) -> Self:
        """It has no colour of its own."""
        return self
