"""Flight: how far something has come at an instant, and where it then is."""

import numpy as np


def share(t: float, start: float, end: float) -> float:
    """How much of the time from `start` to `end` has passed at `t`, 0 to 1.

    >>> share(15, 10, 20), share(30, 10, 20), share(10, 10, 10)
    (0.5, 1.0, 0.0)
    """
    return float(np.clip((t - start) / max(end - start, 1), 0, 1))


def smooth(part: float) -> float:
    """Smoothstep, of anything: 0 before 0, 1 after 1.

    >>> smooth(-1), smooth(0.5), smooth(2)
    (0.0, 0.5, 1.0)
    """
    part = float(np.clip(part, 0, 1))
    return part * part * (3 - 2 * part)


def bend(start: np.ndarray, end: np.ndarray, part: float) -> np.ndarray:
    """A point on the way from `start` up or down, then sideways, to `end`: a quadratic Bézier curve.

    >>> bend(np.zeros(3), np.array([4.0, 2.0, 0.0]), 0.5).tolist()
    [1.0, 1.5, 0.0]
    """
    handle = np.array([start[0], end[1], end[2]])
    return (1 - part) ** 2 * start + 2 * part * (1 - part) * handle + part**2 * end
