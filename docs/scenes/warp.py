from manim import BLUE, LEFT, PI, RIGHT, Scene

from tilesim_scenes import ElementGrid, MemoryLines, Warp


class DownAColumn(Scene):
    def construct(self):
        matrix = ElementGrid(rows=32, columns=32, width=6, height=6).shift(2 * LEFT)
        memory = MemoryLines(range(16), width=4, height=0.25).next_to(matrix, RIGHT, buff=1)
        warp = Warp(spacing=6 / 32).rotate(-PI / 2).next_to(matrix, LEFT)
        self.add(matrix, memory, warp, matrix.elements(row=0, column=2, rows=32))
        self.play(memory.sector(5).animate.set_fill(BLUE))
        self.add(memory.taken(address=160, width=4))
