"""Wave quantization: why can a few more tiles nearly double the time?"""

from manim import DOWN, LEFT, RIGHT, UP, Create, Dot, GrowFromCenter, LaggedStart, Line, ManimColor, VGroup

from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.curve import Curve
from tilesim_scenes.mobjects.charts.plot import Plot
from tilesim_scenes.mobjects.drawing.quads import stroke_width
from tilesim_scenes.mobjects.models.tiles.wave_grid import WaveGrid
from tilesim_scenes.mobjects.words.badge import Badge, of_costs
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.wave_quantization import tell

FILM = {
    "title": "Wave quantization",
    "question": "Why can a few more tiles nearly double the time?",
    "part": "Schedules",
    "place": 170,
    "seconds": 33,
    "shows": "A product grows tile by tile, and the first tile of a new wave has a wave to itself.",
}


class WaveQuantization(Film):
    """12 rows of tiles and ever more columns on the SMs of an H200, simulated; and what was measured."""

    def construct(self):
        story = tell()
        self.title(story.title)
        self.badge(of_costs(story.costs))
        grid, plot, curve, split = self.stage(story)
        self.fill(story, grid, plot, curve)
        self.go_on(story, grid, curve)
        self.rescue(story, plot, split)
        self.compare(story, plot)
        self.end(story)

    def fill(self, story, grid, plot, curve):
        """Tiles fill the first wave, twelve more open the next, and the curve falls by half."""
        full, over = story.full, story.over
        self.say(tr("{sms} SMs take a tile each", sms=full.tiles))
        first, second = (self.wave(story, grid, number) for number in (1, 2))
        self.play(Fade(VGroup(grid, plot, first), 0.0, 1.0))
        self.play(PlayTrace(grid, curve, until=full.tiles, run_time=3.5))
        top = self.mark(plot, full)
        self.play(Fade(top, 0.0, 1.0))
        more = over.tiles - full.tiles
        self.say(tr("{more} SMs work again, {idle} stand idle", more=more, idle=full.tiles - more))
        self.play(PlayTrace(grid, until=over.tiles, run_time=2.0), Leave(first), Fade(second, 0.0, 1.0))
        low, idle = self.mark(plot, over, RIGHT), grid.span(over.tiles, 2 * full.tiles)
        self.play(Create(idle, run_time=0.8))
        self.say(tr("{longer:.1f} times the time, half the speed", longer=over.us / full.us))
        self.play(PlayTrace(curve, until=over.tiles, run_time=1.5))
        self.play(Fade(low, 0.0, 1.0))
        self.wait(1.0)
        self.play(*(Leave(one) for one in (top, low, idle, second)))

    def go_on(self, story, grid, curve):
        """The same at each new wave."""
        self.say(tr("It happens at each new wave, and hurts less"))
        self.play(PlayTrace(grid, curve, until=story.persistent[-1].tiles, run_time=5.0))

    def rescue(self, story, plot, split):
        """A schedule that cuts tiles, and how fast it is where the other is slowest."""
        over, rescued = story.over, story.rescued
        self.say(tr("Stream-K cuts the last wave along K"))
        self.play(PlayTrace(split, until=story.split[-1].tiles, run_time=3.0))
        foot, head = (plot.at(over.tiles, point.tflops) for point in (over, rescued))
        lift = Line(foot, head, stroke_color=ManimColor(self.theme.text), stroke_width=stroke_width(5))
        dots = VGroup(*(Dot(at, radius=px(13), color=ManimColor(self.theme.text)) for at in (foot, head)))
        # Both curves run beside the points; above them there is room.
        text = tr("Stream-K, {tiles} tiles: {tflops:.0f}", tiles=rescued.tiles, tflops=rescued.tflops)
        name = label(text, 48, bold=True).move_to(plot.at(over.tiles, 860), DOWN + LEFT)
        self.play(Create(lift, run_time=0.6), Fade(dots, 0.0, 1.0), Fade(name, 0.0, 1.0))
        self.wait(1.5)
        self.play(*(Leave(one) for one in (lift, dots, name)))

    def compare(self, story, plot):
        """What was measured stands on the curves."""
        self.say(tr("Measured runs agree to within {share:.0%}", share=story.apart))
        self.badge(Badge(tr("dots: measured on {gpu}", gpu="NVIDIA H200"), "measured"))
        ink = ManimColor(self.theme.measured)
        places = (plot.at(point.tiles, point.tflops) for _, point in story.measured)
        dots = VGroup(*(Dot(at, radius=px(17), color=ink) for at in places))
        self.play(LaggedStart(*(GrowFromCenter(dot) for dot in dots), lag_ratio=0.4, run_time=1.5))
        self.wait(1.5)

    def stage(self, story):
        """The grid above the curve that it draws: a column stands above its place on the axis."""
        area, last = self.area, story.persistent[-1].tiles
        left = px(110)
        grid = WaveGrid(last, story.rows, story.sms, area.width - left)
        grid.move_to([area.right - grid.width / 2, area.top - px(70) - grid.height / 2, 0])
        most = max(point.tflops for point in (*story.persistent, *story.split))
        ends = [story.sms * wave for wave in range(1, last // story.sms + 1)]
        room = grid.get_bottom()[1] - area.bottom
        plot = Plot((0, last), (0, 1.1 * most), ends, range(0, 801, 200), area.width - left, room - px(160))
        plot.shift([area.right, area.bottom + px(70), 0] - plot.ground.get_corner([1, -1, 0]))
        axis = label(tr("TFLOP/s, first issue to last store"), 40, self.theme.quiet)
        axis.move_to(plot.at(last, 0), DOWN + RIGHT)
        plot.add(axis.shift(px(14) * (LEFT + UP)))
        curve = Curve(plot, [(0, 0), *((point.tiles, point.tflops) for point in story.persistent)])
        split = Curve(
            plot,
            [(point.tiles, point.tflops) for point in story.split if point.waves > 1],
            self.theme.quiet,
            5,
        )
        return grid, plot, curve, split

    def wave(self, story, grid, number):
        """A wave's name, under its tiles."""
        name = label(tr("wave {number}", number=number), 44, self.theme.quiet, bold=True)
        return name.move_to(grid.place((number - 0.5) * story.sms, -0.08), UP)

    def mark(self, plot, point, side=UP):
        """A point of the curve with its figures."""
        dot = Dot(plot.at(point.tiles, point.tflops), radius=px(13), color=ManimColor(self.theme.text))
        words = label(
            tr("{tiles} tiles: {tflops:.0f}", tiles=point.tiles, tflops=point.tflops), 48, bold=True
        )
        words.next_to(dot, side + RIGHT, px(8))
        return VGroup(dot, words)

    def end(self, story):
        """The finding."""
        full, over = story.full, story.over
        rows = [(tr("{tiles} tiles", tiles=point.tiles), point.us, "simulated") for point in (full, over)]
        bars = Bars(rows, "µs", width=min(self.area.width, px(1400)))
        badge = of_costs(story.costs)
        number = f"×{over.us / full.us:.2f}"
        self.finding(Finding(story.finding, number, bars, badge, story.aside), [bars.grow()])
