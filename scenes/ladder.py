"""Ladder: what is each trick of a fast matrix product worth?"""

from manim import DOWN, LEFT, VGroup

from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.captioned_scene import DIMMED
from tilesim_scenes.film.quotations import quotation
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.settings import LADDER
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, lines, px
from tilesim_scenes.look.theme import Colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle, segments, strokes
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.ladder import Rung, Story, ladders_of, problem_of, size_of, tell

FILM = {
    "title": "Ladder",
    "question": "What is each trick of a fast kernel worth?",
    "part": "Kernels",
    "place": 250,
    "seconds": 45,
    "shows": "Kernel after kernel for one product, what each trick is worth, and what else changed with it.",
    "takes": "ladder",
}
SIZE, SMALL, GAIN = 44, 44, 180
"""Pixels of letters: a bar's name and figure, what else changed, and what the step wins."""
BESIDE, SQUARE, STACKED = 0.4, 0.52, 0.46
"""Shares that bars take: of a wide picture's width, of a square one's, and of a tall one's height."""
BELOW = 260
"""Pixels from the frame's middle down to the problem, which comes while the title stands."""
TRACK = 0.45
"""Opacity of the ground on which a bar will grow."""
FLIGHT, GROW = 0.4, 0.6
"""Seconds in which a quotation goes to its bar, and in which that grows."""


