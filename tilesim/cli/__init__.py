"""The command line: `tilesim COMMAND ...`.

Exit codes: 0 for success, 1 for a failure, 2 for wrong usage, 130 after Ctrl-C, 143 after SIGTERM. Whatever
goes wrong is one line on stderr that starts with "error:".
"""

import os
import sys
from collections.abc import Sequence
from errno import EPIPE
from typing import Any

import click

from tilesim.cli import commands
from tilesim.cli.groups import Group
from tilesim.cli.signals import EXIT_CODE, Stopped, stoppable
from tilesim.errors import TilesimError
from tilesim.version import __version__


class Commands(Group):
    """The commands, with one sentence for each way to fail."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        try:
            with stoppable():
                code = super().main(args, prog_name or "tilesim", complete_var, False, **extra)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(130)
        except Stopped:
            _fail("stopped by SIGTERM", EXIT_CODE)
        except click.ClickException as error:
            _fail(error.format_message(), error.exit_code)
        except TilesimError as error:
            _fail(str(error), 1)
        except MemoryError:
            _fail("there is not enough memory for this; take a smaller problem", 1)
        except OSError as error:
            if error.errno == EPIPE:
                _silence(sys.stdout)
                sys.exit(1)
            _fail(f"cannot use {error.filename or 'the output'}: {error.strerror or error}", 1)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(sentence: str, code: int) -> None:
    """Say `sentence` on stderr in one line and exit with `code`."""
    # A path may hold what would steer the terminal.
    words = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(sentence.split()))
    click.echo(f"error: {words}", err=True)
    _silence(sys.stdout)
    sys.exit(code)


def _silence(stream: Any) -> None:
    """Let what a stream could not write go nowhere, or Python reports it once more as it exits."""
    try:
        stream.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@click.group(
    "tilesim",
    cls=Commands,
    package=commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="tilesim %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Which thread block computes which output tile of a matrix product, on which SM, and when."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
