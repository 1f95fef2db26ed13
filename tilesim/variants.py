"""Variant: which kernel runs a schedule, and how."""

from __future__ import annotations

from dataclasses import dataclass

LOADS = ("tma", "ptr")
"""How a kernel loads its operands: by TMA, the Tensor Memory Accelerator, or through pointers."""

OWN, PLANNED = "own", "planned"
"""A kernel written for its schedule, and the one that reads any schedule's plan from a table."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a schedule; a matched pair differs in `schedule` and `overlap` alone.

    `loads`: one of LOADS, "" where not known. `overlap`: the next segment's loads fly during the epilogue;
    naive has no next one. `warps` a thread block has, and `stages` of K-steps that its loads run ahead; 0
    where not known. `kernel`: OWN, PLANNED, another kernel's name, or "" where not known.
    `epilogue_subtiles`: in how many parts an overlapping kernel writes a tile, so that C needs less shared
    memory beside the stages.

    >>> Variant("persistent", "tma", overlap=True).name, Variant("stream-k", "tma", kernel=PLANNED).name
    ('persistent-tma-overlap', 'planned-tma')
    """

    schedule: str
    loads: str = "tma"
    overlap: bool = False
    warps: int = 8
    stages: int = 3
    kernel: str = OWN
    epilogue_subtiles: int = 1

    @property
    def name(self) -> str:
        """Such as "persistent-tma-overlap" or "planned-tma-overlap"."""
        if self.kernel not in (OWN, PLANNED):
            return self.kernel
        kernel = self.schedule if self.kernel == OWN else self.kernel
        return f"{kernel}-{self.loads}" + "-overlap" * self.overlap + "-split" * (self.epilogue_subtiles - 1)

    @classmethod
    def named(cls, name: str, schedule: str, warps: int = 0, stages: int = 0) -> Variant:
        """The variant of `schedule` that was recorded under `name`, as a trace's meta has it.

        A name that is no such name, as of a kernel that others wrote, leaves `kernel` and `loads` "".

        >>> one = Variant.named("planned-tma-overlap", "stream-k", warps=8, stages=3)
        >>> one.kernel, one.loads, one.overlap, one.name
        ('planned', 'tma', True, 'planned-tma-overlap')
        >>> Variant.named("my_kernel", "naive").kernel
        ''
        """
        words = name.split("-")
        loads = next((word for word in words if word in LOADS), "")
        kernel = (PLANNED if words[0] == PLANNED else OWN) if loads else ""
        return cls(schedule, loads, "overlap" in words, warps, stages, kernel, 1 + ("split" in words))
