# ruff: noqa: F403, F405 (written as Manim's users write scenes)
"""Scenes of other people's kind: what Manim's users write, hard cases included. SCENES has them all."""

from unittest.mock import patch

import numpy as np
from manim import *
from manim.renderer.cairo_renderer import CairoRenderer
from PIL import Image


class MovingSquare(Scene):
    def construct(self):
        square = Square().shift(4 * LEFT)
        self.play(square.animate.shift(8 * RIGHT), run_time=1.5)


class AlwaysRedraw(Scene):
    def construct(self):
        x = ValueTracker(-3)
        dot = always_redraw(lambda: Dot([x.get_value(), np.sin(x.get_value()), 0], color=RED))
        brace = always_redraw(
            lambda: VGroup(Line(ORIGIN, dot.get_center()), Text(f"{x.get_value():.1f}").next_to(dot, UP))
        )
        self.add(NumberPlane(), dot, brace)
        self.play(x.animate.set_value(3), run_time=1)
        self.wait(0.3)


class TimeUpdaters(Scene):
    def construct(self):
        clock, wheel = (
            DecimalNumber(0, num_decimal_places=2, mob_class=Text).to_corner(UL),
            Square(color=BLUE),
        )
        clock.add_updater(lambda mobject, dt: mobject.increment_value(dt))
        wheel.add_updater(lambda mobject, dt: mobject.rotate(dt))
        self.add(clock, wheel, Circle().shift(3 * RIGHT))
        self.wait(1)
        wheel.clear_updaters()
        self.wait(0.5)


class MovingCameraOver(MovingCameraScene):
    def construct(self):
        squares = VGroup(*(Square(0.5, fill_opacity=0.7) for _ in range(12))).arrange_in_grid(3, 4)
        self.add(squares)
        self.camera.frame.save_state()
        self.play(self.camera.frame.animate.scale(0.4).move_to(squares[0]), run_time=0.6)
        self.play(squares[1].animate.set_fill(RED), run_time=0.5)
        self.play(Restore(self.camera.frame), squares[5].animate.rotate(1), run_time=0.6)


class LaggedSquares(Scene):
    def construct(self):
        squares = VGroup(*(Square(0.3) for _ in range(40))).arrange_in_grid(5, 8)
        self.play(LaggedStart(*(FadeIn(square, shift=UP) for square in squares), lag_ratio=0.1), run_time=1)
        self.play(LaggedStart(*(square.animate.set_fill(RED, 1) for square in squares)), run_time=1)


class TextTransforms(Scene):
    def construct(self):
        first, second = Text("tiles"), Text("waves", gradient=(BLUE, GREEN)).shift(UP)
        self.play(Write(first), run_time=0.7)
        self.play(Transform(first, second), run_time=0.7)
        self.play(ReplacementTransform(first, Text("end")), run_time=0.5)
        self.play(FadeOut(*self.mobjects), run_time=0.4)


class Waits(Scene):
    def construct(self):
        self.wait(0.3)
        circle = Circle(fill_opacity=0.5)
        self.add(circle)
        self.wait(0.5)
        self.play(circle.animate.shift(RIGHT), run_time=0.4)
        self.wait(0.4, frozen_frame=False)
        self.add(Square())
        self.pause(0.3)
        self.wait_until(lambda: self.renderer.time > 2.2, max_time=1)


class Sections(Scene):
    def construct(self):
        square = Square()
        square.add_updater(lambda mobject, dt: mobject.rotate(dt))
        self.add(square)
        self.play(square.animate.shift(RIGHT), run_time=0.4)
        self.next_section("left out", skip_animations=True)
        self.play(square.animate.shift(UP), Create(Circle()), run_time=0.5)
        self.wait(0.4)
        self.next_section("shown")
        self.play(square.animate.shift(LEFT), run_time=0.5)


class ZIndex(Scene):
    def construct(self):
        one, two = Square(fill_opacity=1, color=RED), Circle(fill_opacity=1, color=BLUE)
        one.set_z_index(1)
        self.add(one, two, Triangle(fill_opacity=1, z_index=-1).scale(2))
        self.play(two.animate.shift(0.5 * RIGHT), run_time=0.5)
        two.add_updater(lambda mobject: mobject.set_z_index(2 if mobject.get_x() > 1 else 0))
        self.play(two.animate.shift(RIGHT), one.animate.shift(0.5 * UP), run_time=0.8)
        self.bring_to_front(one)
        self.wait(0.2)


class Zoomed(ZoomedScene):
    def construct(self):
        dot = Dot(color=GREEN)
        self.add(dot, NumberPlane().set_opacity(0.3))
        self.activate_zooming(animate=False)
        self.play(dot.animate.shift(RIGHT), run_time=0.5)
        self.play(self.zoomed_camera.frame.animate.shift(RIGHT), run_time=0.4)


class InSpace(ThreeDScene):
    def construct(self):
        self.set_camera_orientation(phi=60 * DEGREES, theta=30 * DEGREES)
        title = Text("fixed").to_corner(UL)
        self.add_fixed_in_frame_mobjects(title)
        cube = Cube(fill_opacity=0.8)
        self.add(cube)
        self.play(cube.animate.shift(RIGHT), run_time=0.4)
        self.begin_ambient_camera_rotation(rate=1)
        self.wait(0.4)


