"""A job: a kernel with its plan of one product, ready for any operands."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
import triton
from triton.compiler import CompiledKernel
from triton.tools.tensor_descriptor import TensorDescriptor

from tilesim.kernel_config import KernelConfig
from tilesim.orders import rasterize
from tilesim.problems import Problem

from ..errors import KernelError
from .operands import Matrices, lines


@dataclass(frozen=True, slots=True, eq=False)
class KernelLaunch:
    """Launches a kernel once at each call.

    `arguments` come first in the kernel's signature, and A, B and C first of all, as tensors or descriptors,
    of which there may be more than one; `constants` are the rest by name, and options of the launch.

    The first call goes through Triton, which looks at each argument and compiles the kernel for them. Later
    calls launch the compiled kernel, which takes a third of the host's time.
    """

    config: KernelConfig
    kernel: Any
    ctas: int
    arguments: tuple[Any, ...]
    constants: dict[str, Any]
    made_of: tuple[int, ...] = (0, 1, 2)
    """Of which of A, B and C each of the first arguments is made."""
    compiled: list[tuple[Callable[..., None], tuple[Any, ...]]] = field(default_factory=list)
    """Empty, or one pair: what launches the compiled kernel, and its constants in the signature's order."""

    def __call__(self) -> None:
        """Raises KernelError where the tile needs more shared memory than the GPU has, or where this Triton
        cannot compile the kernel for it."""
        if not self.compiled:
            self._compile_and_launch()
            return
        launch, rest = self.compiled[0]
        launch(*self.arguments, *rest)

    def launch_with(self, matrices: Matrices, workspace: dict[str, Any]) -> None:
        """Launch with another workspace and other matrices, of the same shapes, strides, dtypes and
        alignment; nothing of that is checked.
        """
        if not self.compiled:
            self.bound_to(matrices, workspace)()
            return
        launch, rest = self.compiled[0]
        launch(*self._arguments_with(matrices, workspace), *rest)

    def bound_to(self, matrices: Matrices, workspace: dict[str, Any]) -> "KernelLaunch":
        """A launch that does so at each call."""
        return replace(self, arguments=tuple(self._arguments_with(matrices, workspace)))

    def _arguments_with(self, matrices: Matrices, workspace: dict[str, Any]) -> list[Any]:
        """`arguments` with these matrices, and with the workspace's tensors by name."""
        arguments = list(self.arguments)
        for i, matrix in enumerate(self.made_of):
            arguments[i] = _rebased(arguments[i], matrices[matrix])
        for name, value in workspace.items():
            arguments[self.kernel.arg_names.index(name)] = value
        return arguments

    def _compile_and_launch(self) -> None:
        made = self.compile()
        if not isinstance(made, CompiledKernel):  # Triton interprets
            return
        names = self.kernel.arg_names
        given = self.kernel.signature.bind_partial(
            *self.arguments, **{name: value for name, value in self.constants.items() if name in names}
        )
        given.apply_defaults()
        self.compiled.append((made[(self.ctas, 1, 1)], given.args[len(self.arguments) :]))

    def compile(self) -> Any:
        """Launch, and return what Triton made of the kernel; raises KernelError as a call does."""
        try:
            return self.kernel[(self.ctas,)](*self.arguments, **self.constants)
        except triton.runtime.errors.OutOfResources as short:
            tile = "x".join(map(str, self.config.tile))
            raise KernelError(
                f"tiles of {tile} with {self.config.stages} stages need {short.required} of {short.name}, and"
                f" this GPU has {short.limit}; take smaller tiles or fewer stages"
            ) from None
        except RuntimeError as failed:
            if "PassManager" not in str(failed):
                raise
            raise KernelError(
                f"Triton {triton.__version__} cannot compile {self.config} on this GPU"
            ) from None


def _rebased(old: Any, x: torch.Tensor) -> Any:
    """`old`, a tensor or a descriptor of one, for x."""
    if isinstance(old, torch.Tensor):
        return x
    # `copy` would take three times as long, and the constructor would check everything again.
    new = object.__new__(type(old))
    new.__dict__.update(old.__dict__, base=x)
    return new


