from dataclasses import replace

from manim import Scene

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.divergence import time_lag
from tilesim_scenes import PlayTrace
from tilesim_scenes.mobjects.traces.lag_strip import LagStrip

costs, problem, device = Costs(k_step=700, epilogue=800), Problem(384, 1536, 512), Device(4)
fast = simulate("naive", problem, device, costs)
slow = simulate("naive", problem, device, replace(costs, k_step=735))


class Behind(Scene):
    def construct(self):
        strip = LagStrip(*time_lag(fast, slow), slow.makespan, width=8, height=1, name="behind", above=True)
        self.add(strip)
        self.play(PlayTrace(strip, until=slow.makespan, run_time=2))