class Foreground(Scene):
    def construct(self):
        front, back = Square(fill_opacity=1, color=RED), Circle(fill_opacity=1, color=BLUE)
        self.add_foreground_mobject(front)
        self.add(back)
        self.play(back.animate.shift(RIGHT), run_time=0.4)
        self.play(front.animate.shift(LEFT), run_time=0.4)
        self.remove_foreground_mobject(front)
        self.play(back.animate.shift(LEFT), run_time=0.4)


class Background(Scene):
    def construct(self):
        square = Square(fill_opacity=0.5)
        self.play(FadeIn(square), run_time=0.3)
        self.camera.background_color = BLUE_E
        self.play(square.animate.shift(RIGHT), run_time=0.4)

        def redden(mobject):
            if mobject.get_x() < 0.5:
                self.camera.background_color = RED_E

        square.add_updater(redden)
        self.play(square.animate.shift(LEFT), run_time=0.4)
        self.wait(0.2)


class Points(Scene):
    def construct(self):
        points = np.random.default_rng(0).uniform(-3, 3, (200, 3))
        cloud = PMobject(stroke_width=4).add_points(points, color=YELLOW)
        square = Square()
        self.add(square, cloud)
        self.play(cloud.animate.shift(RIGHT), square.animate.rotate(1), run_time=0.5)
        self.remove(cloud)
        self.play(square.animate.shift(LEFT), run_time=0.4)
        self.play(FadeIn(PointCloudDot(density=4)), run_time=0.3)


def picture(height: int = 20, width: int = 30, opaque: bool = True) -> np.ndarray:
    """Noise: uint8, [height, width, 4]."""
    pixels = np.random.default_rng(1).integers(0, 256, (height, width, 4), np.uint8)
    if opaque:
        pixels[..., 3] = 255
    return pixels


class RotatedImages(Scene):
    def construct(self):
        image = ImageMobject(picture()).set_height(3)
        turned = image.copy().rotate(0.4).shift(3 * RIGHT)
        turned.set_resampling_algorithm(RESAMPLING_ALGORITHMS["nearest"])
        self.add(image, turned, Circle())
        self.play(turned.animate.rotate(0.5), run_time=0.4)
        self.play(image.animate.scale(0.7).shift(2 * LEFT), run_time=0.4)


class Gradients(Scene):
    def construct(self):
        square = Square(fill_opacity=1, stroke_width=10).set_color_by_gradient(RED, BLUE)
        circle = Circle(fill_opacity=0.8).set_sheen(0.6, UR).shift(2 * RIGHT)
        ball = VGroup(Circle().set_color([RED, GREEN, BLUE]), Dot())
        ball[0].add(Square(0.3))
        self.add(square, circle, ball)
        self.play(square.animate.rotate(1), circle.animate.set_sheen_direction(DOWN), run_time=0.5)
        self.play(ball[0].submobjects[0].animate.shift(2 * UP), run_time=0.5)


class MovedWhileStatic(Scene):
    def construct(self):
        held, moving = Square(color=GREEN, fill_opacity=0.6), Circle().shift(2 * LEFT)
        self.add(held, moving)
        moving.add_updater(lambda mobject: held.shift(0.1 * RIGHT))
        self.play(moving.animate.shift(RIGHT), run_time=0.5)
        moving.clear_updaters()
        self.play(moving.animate.shift(RIGHT), run_time=0.4)


class Opacity(Scene):
    def construct(self):
        group = VGroup(*(Circle(color=c, fill_opacity=1).shift(x * RIGHT) for x, c in enumerate((RED, BLUE))))
        self.add(group)
        self.play(group.animate.set_opacity(0.2), run_time=0.4)
        group[0].set_opacity(0)
        self.wait(0.2)
        self.play(FadeOut(group[1], scale=2), run_time=0.4)


class Images(Scene):
    """Images that paint themselves in place, at a new array, and that fade."""

    def construct(self):
        near = RESAMPLING_ALGORITHMS["nearest"]
        painted = ImageMobject(picture(60, 90)).set_resampling_algorithm(near).set_height(4).shift(3 * LEFT)
        smooth = ImageMobject(picture(40, 40)).set_height(2.5).shift(3 * RIGHT)
        glass = ImageMobject(picture(30, 30, False)).set_resampling_algorithm(near).set_height(3)
        tick = ValueTracker(0)

        def paint(mobject):
            row = int(tick.get_value())
            mobject.pixel_array[row % 60, 10 : 40 + row] = (255, row, 0, 255)

        def replace(mobject):
            mobject.pixel_array = mobject.pixel_array.copy()
            mobject.pixel_array[int(tick.get_value()) % 30, 3:6] = (0, 255, 0, int(tick.get_value()))

        painted.add_updater(paint)
        smooth.add_updater(lambda mobject: paint(mobject) if tick.get_value() < 30 else None)
        glass.add_updater(replace)
        self.add(painted, smooth, glass, Text("over").move_to(glass))
        self.play(tick.animate.set_value(59), run_time=1)
        self.play(FadeOut(glass), smooth.animate.set_opacity(0.5), run_time=0.5)
        self.play(painted.animate.shift(0.33 * UR), run_time=0.4)


