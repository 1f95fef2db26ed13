"""Redrawn: a mobject that is drawn from data, and that Manim's own animations change meanwhile."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Self

from manim import Mobject, Rectangle, VGroup, VMobject

from tilesim_scenes.mobjects.drawing.quads import nothing
from tilesim_scenes.mobjects.drawing.raster import Data, Raster, adopt, instant


class Redrawn(VGroup):
    """A group of mobjects that are drawn from data for an instant `t`, ns of a trace.

    A subclass draws them in `draw`, on grounds that always have points. Manim pairs those members of two
    mobjects that have points, so members that show nothing have `nothing(ground)`, never no points, and the
    group itself has the first ground's: that brings Manim's `interpolate` here.
    """

    t = 0.0
    over: tuple[str, ...] = ()
    """Names of the mobjects that it is drawn over or beside, which are not copied with it."""
    _ends: tuple[Mobject, Mobject] | None = None
    """Between two mobjects of other data: what it was, and what it becomes."""
    _bent = False
    _alpha = 0.0

    def __init__(self, *members: VMobject) -> None:
        self._data = Data()
        super().__init__(*members)

    def stand_on(self, ground: VMobject) -> None:
        """Take the place of a ground for its own."""
        self.points = nothing(ground)

    def draw(self, was: float) -> None:
        """Draw `t`; `was` is the instant that was drawn last."""
        raise NotImplementedError

    def forget(self) -> None:
        """Draw all of it when it is shown next."""

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace. What has become something else keeps the look of that."""
        was, self.t = self.t, instant(t)
        self._settle()
        if self._bent or self._ends:
            self.forget()
        else:
            self.draw(was)
        return self

    def interpolate(self, mobject1: Mobject, mobject2: Mobject, alpha: float, *args: Any) -> Self:
        """As Manim's, and the instant with the look."""
        super().interpolate(mobject1, mobject2, alpha, *args)
        begin, end = (getattr(mobject, "t", self.t) for mobject in (mobject1, mobject2))
        if begin != end:
            self.t = (1 - alpha) * begin + alpha * end
        self._alpha = alpha
        self.forget()
        return self

    def align_data(self, mobject: Mobject, skip_point_alignment: bool = False) -> Self:
        """As Manim's. Raises TypeError where `mobject` is an image."""
        if isinstance(mobject, Raster):
            names = type(self).__name__, type(mobject).__name__
            raise TypeError("{} cannot be bent into {}, an image; use FadeTransform".format(*names))
        if not self._same_data(mobject):
            self._ends = self.copy(), mobject.copy()
        return super().align_data(mobject, skip_point_alignment)

    # Manim counts what has points of its own among its members; these members are the submobjects alone.

    def split(self) -> list[Mobject]:
        return list(self.submobjects)

    def __iter__(self) -> Iterator[Mobject]:
        return iter(self.submobjects)

    def __len__(self) -> int:
        return len(self.submobjects)

    def __getitem__(self, place: Any) -> Any:
        found = self.submobjects[place]
        return VGroup(*found) if isinstance(place, slice) else found

    def push_self_into_submobjects(self) -> Self:
        """As Manim's, without a copy of all that this is."""
        piece = VMobject(fill_opacity=0.0, stroke_width=0.0)
        piece.points = self.points
        self.reset_points()
        return self.add(piece)

    def resume_updating(self, recursive: bool = True) -> Self:
        """As Manim's, which calls it where an animation of this mobject ends."""
        super().resume_updating(recursive)
        self._settle()
        return self

    def become(self, mobject: Mobject, *args: Any, **how: Any) -> Self:
        """As Manim's, and data and instant with the look."""
        if type(mobject) is not type(self):
            super().become(mobject, *args, **how)
            self._ends, self._bent = None, True
            return self
        model = mobject.copy()
        if args or how:
            place, box = (
                Rectangle(width=one.width, height=one.height).move_to(one) for one in (mobject, self)
            )
            model.replace(box.become(place, *args, **how), stretch=True)
        if self._same_data(model) and len(self.get_family()) == len(model.get_family()):
            super().become(model)
            self.t = model.t
            self.forget()
        else:
            adopt(self, model)
        return self

    def _same_data(self, mobject: Mobject) -> bool:
        return isinstance(mobject, Redrawn) and mobject._data is self._data and not self._bent

    def _settle(self) -> None:
        """Once it has become another, be that, and not only look like it."""
        if self._ends is None or self.updating_suspended:
            return
        end = self._ends[int(self._alpha > 0.5)]
        self._ends, self._bent = None, True
        if type(end) is type(self):
            adopt(self, end.copy())

    def __deepcopy__(self, memo: Any) -> Self:
        kept = [getattr(self, name) for name in self.over]
        kept = [one for one in kept if id(one) not in memo]
        memo.update({id(one): one for one in kept})
        if self._ends:
            memo[id(self._ends)] = None
        copy = super().__deepcopy__(memo)
        copy._bent = self._bent or bool(self._ends)
        for one in kept:
            del memo[id(one)]
        return copy


@cache
def one_of(wanted: type, kind: type) -> Any:
    """The class of an instance of `wanted` that is drawn as `kind`: a subclass of both.

    It is known only when somebody's subclass has said what is to be shown, so instances change to it then.

    >>> class Shape: ...
    >>> class Vectors(Shape): ...
    >>> class Mine(Shape): ...
    >>> one_of(Shape, Vectors) is Vectors, one_of(Mine, Vectors).__bases__ == (Mine, Vectors)
    (True, True)
    """
    return kind if issubclass(kind, wanted) else type(wanted.__name__, (wanted, kind), {})
