"""A job: a kernel with its plan of one product, ready for any operands."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
import triton
from triton.compiler import CompiledKernel

from tilesim.kernel_config import KernelConfig

from ..errors import KernelError
from .operands import Matrices


@dataclass(frozen=True, slots=True, eq=False)
class KernelLaunch:
    """Launches a kernel once at each call: the first time through Triton, which looks at each argument, and
    later the compiled kernel, which takes a third of the host's time.

    `arguments` come first in the kernel's signature, and A, B and C first of all, as tensors or descriptors,
    of which there may be more than one; `constants` are the rest by name, and options of the launch.
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
        """Raises KernelError for a tile with too much shared memory, or that this Triton cannot compile."""
        if self.compiled:
            launch, rest = self.compiled[0]
            launch(*self.arguments, *rest)
            return
        made = self.compile()
        if not isinstance(made, CompiledKernel):  # Triton interprets
            return
        names = self.kernel.arg_names
        given = self.kernel.signature.bind_partial(
            *self.arguments, **{name: value for name, value in self.constants.items() if name in names}
        )
        given.apply_defaults()
        self.compiled.append((made[(self.ctas, 1, 1)], given.args[len(self.arguments) :]))

    def launch_with(self, matrices: Matrices, workspace: dict[str, Any]) -> None:
        """Launch with another workspace and other matrices, of the same shapes, strides, dtypes and
        alignment; nothing of that is checked."""
        if self.compiled:
            launch, rest = self.compiled[0]
            launch(*self._arguments_with(matrices, workspace), *rest)
        else:
            self.bound_to(matrices, workspace)()

    def bound_to(self, matrices: Matrices, workspace: dict[str, Any]) -> "KernelLaunch":
        """A launch that does so at each call."""
        return replace(self, arguments=tuple(self._arguments_with(matrices, workspace)))

    def _arguments_with(self, matrices: Matrices, workspace: dict[str, Any]) -> list[Any]:
        """`arguments` with these matrices, and with the workspace's tensors by name."""
        arguments = list(self.arguments)
        for i, matrix in enumerate(self.made_of):
            old, x = arguments[i], matrices[matrix]
            arguments[i] = x
            if not isinstance(old, torch.Tensor):
                # `copy` would take three times as long, and the constructor would check everything again.
                arguments[i] = object.__new__(type(old))
                arguments[i].__dict__.update(old.__dict__, base=x)
        for name, value in workspace.items():
            arguments[self.kernel.arg_names.index(name)] = value
        return arguments

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


Launch = Callable[[], object]

Workspace = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A kernel with its plan of one product.

    `rows`: the plan's segments, SEGMENT array, in the order of their stamps. `ctas`: thread blocks launched.
    `launcher(matrices, stamps=None)`: a KernelLaunch. It writes into `stamps`, dense int64 [rows, WORDS] and
    zero before, where given. `workspace()`: a new workspace, the arguments by name that two concurrent
    launches must not share. `check()`: raises KernelError where a launch since the last check has failed on
    the GPU.
    """

    rows: np.ndarray
    ctas: int
    launcher: Callable[..., KernelLaunch]
    workspace: Callable[[], Workspace] = dict
    check: Callable[[], None] = lambda: None


NO_ROWS = np.empty(0)
