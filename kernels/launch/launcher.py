"""A run: what launches a kernel, at each call, and with as little work for the host as Triton allows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import triton
from triton.compiler import CompiledKernel

from tilesim.problems import Problem

from ..errors import KernelError
from .operands import Matrices
from .variants import Variant


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Launches a kernel once at each call.

    `arguments` come first in the kernel's signature, and A, B and C first of all, as tensors or descriptors;
    `constants` are the rest by name, and options of the launch.

    The first call has Triton look at each argument, and compile the kernel for what they are. Later ones
    launch what came of that, which takes a third of the host's time.
    """

    what: Variant
    problem: Problem
    kernel: Any
    ctas: int
    arguments: tuple[Any, ...]
    constants: dict[str, Any]
    compiled: list[tuple[Callable[..., None], tuple[Any, ...]]] = field(default_factory=list)
    """Once it is known, what launches, and the values of `constants` in the signature's order."""

    def __call__(self) -> None:
        """Raises KernelError where the tile needs more shared memory than the GPU has, or where this Triton
        cannot compile the kernel for it."""
        if not self.compiled:
            self._compile_and_launch()
            return
        launch, rest = self.compiled[0]
        launch(*self.arguments, *rest)

    def again(self, matrices: Matrices, room: dict[str, Any]) -> None:
        """The same with other matrices, whose shapes, strides, dtypes and alignment must be as before, and
        other arguments, by name, in place of those that two launches must not share."""
        if not self.compiled:
            self.on(matrices, room)()
            return
        launch, rest = self.compiled[0]
        launch(*self._with(matrices, room), *rest)

    def on(self, matrices: Matrices, room: dict[str, Any]) -> "Run":
        """What does that at each call."""
        return replace(self, arguments=tuple(self._with(matrices, room)))

    def _with(self, matrices: Matrices, room: dict[str, Any]) -> list[Any]:
        """The arguments, with these in place of those."""
        arguments = list(self.arguments)
        for i, x in enumerate(matrices):
            arguments[i] = _moved(arguments[i], x)
        for name, value in room.items():
            arguments[self.kernel.arg_names.index(name)] = value
        return arguments

    def _compile_and_launch(self) -> None:
        made = self._compile()
        if not isinstance(made, CompiledKernel):  # Triton interprets
            return
        names = self.kernel.arg_names
        given = self.kernel.signature.bind_partial(
            *self.arguments, **{name: value for name, value in self.constants.items() if name in names}
        )
        given.apply_defaults()
        self.compiled.append((made[(self.ctas, 1, 1)], given.args[len(self.arguments) :]))

    def _compile(self) -> Any:
        """Launch, and return what Triton made of the kernel."""
        try:
            return self.kernel[(self.ctas,)](*self.arguments, **self.constants)
        except triton.runtime.errors.OutOfResources as short:
            what, problem = self.what, self.problem
            raise KernelError(
                f"tiles of {'x'.join(map(str, problem.tile))} in {problem.dtype} with {what.stages} stages"
                f" need {short.required} of {short.name}, and this GPU has {short.limit}; take smaller"
                " tiles or fewer stages"
            ) from None
        except RuntimeError as failed:
            if "PassManager" not in str(failed):
                raise
            raise KernelError(
                f"Triton {triton.__version__} cannot compile {self.what.name} for {self.problem} on this GPU"
            ) from None


def _moved(old: Any, x: torch.Tensor) -> Any:
    """`old`, a tensor or a descriptor of one, for x."""
    if isinstance(old, torch.Tensor):
        return x
    # Neither checked again, nor copied by `copy`, which takes three times as long.
    new = object.__new__(type(old))
    new.__dict__.update(old.__dict__, base=x)
    return new
