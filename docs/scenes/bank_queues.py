from manim import DOWN, UP, FadeIn, FadeOut, Scene

from tilesim.ideas.reduction import interleaved
from tilesim_scenes import BankQueues, Butterfly, Run, Strides, SumTree, WarpRow


class AddUp(Scene):
    def construct(self):
        tree = SumTree([3, 1, 4, 1, 5, 9, 2, 6], width=10, height=4)
        self.add(tree)
        self.play(Run(tree, until=tree.until, run_time=2))
        queues = BankQueues(interleaved(256), width=12, height=6)
        self.play(FadeOut(tree), FadeIn(queues))
        self.play(Run(queues, until=queues.until, run_time=4))
        butterfly = Butterfly(width=10, height=4).to_edge(UP)
        warps = WarpRow(8, width=10, height=0.5).work(256).next_to(butterfly, DOWN)
        self.play(FadeOut(queues), FadeIn(butterfly, warps))
        self.play(Run(butterfly, until=butterfly.until, run_time=3))
        strides = Strides(turns=125, waves=124.1, width=12, height=4)
        self.play(FadeOut(butterfly, warps), FadeIn(strides))
        self.play(Run(strides, until=100, run_time=2))
