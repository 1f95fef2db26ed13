from manim import BLUE, UP, FadeIn, Scene

from tilesim.devices.occupancy import LIMITS, occupancy
from tilesim_scenes import PlayTrace, Warp
from tilesim_scenes.mobjects.hardware.partitions import Partitions
from tilesim_scenes.mobjects.hardware.sm_map import SMMap
from tilesim_scenes.mobjects.models.warps.limit_bars import LimitBars
from tilesim_scenes.mobjects.models.warps.warp_walk import WarpWalk

HUE = (86, 180, 233)


class Filling(Scene):
    def construct(self):
        gpu = SMMap([[8, 9], [0, 1, 2, 3], [4, 5, 6, 7]], order=[8, 9, *range(8)], width=8, height=4)
        self.play(FadeIn(gpu.grounds))
        self.add(gpu)
        self.play(PlayTrace(gpu, until=10, run_time=3))
        self.play(gpu.cell(4).animate.set_stroke(BLUE, 8))


class Inside(Scene):
    def construct(self):
        inside = Partitions(12, 5, HUE)
        self.add(inside)
        for number in range(4):
            warp = Warp(spacing=0.08, colour=HUE).move_to(inside.place(number, slot=0, slots=2))
            self.play(FadeIn(warp, shift=0.5 * UP), run_time=0.4)


class Room(Scene):
    def construct(self):
        found = occupancy("h200", threads=128, registers=154, shared_bytes=98328)
        names = {name: name for name in LIMITS}
        bars = LimitBars(found.uses, names, HUE, 12, 5, found.residents)
        self.add(bars)
        self.play(PlayTrace(bars, until=found.residents + 1, run_time=3))


class Places(Scene):
    def construct(self):
        cycles = [[0, 40, 90, 160], [4, 70, 120, 160], [8, 95, 150, 160]]
        walk = WarpWalk(["load", "multiply", "barrier"], cycles, 12, 6, HUE)
        self.add(walk)
        self.play(PlayTrace(walk, until=160, run_time=4))
