"""Count: words and figures that change with a clock."""

from collections.abc import Callable
from typing import Any, Self

from tilesim_scenes.look.text import Figure


class Count(Figure):
    """`text(t)`, whatever it says at an instant, on its own baseline.

    threads = Count("{:.0f} threads".format)
    self.add(threads)
    self.play(PlayTrace(threads, until=32, run_time=2))
    """

    def __init__(self, text: Callable[[float], str], **look: Any) -> None:
        self.t, self._text = 0.0, text
        super().__init__(text(0.0), **look)

    def show(self, t: float) -> Self:
        """Look as at `t`."""
        self.t = t
        self.write(self._text(t))
        return self
