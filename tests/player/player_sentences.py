"""All English sentences of the player, which pages can say in another language."""

import re

from programs import PLAYER

PROGRAM = tuple(
    dict.fromkeys(
        sentence
        for path in sorted((PLAYER / "source").glob("*.ts"))
        for sentence in re.findall(r'\btr\(\s*"([^"]*)"', path.read_text("utf-8"))
    )
)
"""Every first argument of `tr` in the sources."""
PAGE = (
    "{run} takes {time}, of which slots multiply {share}",
    "{run} takes {time}, of which slots work {share}",
    "{tiles} in {order} order",
    "a GPU",
    "measured on {gpu}",
    "simulated with {costs}",
    "ideal costs",
    "custom costs",
    "unknown costs",
    "{gpu} timings",
    "{gpu} overheads",
    "{costs} for {gpu}",
    "{costs} on {gpu}",
    "Figures",
    "Figures of each run",
    "Finding",
    "To play the runs, this page needs JavaScript; their figures stand below.",
    "origin",
    "product",
    "tiles",
    "device",
    "makespan",
    "utilization",
    "busy share",
    "waves",
    "launches",
    "tail",
    "imbalance",
    "launch, first load",
    "estimated with the launch of a benchmark",
    "kernel",
    "driver",
    "date",
)
"""What the page says, and the names of its figures."""
SENTENCES = tuple(dict.fromkeys((*PROGRAM, *PAGE)))
