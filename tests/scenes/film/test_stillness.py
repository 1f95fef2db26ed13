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


def test_a_film_may_hold_its_title_and_its_card_and_is_told_where_else_it_halts_and_how_much() -> None:
    seen = watch(Moves, "wide", moving=True)
    assert faults(seen) == []
    assert [round(until - since) for since, until in seen.still] == [2, 4]
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


def test_a_quantity_may_run_under_model_and_not_under_measured() -> None:
    assert any("never measured" in fault for fault in faults(watch(Counts, "wide", moving=True)))
    assert faults(watch(CountsAModel, "wide", moving=True)) == []
