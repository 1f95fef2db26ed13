"""KernelConfig: which kernel computes a product, under which schedule, in which tiles, and how."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any

from tilesim import orders
from tilesim.errors import KernelConfigError, shown
from tilesim.problems import Problem, Size
from tilesim.products import Product
from tilesim.storage.decode import between, check, one_of

LOADS = ("tma", "ptr")
"""How a kernel loads its operands: by the Tensor Memory Accelerator, or through pointers."""
TABLE = "table"
"""The table-driven kernel, which runs the plan of any schedule."""
RENAMED = {"planned": TABLE, "specialised": "warp-specialized"}
"""Kernels by the names that files of versions before 0.2 have. "own" stood for the schedule's own kernel."""


def current_name(name: str) -> str:
    """What a kernel is called today that files of versions before 0.2 call `name`."""
    return re.sub(r"^(planned|specialised)\b", lambda found: RENAMED[found[0]], name)


MAX_WARPS, MAX_STAGES, MAX_SUBTILES = 32, 64, 2

SPLITTING = ("split-k", "stream-k", "stream-k-hybrid")
"""Schedules that can split tiles. Where their plan splits none, other kernels run it."""
SPELLING = re.compile(
    r"(\S*) (.*?) (\d{1,12})x(\d{1,12})x(\d{1,12}) (\S+) (\d{1,2}) warps (\d{1,2}) stages (\S*)( overlap)?"
    r"(?: (\d) subtiles)?"
)
"""What `str` makes of a configuration, but for the "?" of what is not known."""


@dataclass(frozen=True, slots=True)
class KernelConfig:
    """A kernel as it is launched. Two configurations are compared fairly if they differ in one field.

    `kernel`: a name of tilesim.gemm; "" if not known. `tile`: (tile_m, tile_n, tile_k). `order`: in which
    tiles are visited. `warps`: those of a thread block that multiply, and `stages`: K-steps that its loads
    run ahead; 0 if not known. `loads`: one of LOADS, or "". `overlap`: the next tile's loads run during the
    epilogue. `epilogue_subtiles`: into how many parts an overlapping kernel divides the tile that it writes.

    Raises KernelConfigError for a value out of range, ProblemError for an unknown order.
    """

    kernel: str
    schedule: str
    tile: tuple[Size, Size, Size]
    order: str = "row-major"
    warps: Annotated[int, between(0, MAX_WARPS)] = 8
    stages: Annotated[int, between(0, MAX_STAGES)] = 3
    loads: Annotated[str, one_of(LOADS, empty=True)] = "tma"
    overlap: bool = False
    epilogue_subtiles: Annotated[int, between(1, MAX_SUBTILES)] = 1

    def __post_init__(self) -> None:
        check(self, KernelConfigError)
        if self.warps & (self.warps - 1):
            raise KernelConfigError(f"warps is {self.warps}; it must be a power of two up to {MAX_WARPS}")
        orders.check(self.order)

    def problem(self, product: Product) -> Problem:
        """`product` in the tiles and the order of this kernel."""
        return Problem(product.m, product.n, product.k, self.tile, product.dtype, self.order)

    @property
    def name(self) -> str:
        """What recordings and reports call the kernel.

        >>> KernelConfig("persistent", "persistent", (128, 256, 64), overlap=True).name
        'persistent-tma-overlap'
        >>> KernelConfig("ping-pong", "persistent", (128, 128, 64)).name
        'ping-pong'
        """
        if self.kernel not in ("naive", "persistent", TABLE):
            return self.kernel
        name = f"{self.kernel}-{self.loads}" + "-overlap" * self.overlap
        return name + "-split" * (self.epilogue_subtiles - 1)

    def __str__(self) -> str:
        """Its one spelling, which `parse` reads."""
        words = [
            self.kernel or "?", self.schedule or "?", "x".join(map(str, self.tile)), self.order,
            f"{self.warps} warps", f"{self.stages} stages", self.loads or "?",
        ]  # fmt: skip
        words += ["overlap"] * self.overlap
        words += [f"{self.epilogue_subtiles} subtiles"] * (self.epilogue_subtiles > 1)
        return " ".join(words)

    @classmethod
    def parse(cls, text: str) -> KernelConfig:
        """The configuration that `str` writes so; raises KernelConfigError for any other text."""
        known = text.replace("?", "") if isinstance(text, str) else ""
        found = SPELLING.fullmatch(known)
        one = None
        if found:
            kernel, schedule, m, n, k, order, warps, stages, loads, overlap, subtiles = found.groups()
            tile = int(m), int(n), int(k)
            counts = int(warps), int(stages)
            one = cls(kernel, schedule, tile, order, *counts, loads, bool(overlap), int(subtiles or 1))
        if one is None or str(one) != text:
            raise KernelConfigError(
                f"the kernel's configuration is {shown(text)}; it must be written as 'persistent persistent"
                " 128x256x64 grouped:8 8 warps 3 stages tma overlap'"
            )
        return one

    @classmethod
    def of_fields(cls, values: Mapping[str, Any]) -> KernelConfig:
        """The configuration of a mapping that has its fields among others, by the names of any version.
        Raises KeyError for a field that is missing, and what the configuration raises.

        >>> old = {"kernel": "own", "schedule": "naive", "tile": [64, 64, 64], "order": "row-major"}
        >>> KernelConfig.of_fields(old | dict(warps=4, stages=3, loads="tma", overlap=False)).kernel
        'naive'
        """
        found = {field.name: values[field.name] for field in fields(cls) if field.name != "epilogue_subtiles"}
        kernel, schedule = found["kernel"], found["schedule"]
        if isinstance(kernel, str) and isinstance(schedule, str):
            found["kernel"] = schedule if kernel == "own" else RENAMED.get(kernel, kernel)
        return cls(**found, epilogue_subtiles=values.get("epilogue_subtiles", 1))

    @classmethod
    def named(cls, name: str, schedule: str, tile: tuple[int, int, int]) -> KernelConfig:
        """The configuration that was recorded under `name`, of any version; warps and stages are not known,
        nor are `kernel` and `loads` of a name that is none of tilesim's.

        >>> one = KernelConfig.named("planned-tma-overlap", "stream-k", (128, 256, 64))
        >>> one.kernel, one.loads, one.overlap, one.name
        ('table', 'tma', True, 'table-tma-overlap')
        >>> KernelConfig.named("my_kernel", "naive", (128, 256, 64)).kernel
        ''
        """
        kernel, *words = name.split("-")
        loads = next((word for word in words if word in LOADS), "")
        found = RENAMED.get(kernel, kernel) if loads else ""
        return cls(
            found, schedule, tile, warps=0, stages=0, loads=loads, overlap="overlap" in words,
            epilogue_subtiles=1 + ("split" in words),
        )  # fmt: skip

    @classmethod
    def noted(cls, meta: Mapping[str, Any], schedule: str, problem: Problem) -> KernelConfig:
        """The configuration that a trace's meta notes in `kernel`, `warps` and `stages`, as versions before
        0.2 wrote them. What makes no sense there is not known."""
        found = cls.named(str(meta.get("kernel", "")), schedule, problem.tile)
        found = replace(found, order=problem.order)
        try:
            return replace(found, warps=meta.get("warps", 0), stages=meta.get("stages", 0))
        except KernelConfigError:
            return found

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"tile": list(self.tile)}
