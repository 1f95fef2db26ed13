from manim import Scene

from tilesim import Device, Problem, simulate
from tilesim_scenes import PlayTrace
from tilesim_scenes.animations.restack import Restack
from tilesim_scenes.mobjects.traces.partial_traffic import PartialTraffic
from tilesim_scenes.mobjects.traces.run_row import RunRow
from tilesim_scenes.story.traces.split_k_and_friends import handed

problem, device = Problem(384, 640, 2048), Device.named("h200", sms=4)
naive, stream_k = (simulate(name, problem, device) for name in ("naive", "stream-k"))


class TwoRows(Scene):
    def construct(self):
        first = RunRow(naive, "Naive", 12, 2, naive.makespan).place(top=3, height=4)
        second = RunRow(stream_k, "Stream-K", 12, 2, naive.makespan).place(top=-2, height=1)
        self.add(first, second)
        self.play(PlayTrace(first, until=naive.makespan, run_time=2))
        self.play(Restack([first, second], [(3, 4), (-2, 1)], [(3, 1), (1, 4)]))
        traffic = PartialTraffic(stream_k, second.lanes, handed(stream_k))
        self.play(PlayTrace(second, traffic, until=stream_k.makespan, run_time=3))
