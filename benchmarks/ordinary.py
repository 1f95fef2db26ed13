# ruff: noqa: F403, F405 (written as Manim's users write scenes)
"""Ten scenes as Manim's users write them, some 5 s each, for the benchmarks."""

import numpy as np
from manim import *

NEAREST = RESAMPLING_ALGORITHMS["nearest"]


class MovingSquare(Scene):
    seconds = 5

    def construct(self):
        square = Square().shift(4 * LEFT)
        self.play(square.animate(run_time=self.seconds, rate_func=linear).shift(8 * RIGHT))


class LongSquare(MovingSquare):
    """About as long as our films, so that a process's start weighs alike."""

    seconds = 45


class AlwaysRedraw(Scene):
    def construct(self):
        x = ValueTracker(-5)
        self.add(
            NumberPlane(),
            always_redraw(lambda: Dot([x.get_value(), np.sin(2 * x.get_value()), 0], color=RED)),
            always_redraw(lambda: Line(2 * DOWN, [x.get_value(), np.sin(2 * x.get_value()), 0])),
            always_redraw(lambda: Circle(0.2 * abs(x.get_value()), color=GREEN).shift(2 * UP)),
        )
        self.play(x.animate(run_time=5, rate_func=linear).set_value(5))


class Traced(Scene):
    def construct(self):
        dot = Dot(2 * RIGHT)
        self.add(dot, TracedPath(dot.get_center, stroke_color=YELLOW))
        self.play(Rotating(dot, angle=TAU, about_point=ORIGIN, run_time=2.5))
        self.play(dot.animate.shift(2 * UP), run_time=2.5)


class TimeUpdaters(Scene):
    def construct(self):
        for place in range(-4, 5, 2):
            wheel = VGroup(
                Circle(), *(Line(ORIGIN, RIGHT).rotate(i * PI / 4, about_point=ORIGIN) for i in range(8))
            )
            wheel.scale(0.8).shift(place * RIGHT)
            wheel.add_updater(lambda mobject, dt, speed=place: mobject.rotate(0.3 * speed * dt))
            self.add(wheel)
        self.wait(5)


class MovingCameraOver(MovingCameraScene):
    def construct(self):
        self.add(VGroup(*(Square(0.5, fill_opacity=0.7) for _ in range(60))).arrange_in_grid(6, 10))
        self.play(self.camera.frame.animate.scale(0.4).shift(2 * LEFT), run_time=2)
        self.play(self.camera.frame.animate.shift(4 * RIGHT), run_time=2)
        self.play(self.camera.frame.animate.scale(2).move_to(ORIGIN), run_time=1)


class LaggedSquares(Scene):
    def construct(self):
        squares = VGroup(*(Square(0.4) for _ in range(200))).arrange_in_grid(10, 20)
        self.play(
            LaggedStart(*(FadeIn(square, shift=DOWN) for square in squares), lag_ratio=0.05, run_time=3)
        )
        self.play(LaggedStart(*(square.animate.set_fill(BLUE, 1) for square in squares), run_time=2))


class TextTransforms(Scene):
    def construct(self):
        title = Text("Thread blocks take turns", font_size=72)
        self.play(Write(title), run_time=2)
        self.play(Transform(title, Text("and leave a tail", font_size=72, color=YELLOW)), run_time=2)
        self.play(FadeOut(title), run_time=1)


class PlotWithArea(Scene):
    def construct(self):
        axes = Axes(x_range=[0, 10], y_range=[0, 4], x_length=11, y_length=5)
        curve = axes.plot(lambda x: 2 + np.sin(x), color=GREEN)
        self.play(Create(axes), run_time=1)
        self.play(Create(curve), FadeIn(axes.get_area(curve, opacity=0.4)), run_time=1.5)
        x = ValueTracker(0)
        self.add(always_redraw(lambda: Dot(axes.i2gp(x.get_value(), curve), color=RED)))
        self.play(x.animate(rate_func=linear).set_value(10), run_time=2.5)


class Waits(Scene):
    def construct(self):
        steps = VGroup(*(Text(f"{number}. step") for number in range(1, 5))).arrange(DOWN)
        for step in steps:
            self.play(FadeIn(step, shift=RIGHT), run_time=0.4)
            self.wait(1)


class Rasters(Scene):
    """Tiles and lanes as images that paint themselves, 24 squares that move, and a clock."""

    tiles = 1024
    seconds = 5

    def construct(self):
        side = int(self.tiles**0.5)
        grid, lanes = self.image(side, side), self.image(132, 900)
        grid.set_height(6).shift(3.7 * LEFT)
        lanes.stretch_to_fit_width(6.6).stretch_to_fit_height(4.4).shift(3 * RIGHT)
        squares = VGroup(*(Square(0.25, fill_opacity=1, color=BLUE) for _ in range(24))).arrange(
            RIGHT, buff=0.05
        )
        squares.shift(3 * RIGHT + 2.8 * DOWN)
        now = ValueTracker(0)
        rng = np.random.default_rng(0)
        palette = rng.integers(60, 255, (132, 4), np.uint8)
        palette[:, 3] = 255

        def fill(mobject):
            count = int(now.get_value() * self.tiles)
            flat = mobject.pixel_array.reshape(-1, 4)
            flat[:count] = palette[np.arange(count) % 132]

        def run(mobject):
            mobject.pixel_array[:, : int(900 * now.get_value())] = palette[:, None]

        grid.add_updater(fill)
        lanes.add_updater(run)
        for number, square in enumerate(squares):
            square.add_updater(lambda mobject, dt, sign=(-1) ** number: mobject.shift(0.1 * sign * dt * UP))
        digits = [Text(str(digit), font="DejaVu Sans Mono").submobjects[0].points for digit in range(10)]
        clock = VGroup(*(VMobject(fill_opacity=1, stroke_width=0, color=WHITE) for _ in range(4)))

        def tell(mobject):
            for place, digit in enumerate(f"{int(9999 * now.get_value()):04}"):
                mobject[place].set_points(digits[int(digit)] + (4 + 0.4 * place) * RIGHT + 3.3 * UP)

        clock.add_updater(tell)
        self.add(grid, lanes, squares, clock)
        self.play(now.animate(run_time=self.seconds, rate_func=linear).set_value(1))

    @staticmethod
    def image(height, width):
        pixels = np.full((height, width, 4), (40, 40, 46, 255), np.uint8)
        return ImageMobject(pixels).set_resampling_algorithm(NEAREST)


class SmallRasters(Rasters):
    tiles = 256


class LargeRasters(Rasters):
    tiles = 16384
