"""Launch latency: why does a GPU sit idle while a program keeps sending it work?

manim render scenes/launch_latency.py

A Python loop calls 30 small products. Each call takes the CPU longer than the product takes the GPU, as the
same calls in a full queue show; a CUDA graph starts all of them with one call.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, LaggedStart, Mobject, VGroup

from tilesim.ideas.launch_latency import KERNEL, each, timeline
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, FadeIn, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.round_trip import code
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import Colour, ink_on, readable
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import edged, rectangle
from tilesim_scenes.mobjects.models.phase_rows import Calls
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Launch latency",
    "question": "Why does a GPU sit idle while a program keeps sending it work?",
    "finding": (
        "On an H200, 30 small products take 2.9 times as long one by one as in a CUDA graph, mostly because"
        " preparing a call takes longer than a product."
    ),
    "part": "Schedules",
    "place": 160,
    "seconds": 75,
    "shows": "A loop of small products: its calls on the CPU, its products on the GPU, and one graph of all.",
    "takes": "report",
}
SMALL, LARGE = 1024, 2048
"""M, N and K of the products."""
LOOP = "for a, b, c in matrices:", "    torch.mm(a, b, out=c)"
RECORD = "with torch.cuda.graph(graph):", *(f"    {line}" for line in LOOP)
REPLAY = "graph.replay()"
NAME = 160
"""Pixels of the names of lanes."""
ROUNDS = 5.1
"""Rounds of the loop that both lanes show at once."""


class LaunchLatency(Lesson):
    """30 small products, called one by one and as one CUDA graph, as measured on an H200."""

    def prepare(self) -> None:
        report = self.report("launch_latency")
        self.gpu = report["machine"]["gpu"]
        self.guard("H200" in self.gpu, "the products ran on an H200")
        them = {"rows": report["together"]}
        us = {
            (how, size): row(them, how=how, size=size)["us"]["p50"]
            for how in ("calls", "queued", "graph") for size in (SMALL, LARGE)
        }  # fmt: skip
        self.us = {which: float(f"{time:.1f}") for which, time in us.items()}
        self.count = row(them, size=SMALL)["products"]
        self.call = float(f"{us['calls', SMALL] / self.count:.2f}")
        self.product = float(f"{us['queued', SMALL] / self.count:.2f}")
        self.large = float(f"{us['queued', LARGE] / self.count:.2f}")
        self.waits = float(f"{self.call - self.product:.2f}")
        self.share = self.waits / self.call
        self.call_ns, small, large = (round(1000 * one) for one in (self.call, self.product, self.large))
        self.guard(each(small, self.call_ns, 0) == self.call_ns, "a call takes longer than a small product")
        self.guard(each(large, self.call_ns, 0) == large, "a large product takes longer than a call")
        self.guard(us["calls", SMALL] > 2 * us["queued", SMALL], "the CPU's calls take most of the time")
        self.guard(abs(us["graph", SMALL] / us["queued", SMALL] - 1) < 0.1, "a graph keeps the GPU busy")
        self.guard(us["calls", LARGE] < 1.1 * us["queued", LARGE], "large products hide their calls")
        self.replay = row(report, launch="host", what="CUDA graph")["ns"]["p50"]
        stream, graph = (
            row(report, launch=how, what="kernels", blocks=1)["ns"]["p50"] for how in ("stream", "graph")
        )
        self.guard(graph < stream, "a graph shortens the pauses between kernels")

    def construct(self) -> None:
        self.ask("The CPU is a computer's main processor. The GPU computes what it asks for.")
        self.the_program()
        self.two_times()
        self.one_call()
        self.next_calls()
        self.idle_between()
        self.as_a_graph()
        self.larger_products()
        self.close(
            "On an H200, {count} small products take {times:.1f} times as long one by one as in a CUDA "
            "graph, mostly because preparing a call takes longer than a product.",
            [(tr("30 calls"), self.us["calls", SMALL]), (tr("one graph"), self.us["graph", SMALL])],
            "times",
            "{:.1f} µs",
            self.measured(),
            tr("1024 × 1024 matrices of 16-bit numbers; how long calls take depends on the host's CPU"),
        )

    # The program, and how long it takes.

    def the_program(self) -> None:
        area, theme = self.area, self.theme
        self.code = fit(code(LOOP, 50, numbered=False), area.width)
        self.code.move_to([area.left, area.top - px(10), 0], LEFT + UP)
        fills = {"a": theme.hand_over, "b": theme.hand_over, "c": self.hue}
        side = 180 if self.narrow else 210
        parts = VGroup(
            *(self.box(one, fills[one], side) if one in fills else label(one, 60) for one in "a×b=c")
        )
        parts.arrange(RIGHT, buff=px(36))
        times = self.bold("{count} times", 60)
        size = self.word("each matrix: {n} × {n} 16-bit numbers", n=SMALL)
        picture = VGroup(VGroup(parts, times).arrange(DOWN if self.narrow else RIGHT, buff=px(70)), size)
        picture.arrange(DOWN, buff=px(40))
        picture.move_to([area.center[0], (self.code.get_bottom()[1] + area.bottom) / 2, 0])
        self.say("This Python program multiplies {count} pairs of small matrices on a GPU.")
        self.play(LaggedStart(*map(FadeIn, self.code), lag_ratio=0.5, run_time=1.0))
        self.play(LaggedStart(*map(FadeIn, parts), lag_ratio=0.4, run_time=1.8))
        self.play(FadeIn(times, size), run_time=0.6)
        self.leave(picture)

    def box(self, name: str, fill: Colour, side: float, size: float = 60) -> VGroup:
        """A square with a name, `side` pixels wide."""
        return VGroup(rectangle(px(side), px(side), fill), label(name, size, ink_on(fill), bold=True))

    def slots(self, width: float) -> VGroup:
        """A frame so wide, and all calls side by side in it."""
        tokens = VGroup(*(rectangle(px(36), px(100), self.theme.launch) for _ in range(self.count)))
        fit(tokens.arrange(RIGHT, buff=px(12)), width - px(48))
        return VGroup(edged(rectangle(width, tokens.height + px(48)), self.theme.text, 5), tokens)

    def moved(self, tokens: VGroup, starts: Sequence[Any], places: Sequence[Any], seconds: float) -> Any:
        """Move tokens, one after another, from where they start to their places."""
        ways = zip(tokens, starts, places, strict=True)
        moves = (one.move_to(start).animate.move_to(place) for one, start, place in ways)
        return LaggedStart(*moves, lag_ratio=0.6, run_time=seconds)

    def two_times(self) -> None:
        """The loop's time, and that of the same products once all calls wait in the queue."""
        area, loop, queued = self.area, self.us["calls", SMALL], self.us["queued", SMALL]
        cpu, gpu = (self.box(name, self.theme.idle, 150, 50).set_z_index(1) for name in ("CPU", "GPU"))
        frame, tokens = queue = self.slots(area.width - px(390))
        picture = VGroup(cpu, queue, gpu).arrange(RIGHT, buff=px(45))
        picture.move_to([area.center[0], self.code.get_bottom()[1] - px(90), 0], UP)
        name = self.word("queue of calls (schematic)", 42).next_to(frame, UP, px(14))
        busy = self.bold("other work", 42).next_to(gpu, UP, px(14), aligned_edge=RIGHT)
        rows = [(tr("one by one"), loop, "measured"), (tr("already queued"), queued, "measured")]
        bars = Bars(rows, width=area.width, row=px(140), size=48, form="{:.1f} µs")
        bars.move_to([area.center[0], (picture.get_bottom()[1] + area.bottom) / 2, 0])
        apiece = VGroup(self.bold("{call:.2f} µs each", 36), self.bold("{product:.2f} µs each", 36))
        for one, figure in zip(apiece, bars.figures, strict=True):
            one.next_to(figure, DOWN, px(18), aligned_edge=RIGHT)
        here, there, places = [cpu] * self.count, [gpu] * self.count, [one.get_center() for one in tokens]
        seconds = 4.5
        self.say(
            "Each turn of the loop, the CPU puts a call into a queue for the GPU. "
            "All {count} take {us:.1f} microseconds.", us=loop,
        )  # fmt: skip
        self.badge(self.measured())
        self.play(FadeIn(cpu, frame, gpu, name))
        self.play(self.moved(tokens, here, there, seconds), bars.grow(0, run_time=seconds))
        self.say(
            "If all {count} calls are already queued, the GPU finishes in {us:.1f} microseconds.", us=queued
        )
        self.play(self.moved(tokens, here, places, 2.0), FadeIn(busy))
        seconds *= queued / loop
        self.play(self.moved(tokens, places, there, seconds), bars.grow(1, run_time=seconds), Leave(busy))
        self.say("So in the loop, it mostly waits for calls.")
        tokens.set_opacity(0)
        self.play(FadeIn(apiece), run_time=0.3)
        self.leave(bars, picture, name, apiece)

    # Calls and products on one clock.

    def lanes(self, times: np.ndarray, call: int, until: float) -> Calls:
        """The lanes of CPU and GPU, below the code and above the key."""
        area = self.area
        # In a square, labels below the lanes take two lines.
        square = self.narrow and not self.tall
        made = Calls(times, call, (0.0, until), area.width - px(NAME), 85 if square else 150)
        middle = (self.code.get_bottom()[1] + self.floor) / 2 + px(20 + 30 * self.narrow)
        made.shift([area.right, middle, 0] - VGroup(made.cpu, made.gpu).get_right())
        return made.show(0.0)

    def below(self, note: Mobject) -> None:
        """A note comes up below both lanes."""
        note.next_to(self.two.gpu, DOWN, px(24)).set_x(self.two.gpu.get_x())
        self.play(FadeIn(note), run_time=0.4)

    def one_call(self) -> None:
        """The first call, large."""
        theme, call = self.theme, self.call_ns
        self.entries = [
            Entry(tr("call"), [theme.launch]),
            Entry(tr("product, with the pause after it"), [self.hue]),
            Entry(tr("the GPU waits"), [theme.wait]),
        ]
        key = self.key(*self.entries)
        times = timeline(self.count, round(1000 * self.product), call, 0)
        self.two = two = self.lanes(times, call, 1.1 * call)
        self.ticking = self.clock(1000 * self.us["calls", SMALL])
        self.say("For each call, the CPU checks the matrices, picks a GPU program and puts it in the queue.")
        self.badge(Badge(tr("model of measured times"), "model"))
        self.play(*key, Fade(two, 0.0, 1.0), FadeIn(self.ticking))
        self.play(PlayTrace(self.ticking, two, until=call, run_time=3.6))

    def next_calls(self) -> None:
        """The first product runs under the second call."""
        self.say("While the GPU multiplies, the CPU prepares the next call.")
        self.play(Zoom(self.two, window=(0.0, 2.2 * self.call_ns)))
        self.play(PlayTrace(self.ticking, self.two, until=2.0 * self.call_ns, run_time=3.4))

    def idle_between(self) -> None:
        self.say(
            "A turn of the loop takes {call:.2f} microseconds, and a product only {product:.2f}, "
            "so the GPU has to wait."
        )
        end = ROUNDS * self.call_ns
        self.play(Zoom(self.two, window=(0.0, end)))
        self.play(PlayTrace(self.ticking, self.two, until=end, run_time=4.0))
        ink = readable(self.theme.wait_text)
        waits = self.word(
            "in each turn {waits:.2f} of {call:.2f} µs, or {share:.0%} of the time", 46, ink, bold=True
        )
        self.below(waits)
        self.wait(1.0)
        self.leave(waits, self.two)

    def as_a_graph(self) -> None:
        """The calls fall into a graph; one call replays it, and the products follow each other."""
        self.say("The calls can be recorded once, to be replayed. Such a recording is called a CUDA graph.")
        area, (call, end) = self.area, (round(self.replay), 1000 * self.us["graph", SMALL])
        begin = np.linspace(call, end, self.count + 1)
        times = np.zeros(self.count, KERNEL)
        times["called"], times["begin"], times["end"] = 2 * end, begin[:-1], begin[1:]
        times["called"][0] = call
        self.two = two = self.lanes(times, call, 1.05 * end)
        record = fit(code(RECORD, 50, numbered=False), area.width).move_to(self.code, LEFT + UP)
        frame, tokens = graph = self.slots(0.92 * area.width)
        named = self.bold("CUDA graph: {n} calls recorded, none carried out yet", n=self.count)
        named.next_to(frame, UP, px(20))
        VGroup(named, graph).move_to([area.center[0], (record.get_bottom()[1] + self.floor) / 2, 0])
        self.play(Leave(self.code), Leave(self.ticking), FadeIn(record, frame, named))
        falling = (FadeIn(one, shift=px(80) * DOWN) for one in tokens)
        self.play(LaggedStart(*falling, lag_ratio=0.2, run_time=2.6))
        two.numbers.set_opacity(0.0)
        us = self.us["graph", SMALL]
        self.say("Now a single call starts all {count} products, and they take {us:.1f} microseconds.", us=us)
        self.ticking = self.clock(end)
        short = code([REPLAY], 50, numbered=False).move_to(self.code, LEFT)
        self.play(Fade(two, 0.0, 1.0), FadeIn(self.ticking, short), *map(Leave, (record, graph, named)))
        self.play(PlayTrace(self.ticking, two, until=end, run_time=3.4))
        held = self.word(
            "{each:.2f} µs each instead of {product:.2f}: a graph shortens the pauses between products.", 42,
            each=us / self.count,
        )  # fmt: skip
        self.below(held)
        self.leave(two, held, short, self.ticking)

    def larger_products(self) -> None:
        """Calls run ahead of longer products."""
        self.say(
            "With larger matrices, preparing calls costs little: "
            "the GPU is still busy when the next one arrives."
        )
        times = timeline(self.count, round(1000 * self.large), self.call_ns, 0)
        end = ROUNDS * 1000 * self.large
        self.two = self.lanes(times, self.call_ns, end)
        self.ticking = self.clock(end)
        queued = self.us["queued", LARGE]
        size = self.bold("{n} × {n}: a product takes {us:.1f} / {count} = {large:.2f} µs", n=LARGE, us=queued)
        size.move_to(self.code, LEFT)
        self.play(Fade(self.two, 0.0, 1.0), FadeIn(self.ticking, size))
        self.play(PlayTrace(self.ticking, self.two, until=end, run_time=3.6))
        both = self.word(
            "measured: {calls:.1f} µs for all {count}, only {more:.0%} more than {us:.1f} already queued",
            42, calls=self.us["calls", LARGE], us=queued, more=self.us["calls", LARGE] / queued - 1,
        )  # fmt: skip
        self.below(both)
        self.wait(2.5)
