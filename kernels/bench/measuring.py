"""measuring: what all benches have in common: they need this machine's GPU, and their reports say which."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from ..measure.machine import facts
from ..measure.timing import require_gpu, working_gpu

P = ParamSpec("P")


def measuring(bench: Callable[P, dict[str, Any]]) -> Callable[P, dict[str, Any]]:
    """A bench whose report begins with "machine": see facts.

    Raises KernelError without an NVIDIA GPU, or where the GPU fails.
    """

    @wraps(bench)
    def measured(*args: P.args, **options: P.kwargs) -> dict[str, Any]:
        require_gpu()
        with working_gpu():
            return {"machine": facts()} | bench(*args, **options)

    return measured