class Ladder(Film):
    """The ladder that ships, at the problem where its last steps differ most, unless asked otherwise."""

    asked = LADDER

    def construct(self):
        every, ladder = ladders_of(self.given)
        story = tell(ladder, every)
        self.title(story.title)
        self.badge(Badge(tr("measured on {gpu}", gpu=ladder.machine["gpu"]), "measured"))
        self.bars, (self.middle, self.room) = self.stage(story)
        problem = lines(problem_of(ladder), 56, self.room[0], color=self.theme.quiet)
        problem.move_to([self.middle[0], min(self.middle[1], -px(BELOW)), 0])
        self.play(Fade(problem, 0.0, 1.0), Fade(self.tracks, 0.0, 1.0))
        self.wait(0.4)
        self.play(Leave(problem))
        for number, rung in enumerate(story.rungs):
            self.climb(number, rung)
        if story.yardstick:
            self.compare(story)
        self.end(story, ladder)

    def stage(self, story: Story) -> tuple[Bars, tuple[list[float], tuple[float, float]]]:
        """Bars, and where quotations go: their middle, and the width and height that they have."""
        rows = [(rung.name, rung.step.tflops, "measured") for rung in story.rungs]
        if story.yardstick:
            rows.append((tr("cuBLAS"), story.yardstick.tflops, "quiet"))
        area, beside = self.area, not self.tall
        share = BESIDE if area.width > 1.6 * area.height else SQUARE
        width = share * area.width if beside else area.width
        high = area.top if beside else area.bottom + STACKED * area.height
        row = (high - area.bottom) / (len(rows) + 0.3)
        size = min(SIZE, 0.68 * row / px(1))
        bars = Bars(rows, width=width, row=row, size=size, form="{:.0f}", inside=True)
        # Said once, where there is room.
        bars.figures[0].write(f"{story.rungs[0].step.tflops:.0f} TFLOP/s")
        bars.move_to([area.right - width / 2, (area.bottom + high) / 2, 0])
        self.tracks = VGroup(
            *(
                rectangle(area.right - one.get_left()[0], one.height, self.theme.idle, TRACK).move_to(
                    one, LEFT
                )
                for one in bars.grounds
            )
        )
        right, low = (
            (bars.get_left()[0] - px(70 if share == BESIDE else 30), area.bottom)
            if beside
            else (area.right, high + px(40))
        )
        room = (right - area.left, area.top - low - px(40))
        return bars, ([(area.left + right) / 2, (area.top + low) / 2, 0], room)

    def climb(self, number: int, rung: Rung) -> None:
        """A step: its film for a moment, which becomes its bar, and in its place how much it wins."""
        quoted = quotation(rung.step.name, *(0.94 * side for side in self.room))
        self.say(rung.caption)
        # The step before stays bright: the gain is over that.
        past = [Fade(self.bars.rows[number - 2], 1.0, DIMMED)] if number > 1 else []
        if quoted:
            shown = VGroup(quoted.picture)
            shown.shift(self.middle - quoted.picture.get_center())
            kind = tr("simulated") if quoted.simulated else tr("model")
            corner = [self.middle[0] - self.room[0] / 2, self.middle[1] + self.room[1] / 2 + px(24), 0]
            source = label(kind, 40, self.theme.quiet).move_to(corner, LEFT)
            self.play(Fade(shown, 0.0, 1.0), Fade(source, 0.0, 1.0), *past)
            self.play(quoted.plays())
            row = self.bars.grounds[number].get_left()
            fly = Travel([shown], [[row]], [[0.04]], leg=FLIGHT)
            self.play(fly, Fade(shown, 1.0, 0.0, run_time=FLIGHT), Fade(source, 1.0, 0.0))
            self.remove(shown, source)
        won, grows = self.gain(rung), self.bars.grow(number, run_time=GROW)
        self.play(grows, Fade(won, 0.0, 1.0), *([] if quoted else past))
        self.wait(0.35)
        self.play(Leave(won, run_time=0.2))

    def gain(self, rung: Rung) -> VGroup:
        """How many times as fast as the step before, and what else changed or where it was measured."""
        group = VGroup()
        if rung.gain is not None:
            ink = self.theme.text if rung.gain >= 1 else self.theme.quiet
            said = f"×{rung.gain:.3g}" if rung.gain >= 1.995 else f"×{rung.gain:.2f}"
            group.add(self.number(said, ink))
        if rung.besides:
            group.add(lines(rung.besides, SMALL, self.room[0], color=self.theme.quiet))
        return group.arrange(DOWN, buff=px(36)).move_to(self.middle)

    def number(self, said: str, ink: Colour) -> Figure:
        """A figure as large as it may be where quotations stand."""
        figure = Figure(said, GAIN, ink, align=0.5)
        return figure.scale(min(1.0, 0.9 * self.room[0] / figure.width))

    def compare(self, story: Story) -> None:
        """cuBLAS's bar, whose end becomes a line through all others; and how far past it the best one is."""
        number = len(story.rungs)
        past = [Fade(row, DIMMED, 1.0) for row in self.bars.rows[: number - 2]]
        self.say(self.verdict(story))
        self.play(self.bars.grow(number), *past)
        ground = self.bars.grounds[number]
        mark = strokes(self.theme.text, 3)
        rise = (self.bars.grounds[0].get_top()[1] - ground.get_bottom()[1]) / ground.height
        mark.points = segments(ground, [[1.0, 0.0, 1.0, rise]])
        over = self.number(f"×{story.best.step.tflops / story.yardstick.tflops:.2f}", self.theme.text)
        names = label(f"{story.best.name} / {tr('cuBLAS')}", SMALL, self.theme.quiet)
        step = story.best.step
        where = label(size_of(step.m, step.n, step.k), SMALL, self.theme.quiet)
        group = VGroup(over, names, where).arrange(DOWN, buff=px(36)).move_to(self.middle)
        self.play(Fade(mark, 0.0, 1.0), Fade(group, 0.0, 1.0))
        self.wait(1.2)

    def verdict(self, story: Story) -> str:
        """Which steps pass the yardstick."""
        ahead = [rung.name for rung in story.rungs if rung.step.tflops > story.yardstick.tflops]
        if not ahead:
            return tr("No step is faster than cuBLAS")
        return tr("Faster than cuBLAS: {names}", names=", ".join(ahead))

    def end(self, story: Story, ladder) -> None:
        """What the best step reaches, beside the first; and where cuBLAS is faster."""
        first = story.rungs[0]
        rows = [(rung.name, rung.step.tflops, "measured") for rung in (first, story.best)]
        bars = Bars(rows, tr("TFLOP/s"), width=self.area.width, form="{:.0f}")
        badge = Badge(tr("measured on {gpu}", gpu=ladder.machine["gpu"]), "measured")
        number = f"×{story.best.step.tflops / first.step.tflops:.3g}"
        self.finding(Finding(story.finding, number, bars, badge, story.aside), [bars.grow()])
