"""The parameters of the films of ideas; each film says which it has, and what they may be."""

from collections.abc import Callable
from typing import Any

import click

PARAMETERS = {
    "warps": "On an SM, or of a thread block.",
    "stride": "Elements from one thread's address to the next.",
    "functions": "Of a chain.",
}


def parameter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for each parameter."""
    for name, about in reversed(PARAMETERS.items()):
        command = click.option(f"--{name}", type=int, metavar="COUNT", help=about + "  [the film's own]")(
            command
        )
    return command
