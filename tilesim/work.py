"""Work: what a run computes, a matrix product in tiles (`Problem`) or a list of other items (`WorkItems`)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

from tilesim.errors import ProblemError, TilesimError
from tilesim.problems import MAX_SIZE, Problem
from tilesim.storage.decode import FILLED, Rule, between, check, decode, text
from tilesim.text import plural

LONGEST_ITEM = 200
"""Characters of a work item's name."""
NOT_BLANK = Rule(lambda name: not name.isspace(), " that is not blank")


@dataclass(frozen=True, slots=True)
class WorkItems:
    """Items of work that is no matrix product: their names and, if known, their sizes in whatever unit. They
    have no schedule; their runs are read, drawn and compared.

    Raises ProblemError for items without names, and for sizes that are not one for each.
    """

    items: Annotated[tuple[Annotated[str, text(1, LONGEST_ITEM), NOT_BLANK], ...], FILLED]
    sizes: tuple[Annotated[int, between(0, MAX_SIZE)], ...] = ()

    def __post_init__(self) -> None:
        check(self, ProblemError)
        if self.sizes and len(self.sizes) != self.tiles:
            raise ProblemError(
                f"there are {self.title} and {plural(len(self.sizes), 'size')}; each has one, or none has"
            )

    tiles_n: ClassVar = 1
    k_steps: ClassVar = 1
    order: ClassVar = "row-major"
    noun: ClassVar = "item"

    @property
    def tiles(self) -> int:
        return len(self.items)

    tiles_m = tiles

    @property
    def title(self) -> str:
        return plural(self.tiles, "work item")

    @property
    def parts(self) -> str:
        """What is computed, and in what parts."""
        sizes = f"; their sizes add up to {sum(self.sizes)}" if self.sizes else ""
        return f"{self.title}, no matrix product{sizes}"

    def called(self, tile: int) -> str:
        return self.items[tile]

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}


Work = Problem | WorkItems
"""Numbered tiles or items, laid out in rows and columns, of K-steps each."""


def gemm_of(work: Work) -> Problem:
    """`work` where it is a matrix product; ProblemError for any other, which has no schedule and no costs."""
    if not isinstance(work, Problem):
        raise ProblemError(f"{work.title} have no schedule: only a matrix product is planned and simulated")
    return work


def decode_work(values: Mapping[str, Any], error: type[TilesimError]) -> Work:
    """The work that `as_json` describes; files of versions before 0.2 have items as tiles of 1x1x1."""
    if values.get("items"):
        return WorkItems(values["items"], values.get("sizes", ()))
    # The tile would have a default, which a file may not leave to us.
    return decode(Problem, {"tile": None} | dict(values), "the problem", error)
