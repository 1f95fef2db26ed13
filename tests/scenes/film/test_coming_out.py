"""A camera that comes back out finds again what it left."""

from watching import watch

from tilesim.cli.packages import scene_class


class ComesOut(scene_class("tiling-hierarchy")):
    """Notes how much of the matrices and the tile is seen where the camera has come out first."""

    seen = ()

    def come_out(self, along=()):
        super().come_out(along)
        if not self.seen:
            one = (self.operands.c, self.operands.a, self.piece.piece)
            self.seen = [part.get_fill_opacity() for part in one if self.piece in self.mobjects]


def test_the_matrices_are_there_again_when_the_camera_comes_out_of_a_tile():
    seen = watch(ComesOut, "square").scene.seen
    assert len(seen) == 3 and min(seen) == 1
