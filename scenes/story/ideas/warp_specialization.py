"""What the film warp_specialization says: one program for all warps against a producer that loads.

The model's times are those that calibration found for the persistent kernel without overlap, whose warps all
run one program. Measured are three kernels: that one (`persistent`), one whose program asks for the next
tile's operands before it writes (`overlapped`), and the one with a producer (`warp-specialized`). The last
two also have a fourth stage, which they gain by writing a tile in halves.
"""

from dataclasses import dataclass

from tilesim import Device, Problem, plan
from tilesim.ideas.warp_specialization import Phase, Timeline, Times, timeline
from tilesim.kernel_costs.default import default_costs
from tilesim.ladder.steps import Ladder
from tilesim.model.kstep import k_step_ns
from tilesim_scenes.story.ideas.ladder_pairs import Pair, pairs, shipped

TILE, STAGES, CONSUMERS = (128, 256, 64), 4, 8
"""Of the ladder's specialised kernel."""
TILES = 3
"""That the lanes show: the pause after the first is no accident."""


@dataclass(frozen=True, slots=True)
class Story:
    """Figures and instants of the film.

    `times`: of a K-step, a write, and a load that nothing hides, ns. `alike`, `specialised`: the same tiles
    with one program and with a producer. `wait`: the first of alike's waits that the producer spares;
    `saved`: what it spares in all, ns. `gains`: persistent against specialised, `ahead`: overlapped against
    specialised, at every problem measured, the largest gain first. `gpu`: that they were measured on.
    """

    times: Times
    alike: Timeline
    specialised: Timeline
    wait: Phase
    saved: int
    gains: tuple[Pair, ...]
    ahead: tuple[Pair, ...]
    gpu: str

    @property
    def ahead_at_best(self) -> Pair:
        """Overlapped against specialised where a producer wins most against persistent."""
        return next(pair for pair in self.ahead if pair.shape == self.best.shape)

    @property
    def best(self) -> Pair:
        """The problem at which a producer wins most."""
        return self.gains[0]


def times_of(problem: Problem, kernel: str, latency: int | None = None) -> Times:
    """What a K-step, a write and a lone load take on an H200, as calibrated for a persistent kernel.

    Operands arrive at least as fast as a main loop was seen to use them up, so that is the interval.
    """
    device = Device.named("h200")
    costs = default_costs("persistent", problem, device, kernel)
    step = round(float(k_step_ns(plan("persistent", problem, device), problem, device, costs).mean()))
    alone = costs.tile_gap if latency is None else latency
    return Times(alone, step, costs.epilogue, interval=step, contention=costs.epilogue_overlap_penalty)


def tell(ladder: Ladder | None = None) -> Story:
    """The story, of a ladder or the shipped one, at the problem where the producer wins most.

    Raises ReportError where the ladder lacks one of the three kernels.
    """
    ladder = ladder or shipped()
    gains = pairs(ladder, "persistent", "warp-specialized")
    problem = Problem(*gains[0].shape, tile=TILE, order="grouped:8")
    times = times_of(problem, "persistent-tma")
    alike, specialised = (
        timeline(times, TILES, problem.k_steps, STAGES, producer=producer) for producer in (False, True)
    )
    wait = next(phase for phase in alike.consumers() if phase.kind == "wait" and phase.tile)
    saved = alike.makespan - specialised.makespan
    ahead = pairs(ladder, "overlapped", "warp-specialized")
    return Story(times, alike, specialised, wait, saved, tuple(gains), tuple(ahead), ladder.machine["gpu"])
