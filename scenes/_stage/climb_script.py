"""The words of a ladder's films, and which of its sentences there is time to read."""

from collections.abc import Sequence

from tilesim.ladder.steps import Ladder, LadderStep

from .script import Caption
from .timing import EARLY, opening_and_run

PACE = 0.45
"""Of its share of the run, the least that a step is given."""


def describe(ladder: Ladder) -> str:
    """The problem in a line.

    >>> from tilesim.ladder.steps import Limit, _step
    >>> describe(Ladder({}, "", Limit(1, 1), Limit(1, 1), (_step(),)))
    'C = A · B, 1024 × 1024 × 1024, bf16'
    """
    row = ladder.rows[0]
    return f"C = A · B, {row.m} × {row.n} × {row.k}, {row.dtype}"


def title(row: LadderStep) -> str:
    """A kernel's name as a film writes it."""
    return "cuBLAS" if row.name == "cublas" else row.name


def gains(steps: Sequence[LadderStep]) -> list[float]:
    """The TFLOP/s that each step adds to the one before it, and the first to none."""
    return [
        now.tflops - before for now, before in zip(steps, [0.0, *(s.tflops for s in steps)], strict=False)
    ]


def readable(
    captions: Sequence[Caption], worth: Sequence[float], steps: int, seconds: float
) -> list[Caption]:
    """Those of `captions`, each at its step, that there is time for in so many seconds, the worthiest first.

    Each stays until the next, so a step is either read about or goes by while another's sentence is read.

    >>> three = [Caption(at, "a sentence of some eight words to read") for at in range(3)]
    >>> [caption.at for caption in readable(three, [5, 1, 9], 3, 10.0)]
    [0, 2]
    """
    _, run = opening_and_run(seconds)
    quick, chosen = PACE * run / steps, list[Caption]()
    for caption in sorted(captions, key=lambda caption: -worth[int(caption.at)]):
        more = sorted([*chosen, caption], key=lambda caption: caption.at)
        edges = [*(caption.at for caption in more), steps]
        needed = [max(c.seconds, quick * (end - c.at)) for c, end in zip(more, edges[1:], strict=True)]
        if quick * edges[0] + sum(needed) - (EARLY if not edges[0] else 0) <= run:
            chosen = more
    return chosen


def times(ratio: float) -> str:
    """How many times as much, in two or three figures.

    >>> times(1.043), times(12.34), times(1778.2), times(15_121)
    ('1.04', '12.3', '1,778', '15k')
    """
    if ratio >= 9999.5:
        return f"{ratio / 1000:.0f}k"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def figure(tflops: float) -> str:
    """TFLOP/s in about three figures.

    >>> figure(0.413), figure(13.94), figure(728.6)
    ('0.41', '13.9', '729')
    """
    return f"{tflops:.{digits(tflops)}f}"


def digits(tflops: float) -> int:
    """How many of a figure's digits are behind its point."""
    return 2 if tflops < 9.995 else 1 if tflops < 99.95 else 0
