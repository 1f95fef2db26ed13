"""Every figure and table that the pages state, by name: made from data when the pages are built.

A page writes `{{ name }}` where one belongs. `python -m figures`, in docs/, prints them all.
"""

from figures import (
    accuracy,
    choice,
    course,
    devices,
    fusion,
    kernels,
    literature,
    memory,
    packages,
    performance,
    published,
    traffic,
)


def figures() -> dict[str, str]:
    """Markdown by name."""
    return (
        kernels.figures()
        | accuracy.figures()
        | choice.figures()
        | course.figures()
        | devices.figures()
        | fusion.figures()
        | literature.figures()
        | memory.figures()
        | published.figures()
        | performance.figures()
        | packages.figures()
        | traffic.figures()
    )
