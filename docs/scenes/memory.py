from manim import DOWN, LEFT, RIGHT, Group, Scene

from tilesim_scenes import Chunk, Fetch, KPair, MemoryLevel, WriteBack

BLUE = (86, 180, 233)


class DownAndBack(Scene):
    def construct(self):
        levels = [MemoryLevel(name, width=3.4, height=5) for name in ("HBM", "L2", "shared memory")]
        self.add(Group(*levels).arrange(RIGHT))
        pair = KPair(BLUE).put(levels[0].get_center(), width=1.2)
        self.play(Fetch(pair, levels[1:]))
        tile = Chunk(1.5, 0.75, BLUE).next_to(pair, DOWN)
        self.play(WriteBack(tile, tile.copy().move_to(levels[0]).shift(0.5 * LEFT)))