class StrokeBehind(Scene):
    def construct(self):
        text = Text("halo", font_size=90).set_stroke(RED, 12, background=True)
        self.add(Square(5, fill_opacity=0.4), text)
        self.play(text.animate.shift(UR), run_time=0.5)
        self.play(text.animate.set_stroke(width=0, background=True), run_time=0.4)


class AddRemove(Scene):
    def construct(self):
        group = VGroup(Square(), Circle().shift(RIGHT), Dot())
        self.add(group)
        self.play(group[0].animate.shift(UP), run_time=0.3)

        def come_and_go(mobject, dt):
            if len(mobject) == 3:
                mobject.add(Triangle(color=PINK).shift(2 * LEFT))
            else:
                mobject.remove(mobject[-1])

        group.add_updater(come_and_go)
        self.wait(0.6)
        group.clear_updaters()
        self.remove(group[1])
        self.add(group[1].shift(DOWN))
        self.play(FadeIn(Star().shift(3 * RIGHT)), run_time=0.3)
        self.clear()
        self.wait(0.2)


class SharpCorners(Scene):
    """Strokes that reach far beyond their points."""

    def construct(self):
        spike = Polygon([-3, 0, 0], [3, 0.25, 0], [-3, 0.5, 0], stroke_width=30)
        line = Line(3 * LEFT, 3 * LEFT + UP, stroke_width=40).set_cap_style(CapStyleType.SQUARE)
        bent = VMobject(stroke_width=30, joint_type=LineJointType.BEVEL)
        bent.set_points_as_corners([[-3, -2, 0], [0, -2, 0], [-3, -2.2, 0]])
        self.add(spike, line, bent)
        self.play(spike.animate.shift(DOWN), line.animate.rotate(1), bent.animate.shift(RIGHT), run_time=0.8)


class BackgroundImage(Scene):
    def construct(self):
        circle = Circle(fill_opacity=1)
        circle.color_using_background_image(Image.fromarray(picture()))
        square = Square()
        self.add(square, circle)
        self.play(circle.animate.shift(RIGHT), square.animate.rotate(1), run_time=0.5)


class Lowest(Scene):
    """What lies lowest keeps its look for long, then changes; what lies above moves all the time."""

    def construct(self):
        low = VGroup(*(Square(2, fill_opacity=0.6, color=colour) for colour in (RED, GREEN, BLUE)))
        low.arrange(buff=-0.7)
        dot = Dot(3 * LEFT, radius=0.4, fill_opacity=0.7)
        low[0].add_updater(lambda mobject: mobject.shift(0.1 * UP if 0 < dot.get_x() < 1 else ORIGIN))
        self.add(low, dot)
        self.play(dot.animate.shift(6 * RIGHT), run_time=2.5)


class OffCentre(Scene):
    """What a plain camera makes of another centre: it moves images, not vectors."""

    def construct(self):
        square, image = Square(), ImageMobject(picture()).set_height(2).shift(2 * LEFT)
        self.add(square, image)
        self.play(square.animate.rotate(1), run_time=0.4)
        self.camera.frame_center = np.array([1.0, 0.5, 0.0])
        self.play(square.animate.shift(UP), run_time=0.5)


class ImagesBeyondEdges(Scene):
    """Images that reach out of the frame, or lie outside, while they change."""

    def construct(self):
        near = RESAMPLING_ALGORITHMS["nearest"]
        images = Group(*(ImageMobject(picture(25, 35)).set_height(3) for _ in range(5)))
        for image, corner in zip(images, (UL, UR, DL, DR, ORIGIN), strict=True):
            image.set_resampling_algorithm(near).move_to(corner * [6.5, 3.3, 0])
        images[4].set_height(14)
        images[3].add_updater(lambda mobject, dt: mobject.pixel_array[::3].fill(round(255 * dt)))
        images[0].add_updater(lambda mobject: mobject.pixel_array[5:9].__iadd__(1))
        self.add(images[4], *images[:4])
        self.wait(0.6)
        self.play(images[:2].animate.shift(0.7 * LEFT), images[4].animate.scale(1.3), run_time=0.5)
        self.play(images[1].animate.shift(9 * RIGHT), images[2].animate.stretch(0.01, 1), run_time=0.5)


SCENES = [one for one in list(vars().values()) if isinstance(one, type) and one.__module__ == __name__]


def frames_of_manim(scene: type[Scene]) -> list[np.ndarray]:
    """The frames that Manim's own renderer draws."""
    frames = []

    def keep(self, frame, num_frames=1):
        if not self.skip_animations:
            frames.extend([frame] * num_frames)
            self.time += num_frames / self.camera.frame_rate

    with patch.object(CairoRenderer, "add_frame", keep):
        scene().render()
    return frames
