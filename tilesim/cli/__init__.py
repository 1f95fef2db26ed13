"""The command line: `tilesim COMMAND ...`.

Exit codes: 0 for success, 1 for a failure, 2 for wrong usage, 130 after Ctrl-C, 143 after SIGTERM. Whatever
goes wrong is one line on stderr that starts with "error:".
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EPIPE
from importlib import import_module
from pkgutil import iter_modules
from types import FrameType, ModuleType
from typing import Any

import click

from tilesim.cli import commands
from tilesim.errors import TilesimError, unknown
from tilesim.version import __version__


class Group(click.Group):
    """The commands of a package: a file in it defines a click command named `command`."""

    def __init__(self, *args: Any, package: ModuleType, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = (module.name for module in iter_modules(self.package.__path__))
        return sorted({*self.commands, *(name.replace("_", "-") for name in names)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return (
            self.commands.get(cmd_name)
            or import_module(f"{self.package.__name__}.{cmd_name.replace('-', '_')}").command
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(unknown("command", args[0], self.list_commands(ctx)), ctx)
        for option in self.params:
            source = ctx.get_parameter_source(option.name or "")
            if args and source is click.core.ParameterSource.COMMANDLINE:
                raise click.UsageError(f"{option.opts[-1]} before {args[0]} has no effect; leave it out")
        return super().resolve_command(ctx, args)


class Commands(Group):
    """The commands, with one sentence for each way to fail."""

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra: Any) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        try:
            with stoppable():
                code = super().main(args, prog_name or "tilesim", complete_var, False, **extra)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(130)
        except Stopped:
            _fail("stopped by SIGTERM", 128 + signal.SIGTERM)  # as shells report it
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


class Stopped(BaseException):
    """The process was sent SIGTERM, as `kill`, `timeout` and job schedulers do."""


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM raises Stopped in here, once; where somebody else handles or ignores it, that stays."""
    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        # Whoever is impatient would otherwise interrupt the tidying up.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Stopped

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
