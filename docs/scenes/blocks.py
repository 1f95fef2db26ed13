from manim import DOWN, LEFT, RIGHT, UP, Scene, VGroup

from tilesim import Device, Problem, simulate
from tilesim_scenes import (
    SM,
    BlockTraffic,
    Deal,
    Lanes,
    PlayTrace,
    Queue,
    TileGrid,
    TileTraffic,
    Travel,
    Unroll,
)

BLUE, GREEN = (86, 180, 233), (0, 158, 115)
trace = simulate("naive", Problem(256, 1024, 512), Device.named("h200", sms=2))


class BlocksComeAndGo(Scene):
    def construct(self):
        queue = Queue(range(8), width=6).to_corner(UP + LEFT)
        places = [block.get_center() for block in queue]
        grid = TileGrid(trace.problem, width=5).to_corner(UP + RIGHT)
        sms = [SM("SM 0", BLUE), SM("SM 1", GREEN)]
        self.add(VGroup(*sms).arrange(RIGHT, buff=1).shift(DOWN), queue, grid)
        self.play(Deal(queue[:2], [sm.box for sm in sms], [BLUE, GREEN]))

        lanes = Lanes(trace, width=11, lane_height=0.9).shift(DOWN + 0.5 * RIGHT)
        blocks, tiles = BlockTraffic(trace, queue, lanes, places), TileTraffic(trace, lanes, grid)
        lanes.names.shift(0.8 * LEFT)
        self.play(Unroll(sms, lanes), Travel(queue[:2], [[blocks.place(slot)] for slot in (0, 1)]))
        self.add(blocks, tiles)
        self.play(PlayTrace(lanes, blocks, tiles, until=0.7 * trace.makespan, run_time=3))
