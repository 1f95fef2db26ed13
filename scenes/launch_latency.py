"""Launch latency: why does a GPU stand idle although a program keeps calling it?

manim render scenes/launch_latency.py

A Python loop calls 30 small products. Each call takes the CPU longer than the product takes the GPU, as the
same calls made beforehand show; a CUDA graph starts all of them with one call.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Create, FadeIn, LaggedStart, ManimColor, Mobject, VGroup

from tilesim.ideas.launch_latency import KERNEL, each, timeline
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.round_trip import code
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import ink_on, readable
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import edged, rectangle
from tilesim_scenes.mobjects.models.phase_rows import Calls
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Launch latency",
    "question": "Why does a GPU stand idle although a program keeps calling it?",
    "finding": (
        "On an H200, 30 small products take 2.9 times as long one by one as in a CUDA graph, because each"
        " call takes the CPU longer than the GPU multiplies."
    ),
    "part": "Schedules",
    "place": 160,
    "seconds": 73,
    "shows": "A loop of small products: its calls on the CPU, its products on the GPU, and one graph of all.",
    "takes": "report",
}
SMALL, LARGE = 1024, 2048
"""M, N and K of the products."""
LOOP = "for a, b, c in matrices:", "    torch.mm(a, b, out=c)"
GRAPH = "graph.replay()"
NAME = 130
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
        self.guard(us["calls", SMALL] > 1.5 * us["queued", SMALL], "the CPU's calls take most of the time")
        self.guard(abs(us["graph", SMALL] / us["queued", SMALL] - 1) < 0.1, "a graph keeps the GPU busy")
        self.guard(us["calls", LARGE] < 1.1 * us["graph", LARGE], "large products hide their calls")
        gaps = {kind: row(report, launch=kind, blocks=132)["ns"]["p50"] for kind in ("stream", "graph")}
        self.guard(gaps["graph"] < gaps["stream"], "within a graph, the next kernel begins sooner")
        self.replay = row(report, launch="host", what="CUDA graph")["ns"]["p50"]

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
            "graph, because each call takes the CPU longer than the GPU multiplies.",
            [(tr("30 calls"), self.us["calls", SMALL]), (tr("one graph"), self.us["graph", SMALL])],
            "times",
            "{:.1f} µs",
            self.measured(),
            tr("1024 × 1024 matrices of 16-bit numbers; the time of calls depends on the CPU"),
        )

    # The program, and how long it takes.

    def the_program(self) -> None:
        area, theme = self.area, self.theme
        self.code = fit(code(LOOP, 50, numbered=False), area.width)
        self.code.move_to([area.left, area.top - px(10), 0], LEFT + UP)
        side = px(210 if not self.narrow else 180)
        parts = VGroup()
        for text in ("a", "×", "b", "=", "c"):
            letter = label(text, 60, bold=True, mono=text.isalpha())
            if text.isalpha():
                fill = self.hue if text == "c" else theme.hand_over
                letter = VGroup(rectangle(side, side, fill), letter.set_color(ManimColor(ink_on(fill))))
            parts.add(letter)
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

    def two_times(self) -> None:
        """The loop's time, and that of the same products whose calls were made beforehand."""
        area, loop, queued = self.area, self.us["calls", SMALL], self.us["queued", SMALL]
        rows = [(tr("the program"), loop, "measured"), (tr("calls made before"), queued, "measured")]
        bars = Bars(rows, width=area.width, row=px(140 if self.narrow else 190), size=48, form="{:.1f} µs")
        bars.move_to([area.center[0], (self.code.get_bottom()[1] + area.bottom) / 2, 0])
        bars.shift(px(40) * self.narrow * UP)
        about = self.word("The GPU is kept busy with other work until all calls are there.", 42)
        about.move_to([area.center[0], area.bottom + about.height / 2, 0])
        self.say(
            "The loop runs on the CPU, and each turn calls the GPU. All {count} take {us:.1f} microseconds.",
            us=loop,
        )
        self.badge(self.measured())
        self.play(bars.grow(0, run_time=2.5))
        self.say(
            "If all calls are made beforehand, the GPU needs only {us:.1f}. So the calls leave it idle.",
            us=queued,
        )
        self.play(bars.grow(1, run_time=2.0), FadeIn(about))
        idle = self.bold("{us:.1f} µs less", 48, us=loop - queued)
        idle.next_to(bars.figures[1], DOWN if self.narrow else RIGHT, px(50 if not self.narrow else 34))
        self.play(FadeIn(idle), run_time=0.3)
        self.leave(bars, about, idle)

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
        """The first call, large, and what it consists of."""
        theme, call = self.theme, self.call_ns
        self.entries = [
            Entry(tr("call"), [theme.launch]),
            Entry(tr("product"), [self.hue]),
            Entry(tr("the GPU waits"), [theme.wait]),
        ]
        key = self.key(*self.entries)
        times = timeline(self.count, round(1000 * self.product), call, 0)
        self.two = two = self.lanes(times, call, 1.1 * call)
        self.ticking = self.clock(1000 * self.us["calls", SMALL])
        self.say("A call checks the matrices, picks a program for the GPU, and puts it into a queue.")
        self.badge(Badge(tr("model of measured times"), "model"))
        self.play(*key, Fade(two, 0.0, 1.0), FadeIn(self.ticking))
        two.numbers.set_opacity(0.0)
        third = two.cpu.width / 1.1 / 3
        names = VGroup()
        for number, text in enumerate((tr("checks"), tr("picks a program"), tr("queues it"))):
            name = lines(text, 44, 0.92 * third, color=ink_on(theme.launch), bold=True)
            names.add(name.move_to([two.x((number + 0.5) / 3 * call), two.cpu.get_y(), 0]))
        about = self.word("Only all three together were measured.", 40)
        about.next_to(two.gpu, DOWN, px(20)).align_to(two.cpu, RIGHT)
        for number, name in enumerate(names, 1):
            self.play(PlayTrace(self.ticking, two, until=number * call / 3, run_time=1.2))
            self.play(FadeIn(name, *([about] if number == 3 else [])), run_time=0.3)
        self.leave(names, about)

    def next_calls(self) -> None:
        """The first product runs under the second call."""
        self.say("The CPU doesn't wait for the result. While the GPU multiplies, it prepares the next call.")
        self.two.numbers.set_opacity(1.0)
        self.play(Zoom(self.two, window=(0.0, 2.2 * self.call_ns)))
        self.play(PlayTrace(self.ticking, self.two, until=2.0 * self.call_ns, run_time=3.4))

    def idle_between(self) -> None:
        self.say("But a call takes {call:.2f} microseconds and a product {product:.2f}, so the GPU waits.")
        end = ROUNDS * self.call_ns
        self.play(Zoom(self.two, window=(0.0, end)))
        self.play(PlayTrace(self.ticking, self.two, until=end, run_time=4.0))
        ink = readable(self.theme.wait_text)
        waits = self.word(
            "each time {waits:.2f} of {call:.2f} µs, so {share:.0%} of the time", 46, ink, bold=True
        )
        self.below(waits)
        self.wait(1.0)
        self.leave(waits, self.two)

    def as_a_graph(self) -> None:
        """The loop becomes one line; one call, and the products follow each other."""
        self.say("The calls can be recorded once and replayed later. Such a record is a CUDA graph.")
        short = code([GRAPH], 50, numbered=False).move_to(self.code, LEFT)
        area, (call, end) = self.area, (round(self.replay), 1000 * self.us["graph", SMALL])
        begin = np.linspace(call, end, self.count + 1)
        times = np.zeros(self.count, KERNEL)
        times["called"], times["begin"], times["end"] = call, begin[:-1], begin[1:]
        self.two = two = self.lanes(times, call, 1.05 * end)
        self.play(Leave(self.code), Leave(self.ticking), *self.key(*self.entries[:2]))
        self.play(FadeIn(short), run_time=0.5)
        about = self.word("The matrices stay at their places in memory; their numbers may change.", 42)
        about.next_to(short, DOWN, px(20), aligned_edge=LEFT)
        tokens = VGroup(*(rectangle(px(36), px(100), self.theme.launch) for _ in range(self.count)))
        fit(tokens.arrange(RIGHT, buff=px(12)), 0.92 * area.width).move_to(two.gpu).set_x(area.center[0])
        frame = rectangle(tokens.width + px(48), tokens.height + px(48)).move_to(tokens)
        edged(frame, self.theme.text, 5)
        named = self.bold("CUDA graph: a record of {n} calls", n=self.count).next_to(frame, UP, px(20))
        falling = (FadeIn(one, shift=px(80) * DOWN) for one in tokens)
        self.play(LaggedStart(*falling, lag_ratio=0.2, run_time=2.2))
        self.play(Create(frame), FadeIn(named), run_time=0.8)
        self.play(FadeIn(about), run_time=0.4)
        two.numbers.set_opacity(0.0)
        us = self.us["graph", SMALL]
        self.say("Now a single call starts all {count} products, and they take {us:.1f} microseconds.", us=us)
        self.ticking = self.clock(end)
        self.play(Fade(two, 0.0, 1.0), FadeIn(self.ticking), *map(Leave, (about, tokens, frame, named)))
        self.play(PlayTrace(self.ticking, two, until=end, run_time=3.4))
        less = self.word("even less than the {us:.1f}, as pauses between products are shorter, too", 42,
                         us=self.us["queued", SMALL])  # fmt: skip
        self.below(less)
        self.wait(2.5)
        self.leave(two, less, short, self.ticking)

    def larger_products(self) -> None:
        """Calls run ahead of longer products."""
        self.say("Larger products hide their calls, because each takes longer than a call.")
        times = timeline(self.count, round(1000 * self.large), self.call_ns, 0)
        end = ROUNDS * 1000 * self.large
        self.two = self.lanes(times, self.call_ns, end)
        self.ticking = self.clock(end)
        size = self.bold(
            "{n} × {n}: a product takes {product:.2f} µs, a call {call:.2f}", n=LARGE, product=self.large
        )
        size.move_to(self.code, LEFT)
        self.play(Fade(self.two, 0.0, 1.0), FadeIn(self.ticking, size))
        self.play(PlayTrace(self.ticking, self.two, until=end, run_time=3.6))
        both = self.word(
            "{count} of them: {calls:.1f} µs one by one, {graph:.1f} in a graph (both measured)", 42,
            calls=self.us["calls", LARGE], graph=self.us["graph", LARGE],
        )  # fmt: skip
        self.below(both)
        self.wait(2.5)
