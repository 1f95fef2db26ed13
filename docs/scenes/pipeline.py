from manim import DOWN, UP, Scene

from tilesim.ideas.pipelining import pipeline
from tilesim_scenes import Buffers, PlayTrace
from tilesim_scenes.mobjects.models.pipelines.pipeline_rows import PipelineRows
from tilesim_scenes.mobjects.models.pipelines.pipelined_sm import PipelinedSM


class TwoBuffers(Scene):
    def construct(self):
        steps = pipeline(6, stages=2, load=989, multiply=662)
        sm = PipelinedSM(steps, width=12, height=3).shift(1.5 * UP)
        rows = PipelineRows(steps, until=steps.makespan, width=12, height=1.5).shift(1.5 * DOWN)
        self.add(sm, rows, Buffers(5).scale(0.5).to_edge(DOWN))
        self.play(PlayTrace(sm, rows, until=steps.makespan, run_time=5))
