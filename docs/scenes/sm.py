from manim import DOWN, RIGHT, Scene, VGroup

from tilesim_scenes import SM, Queue, ThreadBlock

BLUE = (86, 180, 233)


class OneOfEach(Scene):
    def construct(self):
        sm = SM("SM 0", BLUE, width=3, height=2.5)
        resident = ThreadBlock(0, side=1.2).resident(BLUE).move_to(sm.box)
        queue = Queue(range(1, 7))
        self.add(VGroup(VGroup(sm, resident), queue).arrange(RIGHT, buff=1))
        self.play(queue.block(1).animate.shift(DOWN))
