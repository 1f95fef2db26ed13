"""WarpLoad: one load instruction of a warp, from the elements it asks for to the sectors that move."""

from typing import Self

import numpy as np
from manim import VGroup, VMobject

from tilesim.ideas.coalescing import LINE, SECTOR, touched
from tilesim_scenes.look.theme import mix, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, quad, shape, strokes
from tilesim_scenes.mobjects.hardware.element_grid import ElementGrid
from tilesim_scenes.mobjects.hardware.memory_lines import MOVED, MemoryLines

THIRDS = np.linspace(0, 1, 4)[:, None]


class WarpLoad(VGroup):
    """A ray from each thread's elements in `grid` to their line of `memory`, whose whole sector then moves.

    `addresses`: bytes from the grid's first element, int64 [threads]; `width` bytes a thread, of elements of
    `element` bytes in rows `pitch` bytes apart. `memory` has the lines that they lie in. Its time `t` is the
    threads that have been served.

        load = WarpLoad(grid, memory, strided(16384), width=4, element=4, pitch=16384)
        self.add(grid, memory, load)
        self.play(PlayTrace(load, until=32, run_time=2))
    """

    def __init__(
        self,
        grid: ElementGrid,
        memory: MemoryLines,
        addresses: np.ndarray,
        width: int,
        element: int,
        pitch: int,
    ) -> None:
        self.grid, self.memory, self.addresses, self.bytes_a_thread = grid, memory, addresses, width
        self.elements = max(1, width // element)
        self.places = [(a // pitch, a % pitch // element) for a in addresses.tolist()]
        self.t = 0.0
        self.sectors, self.rays, self.asked, self.taken = (
            VGroup(*(made() for _ in self.places))
            for made in (
                lambda: shape(tuple(mix(theme_now().idle, memory.colour, MOVED).tolist())),
                lambda: strokes(grid.colour, 2, 0.7),
                lambda: shape(grid.colour),
                lambda: shape(memory.colour),
            )
        )
        super().__init__(self.sectors, self.rays, self.asked, self.taken)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as when `t` threads have been served; the next one's ray is on its way."""
        self.t = t
        for thread, address in enumerate(self.addresses.tolist()):
            self._show_thread(thread, address, min(1.0, max(0.0, t - thread)))
        return self

    def touched(self, unit: int = SECTOR) -> int:
        """Sectors, or with `unit` LINE lines, of which the threads served need a byte."""
        return len(touched(self.addresses[: int(self.t)], self.bytes_a_thread, unit))

    @property
    def lines(self) -> int:
        """Lines of which a sector has moved."""
        return self.touched(LINE)

    def _show_thread(self, thread: int, address: int, share: float) -> None:
        """One thread's load, whose ray is `share` of the way."""
        drawn: list[VMobject] = [part[thread] for part in (self.sectors, self.rays, self.asked, self.taken)]
        sector, ray, asked, taken = drawn
        for one in drawn:
            one.points = EMPTY
        if not share:
            return
        ground = self.memory.sector(address // SECTOR)
        asked.points = self.grid.place(*self.places[thread], columns=self.elements)
        start, end = asked.get_right(), self.memory.line(address // LINE).get_left()
        ray.points = start + (end - start) * share * THIRDS
        if share == 1:
            sector.points = ground.points
            first = address % SECTOR / SECTOR
            taken.points = quad(ground, first, first + self.bytes_a_thread / SECTOR)
