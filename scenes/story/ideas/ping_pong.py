"""What the film ping_pong says: one group of consumers on a tile against two that take turns.

The model's times are calibrated: for one group, those of the persistent kernel without overlap, whose tiles
are 128 × 256; for two, those of 128 × 128 tiles with six stages, whose main loops run over a write. Measured
are the ladder's `warp-specialized`, CUTLASS's cooperative kernel, and `ping-pong`.
"""

from dataclasses import dataclass

from tilesim import Problem
from tilesim.ideas.warp_specialization import Phase, Timeline, timeline
from tilesim.ladder.steps import Ladder
from tilesim_scenes.story.ideas.ladder_pairs import Pair, pairs, shipped
from tilesim_scenes.story.ideas.warp_specialization import STAGES as COOPERATIVE_STAGES
from tilesim_scenes.story.ideas.warp_specialization import TILE as COOPERATIVE_TILE
from tilesim_scenes.story.ideas.warp_specialization import times_of

TILE, STAGES, GROUPS = (128, 128, 64), 6, 2
"""Of the ladder's ping-pong kernel."""
TILES = 3
"""Of 128 × 256, and twice as many halves."""


@dataclass(frozen=True, slots=True)
class Story:
    """Figures and instants of the film.

    `cooperative`, `ping_pong`: as much work, with one group and with two. `pause`: the first time that the
    tensor cores stand still. `write_shares`: of a cooperative tile's time, at the problem of each pair.
    `pairs`: cooperative against ping-pong at every problem measured, the largest gain first. `gpu`: that they
    were measured on.
    """

    cooperative: Timeline
    ping_pong: Timeline
    pause: Phase
    write_shares: tuple[float, ...]
    pairs: tuple[Pair, ...]
    gpu: str

    @property
    def best(self) -> Pair:
        """The problem at which taking turns wins most."""
        return self.pairs[0]

    @property
    def clock_falls(self) -> float:
        """By what share the SM clock is lower in turns where they win least; 0 where nobody read it."""
        before, after = (step.sm_mhz for step in self.worst)
        return 1 - after / before if before and after else 0.0

    @property
    def worst(self) -> Pair:
        """The problem at which it wins least, or loses."""
        return self.pairs[-1]


def tell(ladder: Ladder | None = None) -> Story:
    """The story, of a ladder or the shipped one, at the problem where taking turns wins most.

    Raises ReportError where the ladder lacks one of the two kernels.
    """
    ladder = ladder or shipped()
    found = pairs(ladder, "warp-specialized", "ping-pong")
    whole = Problem(*found[0].shape, tile=COOPERATIVE_TILE, order="grouped:8")
    half = Problem(*found[0].shape, tile=TILE, order="grouped:8")
    times = times_of(whole, "persistent-tma")
    # How long a load takes that nothing hides is seen where nothing overlaps.
    in_turns = times_of(half, "persistent-tma-overlap", latency=times.latency)
    cooperative = timeline(times, TILES, whole.k_steps, COOPERATIVE_STAGES)
    ping_pong = timeline(in_turns, GROUPS * TILES, half.k_steps, STAGES, GROUPS)
    tiles = [Problem(*pair.shape, tile=COOPERATIVE_TILE) for pair in found]
    shares = tuple(times.write / (times.write + one.k_steps * times.k_step) for one in tiles)
    pause, gpu = cooperative.pauses()[0], ladder.machine["gpu"]
    return Story(cooperative, ping_pong, pause, shares, tuple(found), gpu)
