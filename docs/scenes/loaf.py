from manim import DOWN, LEFT, RIGHT, UP, FadeIn, Scene, VGroup

from tilesim_scenes.mobjects.hardware.partial import Partial
from tilesim_scenes.mobjects.models.tiles.loaf import Loaf
from tilesim_scenes.mobjects.models.tiles.ribbon import Piece, Ribbon

BLUE, GREEN = (86, 180, 233), (0, 158, 115)


class SharedTile(Scene):
    def construct(self):
        loaf = Loaf(64).shift(UP)
        pieces = loaf.cut([16, 48], [BLUE, GREEN])
        ribbon = Ribbon([Piece(0, 16, "16", BLUE), Piece(16, 64, "48", GREEN)], steps=64, width=8)
        partial = Partial().next_to(pieces[0], LEFT)
        self.add(pieces, ribbon.shift(2 * DOWN))
        self.play(pieces[1].animate.shift(RIGHT))
        self.play(FadeIn(partial))
        self.play(VGroup(partial).animate.next_to(pieces[1], RIGHT))
