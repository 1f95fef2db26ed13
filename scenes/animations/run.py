"""PlayTrace: one clock of a trace for all mobjects that show it."""

from collections.abc import Callable
from typing import Any, Protocol, Self

from manim import Mobject, VMobject, Wiggle, linear

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.drawing.raster import instant
from tilesim_scenes.mobjects.words.count import Clock

NS_PER_SECOND = 4000.0
"""Of a trace, in a second of film, where nobody says how fast."""


class Timed(Protocol):
    """A mobject whose look is a function of its data and of `t`, ns of a trace, and of nothing else."""

    t: float

    def show(self, t: float) -> Self:
        """Look as at `t`, wherever and however large the mobject is by now; return it."""


class PlayTrace(Direct):
    """Moves the clock of all `mobjects` from where the first stands to `until`, ns of the trace.

    `pace`: ns of the trace for each second of film; or `run_time`: seconds. Time runs evenly unless a
    `rate_func` says otherwise. A group stands for those in it. As with other animations, a mobject that is
    not in the scene, such as one that was faded out, is added. A `Clock` among them says by how much slow
    motion slows it. In an AnimationGroup it stands after the animations of the same mobjects.

    Raises ValueError where there is nothing to run, and when it is played with a Wiggle of the same mobject,
    and TypeError for what shows no instant.
    """

    def __init__(
        self,
        *mobjects: Timed | Mobject,
        until: float,
        pace: float = NS_PER_SECOND,
        run_time: float | None = None,
        rate_func: Callable[[float], float] = linear,
        **kwargs: Any,
    ) -> None:
        if not mobjects:
            raise ValueError("PlayTrace was given no mobject; give those that show the trace")
        for one in mobjects:
            if not timed(one):
                kind = type(one).__name__
                raise TypeError(
                    f"PlayTrace moves mobjects that show a trace, such as Lanes, and not a {kind}"
                )
        self.timed = [each for one in mobjects for each in timed(one)]
        self.since, self.until = self.timed[0].t, instant(until)
        seconds = abs(until - self.since) / pace if run_time is None else run_time
        super().__init__(*self.timed, run_time=max(seconds, 0.1), rate_func=rate_func, **kwargs)

    def _setup_scene(self, scene: Any) -> None:
        super()._setup_scene(scene)
        if scene is not None:
            drawn = {one for each in self.timed for one in each.get_family() if isinstance(one, VMobject)}
            if any(
                isinstance(one, Wiggle) and drawn & set(one.mobject.get_family()) for one in scene.animations
            ):
                raise ValueError(
                    "Wiggle cannot play while PlayTrace draws the same mobject; play Indicate, or Rotate"
                )
            # What is moved and recoloured meanwhile comes first: it is drawn where it then stands.
            scene.animations = sorted(scene.animations, key=lambda one: isinstance(one, PlayTrace))

    def begin(self) -> None:
        self.since = self.timed[0].t  # Something before it in a Succession may have moved it.
        # Going back is no slow motion, and no pace that what comes is slow beside.
        self._pace(max(0.0, self.until - self.since) / self.run_time)
        super().begin()

    def finish(self) -> None:
        super().finish()
        self._pace(0.0)

    def clean_up_from_scene(self, scene: Any) -> None:
        super().clean_up_from_scene(scene)
        for mobject in self.timed:
            # A FadeOut before it in an AnimationGroup has just brought back what was seen at its beginning.
            mobject.show(mobject.t)

    def _pace(self, pace: float) -> None:
        for clock in (one for one in self.timed if isinstance(one, Clock)):
            clock.run_at(pace)

    def interpolate_mobject(self, alpha: float) -> None:
        # Some rate functions end a rounding error below 1.
        share = round(self.rate_func(alpha), 12)
        t = (1 - share) * self.since + share * self.until
        for mobject in self.timed:
            mobject.show(t)


def timed(one: Any) -> list[Any]:
    """What shows an instant: a mobject that does, or those in a group."""
    if hasattr(one, "t"):
        return [one]
    return [each for member in getattr(one, "submobjects", ()) for each in timed(member)]
