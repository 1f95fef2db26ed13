"""Timing: what part of a film is its opening, its run and its end card, and when each caption shows."""

from collections.abc import Sequence

from .pace import Pace
from .script import Caption

OPENING, CLOSING = 2.7, 3.3
"""Seconds before the clock runs, and after it has stopped; less in a film too short for both."""
EARLY = 0.5
"""Seconds before the clock runs in which the first caption already shows."""
MADE = 0.8
"""Of the time of a ladder's step, in which its bar grows or its point moves; then it stands."""


def opening_and_run(seconds: float) -> tuple[float, float]:
    """Seconds before the clock runs, and in which it does.

    >>> opening_and_run(16.0)
    (2.7, 10.0)
    """
    opening = min(OPENING, seconds / 5)
    return opening, seconds - opening - min(CLOSING, seconds / 4)


def reading(captions: Sequence[Caption]) -> list[tuple[float, float]]:
    """(instant, seconds) that each caption needs, as `pace` takes them.

    What is said at 0 shows before the clock runs.
    """
    return [(caption.at, caption.seconds - (EARLY if not caption.at else 0)) for caption in captions]


def shown(
    captions: Sequence[Caption], pace: Pace, opening: float, finished: float
) -> list[tuple[float, float]]:
    """The film seconds from and to which each caption shows: until the next."""
    starts = [max(opening - EARLY, pace.when(caption.at)) for caption in captions]
    return list(zip(starts, [*starts[1:], finished], strict=True))


def made(step: int, t: float) -> float:
    """How far a ladder's step is made when the clock is at `t` steps: from 0 to 1, slowly at both ends.

    >>> made(3, 2.9), made(3, 3.4), made(3, 3.8)
    (0.0, 0.5, 1.0)
    """
    share = max(0.0, min(1.0, round((t - step) / MADE, 9)))
    return share * share * (3 - 2 * share)
