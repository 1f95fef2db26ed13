"""Course: the films in teaching order, each with the title by which the one before it names it.

The order is data, in `course.toml` beside the films.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from tilesim_scenes.look.language import tr

FILMS = Path(__file__).parents[1]
"""The folder of the films, a file each."""


@cache
def order() -> tuple[str, ...]:
    """The films of the course that there are, by name."""
    parts = tomllib.loads((FILMS / "course.toml").read_text("utf-8"))["part"]
    names = [name for part in parts for name in part["films"]]
    return tuple(name for name in names if (FILMS / f"{name.replace('-', '_')}.py").is_file())


def after(file: Path) -> str:
    """The film that comes after the one in `file`; empty for the last one, and for a film of one's own."""
    name = file.stem.replace("_", "-") if file.resolve().parent == FILMS.resolve() else ""
    return dict(pairwise(order())).get(name, "")


def titles() -> Mapping[str, str]:
    """What the films of the course are called, in the language that they speak now."""
    return {
        "one-tile": tr("One tile"),
        "execution-model": tr("Execution model"),
        "divergence": tr("Divergence"),
        "thread-indexing": tr("Thread indexing"),
        "coalescing": tr("Coalescing"),
        "memory-hierarchy": tr("Memory hierarchy"),
        "l2-order": tr("L2 order"),
        "tiling-hierarchy": tr("Tiling hierarchy"),
        "latency-hiding": tr("Latency hiding"),
        "pipelining": tr("Pipelining"),
        "warp-specialization": tr("Warp specialization"),
        "ping-pong": tr("Ping-pong"),
        "naive": tr("Naive"),
        "persistent": tr("Persistent"),
        "race": tr("Race"),
        "launch-latency": tr("Launch latency"),
        "wave-quantization": tr("Wave quantization"),
        "stream-k": tr("Stream-K"),
        "split-k-and-friends": tr("Split-K and friends"),
        "busy-sms": tr("Busy SMs"),
        "reduction": tr("Reduction"),
        "loop-unrolling": tr("Loop unrolling"),
        "fusion": tr("Fusion"),
        "ladder": tr("Ladder"),
        "roofline": tr("Roofline"),
        "sim-vs-silicon": tr("Simulation against silicon"),
        "run": tr("Your own kernel"),
    }
