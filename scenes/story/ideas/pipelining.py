"""What the film pipelining says: the same K-steps through 1 to 4 buffers, and what a GPU took for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilesim.ideas.pipelining import (
    SHARED_MEMORY,
    Pipeline,
    k_step,
    pipeline,
    stages_that_fit,
    times,
)
from tilesim.ladder.reports import report
from tilesim.problems import Problem
from tilesim_scenes.look.language import tr

K_STEPS = 6
"""Of a tile, as many as a lane has room for."""
ENOUGH = 0.02
"""Share of the best rate within which more stages are said to win nothing."""

LEAST_GAIN = 0.005
"""About what two runs of one kernel differ by."""


@dataclass(frozen=True, slots=True)
class Story:
    """`load` and `multiply`: what a K-step's operands and its products take, ns, from measured K-steps.

    `pipelines`: of K_STEPS each, by their stages. `tflops`, `k_step_ns`: measured, by stages. `enough`: the
    fewest stages that are about as fast as any. `stage_kb`, of which `fit` stages go into `shared_kb`.
    """

    load: int
    multiply: int
    pipelines: Mapping[int, Pipeline]
    tflops: Mapping[int, float]
    k_step_ns: Mapping[int, float]
    enough: int
    stage_kb: int
    fit: int
    shared_kb: int
    shape: str
    gpu: str

    @property
    def opening(self) -> str:
        return tr("A K-step: load a pair of chunks, then multiply it")

    @property
    def one_buffer(self) -> str:
        return tr("One buffer: the tensor core waits for every load")

    @property
    def two_buffers(self) -> str:
        return tr("Two buffers: load one, multiply the other")

    @property
    def more_stages(self) -> str:
        return tr("More stages, smaller bubbles: {enough} are enough", enough=self.enough)

    @property
    def room(self) -> str:
        return tr(
            "Each stage takes {kb} KB: a {ordinal} does not fit",
            kb=self.stage_kb,
            ordinal=ordinal(self.fit + 1),
        )

    @property
    def finding(self) -> str:
        return tr("Loads run {ahead} K-steps ahead", ahead=self.enough - 1)

    @property
    def number(self) -> str:
        return f"×{self.tflops[self.enough] / self.tflops[1]:.2f}"

    @property
    def aside(self) -> str:
        """What one stage more than enough wins."""
        more = self.enough + 1
        if more not in self.tflops:
            return self.shape
        gain = self.tflops[more] / self.tflops[self.enough] - 1
        if abs(gain) < LEAST_GAIN:
            return tr("{shape}; a {ordinal} stage wins nothing", shape=self.shape, ordinal=ordinal(more))
        return tr("{shape}; stage {more} adds {gain:.1%}", shape=self.shape, more=more, gain=gain)

    def stages(self, count: int) -> str:
        return tr("{count} stage", count=count) if count == 1 else tr("{count} stages", count=count)

    def busy_share(self, stages: int) -> str:
        return tr("busy {share:.0%}", share=self.pipelines[stages].busy)

    def steady(self, stages: int) -> float:
        """ns from one multiplication to the next in the long run, by the model."""
        return k_step(stages, self.load, self.multiply)


def ordinal(number: int) -> str:
    """A small number as a sentence has it.

    >>> ordinal(5)
    'fifth'
    """
    words = (tr("first"), tr("second"), tr("third"), tr("fourth"), tr("fifth"), tr("sixth"), tr("seventh"))
    return words[number - 1] if number <= len(words) else tr("{number}th", number=number)


def tell(measured: Mapping[str, Any] | None = None) -> Story:
    """The story of a report of `tilesim bench pipelining`, the shipped one by default."""
    measured = measured or report("pipelining")
    rows = {row["stages"]: row for row in measured["rows"]}
    k_steps = {stages: row["k_step_ns"] for stages, row in rows.items()}
    load, multiply = times(k_steps)
    tflops = {stages: row["tflops"] for stages, row in rows.items()}
    row = rows[1]
    problem = Problem(row["m"], row["n"], row["k"], tuple(row["tile"]), row["dtype"], row["order"])
    return Story(
        load,
        multiply,
        {stages: pipeline(K_STEPS, stages, load, multiply) for stages in rows},
        tflops,
        k_steps,
        min(stages for stages in rows if tflops[stages] >= (1 - ENOUGH) * max(tflops.values())),
        problem.k_step_bytes // 1024,
        stages_that_fit(problem),
        SHARED_MEMORY // 1024,
        tr("{m}×{n}×{k} {dtype}", m=problem.m, n=problem.n, k=problem.k, dtype=problem.dtype),
        measured["machine"]["gpu"],
    )
