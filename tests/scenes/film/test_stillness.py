"""A film that stands still for longer than its words take to read is found, as is one whose figures run."""

from manim import Square
from reading import faults
from watching import watch

from tilesim_scenes import Badge, Film, Finding, PlayTrace
from tilesim_scenes.mobjects.words.count import Count


class Moves(Film):
    """A square goes to and fro, and halts for `halt` seconds between."""

    halt = 0.0

    def construct(self) -> None:
        self.title("Squares")
        square = Square()
        self.say("One square moves")
        self.play(square.animate(run_time=3).shift([1, 0, 0]))
        if self.halt:
            self.wait(self.halt)
        self.play(square.animate(run_time=3).shift([-1, 0, 0]))
        self.finding(Finding("It moved"))


class Halts(Moves):
    halt = 2.5


def test_a_film_in_motion_may_hold_its_title_and_its_card() -> None:
    seen = watch(Moves, "wide", moving=True)
    assert faults(seen) == []
    assert [round(until - since) for since, until in seen.still] == [2, 4]


def test_a_film_that_halts_is_told_where_and_how_much() -> None:
    found = faults(watch(Halts, "wide", moving=True))
    assert found[0].startswith("4.8 s: ") and "nothing moves" in found[0]


class Counts(Film):
    """Gigabytes that a square takes along, under a badge of some `kind`."""

    kind = "measured"

    def construct(self) -> None:
        self.title("Bytes")
        self.badge(Badge("somehow known", self.kind))
        count = Count("{:.1f} GB".format)
        self.add(count)
        self.play(PlayTrace(count, until=40, run_time=2))
        self.finding(Finding("They came"))


class CountsAModel(Counts):
    kind = "model"


def test_a_quantity_that_runs_under_measured_is_found() -> None:
    assert any("never measured" in fault for fault in faults(watch(Counts, "wide", moving=True)))


def test_a_quantity_of_a_model_may_run() -> None:
    assert faults(watch(CountsAModel, "wide", moving=True)) == []
