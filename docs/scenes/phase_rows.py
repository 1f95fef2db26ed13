from manim import LEFT, Circle, Scene, VGroup

from tilesim.ideas.warp_specialization import Times, timeline
from tilesim_scenes import PlayTrace, Warp
from tilesim_scenes.animations.unfold import Unfold
from tilesim_scenes.mobjects.models.pipelines.phase_rows import PhaseRows, bars_of
from tilesim_scenes.mobjects.models.pipelines.riders import Riders


class PingPongRows(Scene):
    def construct(self):
        times = Times(latency=724, k_step=317, write=1107, interval=317, contention=349)  # ns
        turns = timeline(times, tiles=4, k_steps=8, stages=6, groups=2)
        rows = PhaseRows(
            {
                name: bars_of(turns.consumers(group), turns.k_steps)
                for group, name in enumerate(["ping", "pong"])
            },
            width=9,
        )
        warps = Riders(rows, [Warp(8, 0.12) for _ in rows.rows])
        dots = VGroup(*(Circle(0.3).move_to(ground).to_edge(LEFT) for ground in rows.grounds))
        self.play(Unfold(rows.grounds, dots))
        self.add(rows, warps)
        self.play(PlayTrace(rows, warps, until=turns.makespan))
