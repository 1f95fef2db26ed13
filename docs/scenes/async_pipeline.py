from manim import Scene

from tilesim.ideas.warp_specialization import Times, timeline
from tilesim_scenes import Clock, PlayTrace
from tilesim_scenes.mobjects.models.pipelines.async_pipeline import AsyncPipeline


class ProducerAndConsumers(Scene):
    def construct(self):
        times = Times(latency=724, k_step=616, write=2105, interval=616)  # ns
        pipeline = AsyncPipeline(timeline(times, tiles=2, k_steps=8, stages=4))
        clock = Clock().to_corner()
        self.add(pipeline, clock)
        self.play(PlayTrace(pipeline, clock, until=9000, run_time=6))