COMPUTED_ORDERS = ("row-major", "column-major", "grouped")
"""Orders that a kernel computes; it reads others from a table, which costs 3 % at 4096x4096x512."""

Launch = Callable[[], object]
"""A function that launches once."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A kernel with its plan of one product.

    `rows`: the plan's segments, SEGMENT array, in the order of their stamps. `ctas`: thread blocks launched.
    `launcher(matrices, stamps=None)`: a KernelLaunch. It writes into `stamps`, int64 [rows, WORDS] and zero
    before, where given; KernelError for stamps of another size or kind. `workspace()`: a new workspace, the
    arguments by name that two concurrent launches must not share. `check()`: raises KernelError where a
    launch since the last check has failed on the GPU.
    """

    rows: np.ndarray
    ctas: int
    launcher: Callable[..., KernelLaunch]
    workspace: Callable[[], dict[str, torch.Tensor]] = dict
    check: Callable[[], None] = lambda: None


def refusing_stamps(launcher: Callable[[Matrices], KernelLaunch]) -> Callable[..., KernelLaunch]:
    """The launcher of a kernel that writes no stamps, and so has no segments to name."""

    def launch(matrices: Matrices, stamps: torch.Tensor | None = None) -> KernelLaunch:
        if stamps is not None:
            raise KernelError("this kernel writes no stamps; record a dedicated or a table-driven one")
        return launcher(matrices)

    return launch


NO_ROWS = np.empty(0)
"""The segments of such a kernel."""


def order_arguments(problem: Problem, matrices: Matrices) -> tuple[torch.Tensor | None, dict[str, Any]]:
    """(tiles in the order visited, None for computed orders; the kernel's constants ORDER and GROUP_M)."""
    order, _, group = problem.order.partition(":")
    table = None if order in COMPUTED_ORDERS else torch.from_numpy(rasterize(problem)).to(matrices[0].device)
    return table, dict(ORDER=order, GROUP_M=int(group or 1))


def operands_of(
    config: KernelConfig,
    dtype: str,
    kernel: Any,
    matrices: Matrices,
    make_descriptor: Callable[[torch.Tensor, list[int]], Any] = TensorDescriptor.from_tensor,
    boxes: tuple[tuple[int, int], ...] = (),
) -> tuple[list[Any], dict[str, Any]]:
    """(A, B and C as the kernel takes them; its arguments for transposed, strided or tf32 operands).

    `boxes`: rows and columns of A, B and C that it loads and stores at a time, where they do not follow from
    the configuration. Raises KernelError for operands that it cannot take.
    """
    bm, bn, bk = config.tile
    boxes = boxes or ((bm, bk), (bk, bn), (bm, bn // config.epilogue_subtiles))
    operands: list[Any] = []
    layout: dict[str, Any] = {"PRECISION": "tf32"} if dtype == "tf32" else {}
    for name, x, block in zip("abc", matrices, boxes, strict=True):
        view, trans = lines(x) or (x, False)
        rows, columns = reversed(block) if trans else block
        if view.stride(1) != 1 or (name == "c" and not x.is_contiguous()):
            raise KernelError(
                f"{name.upper()}'s strides are {x.stride()}; A and B need a dense dimension, and C dense rows"
            )
        if trans:
            layout[f"TRANS_{name.upper()}"] = True
        if config.loads == "tma":
            operands.append(make_descriptor(view, [rows, columns]))
            continue
        if (rows - 1) * view.stride(0) + columns > 2**31:
            raise KernelError(
                f"{rows} lines of {name.upper()} span 2^31 elements or more, which are too many for a tile"
            )
        operands.append(view)
        if view.stride(0) != view.shape[1]:
            layout[f"ld{name}"] = view.stride(0)
    if strange := layout.keys() - set(kernel.arg_names):
        raise KernelError(
            f"{config.name} takes dense, row-major A and B and no tf32; it has no"
            f" {', '.join(sorted(strange))}"
        )
    return operands, layout
