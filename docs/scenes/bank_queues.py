from manim import DOWN, UP, FadeIn, FadeOut, Scene

from tilesim.ideas.reduction import interleaved
from tilesim_scenes import PlayTrace
from tilesim_scenes.mobjects.hardware.warp_row import WarpRow
from tilesim_scenes.mobjects.models.sums.bank_queues import BankQueues
from tilesim_scenes.mobjects.models.sums.butterfly import Butterfly
from tilesim_scenes.mobjects.models.sums.strides import Strides
from tilesim_scenes.mobjects.models.sums.sum_tree import SumTree


class AddUp(Scene):
    def construct(self):
        tree = SumTree([3, 1, 4, 1, 5, 9, 2, 6], width=10, height=4)
        self.add(tree)
        self.play(PlayTrace(tree, until=tree.until, run_time=2))
        queues = BankQueues(interleaved(256), width=12, height=6)
        self.play(FadeOut(tree), FadeIn(queues))
        self.play(PlayTrace(queues, until=queues.until, run_time=4))
        butterfly = Butterfly(width=10, height=4).to_edge(UP)
        warps = WarpRow(8, width=10, height=0.5).work(256).next_to(butterfly, DOWN)
        self.play(FadeOut(queues), FadeIn(butterfly, warps))
        self.play(PlayTrace(butterfly, until=butterfly.until, run_time=3))
        strides = Strides(turns=125, waves=124.1, width=12, height=4)
        self.play(FadeOut(butterfly, warps), FadeIn(strides))
        self.play(PlayTrace(strides, until=100, run_time=2))
