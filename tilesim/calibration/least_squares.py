"""Least squares of costs, none of which is negative. Part of calibration."""

import numpy as np


def least_squares(left: np.ndarray, right: np.ndarray, use: list[bool]) -> np.ndarray:
    """What solves left · found = right best, of the columns to `use`, the others 0: float64 [columns].

    Nothing comes out negative: what would is left out, the most negative first. The first is what the others
    are added to and must be positive: where it would not, it alone is sought.

    >>> left = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> least_squares(left, np.array([2.0, 3.0]), [True, True]).round(6).tolist()
    [2.0, 1.0]
    >>> least_squares(left, np.array([3.0, 2.0]), [True, True]).round(6).tolist()
    [2.5, 0.0]
    """
    use = list(use)
    while True:
        found = np.zeros(left.shape[1])
        found[use] = np.linalg.lstsq(left[:, use], right, rcond=None)[0]
        if found[0] <= 0 and any(use[1:]):
            use[1:] = [False] * (len(use) - 1)
        elif found[1:].min() < 0:
            use[1 + int(np.argmin(found[1:]))] = False
        else:
            return found
