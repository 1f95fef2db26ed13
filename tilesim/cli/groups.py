"""A command that has subcommands, each found by its file."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import click

from tilesim.errors import unknown


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
                raise click.UsageError(
                    f"{option.opts[-1]} before {args[0]} has no effect there; leave it out"
                )
        return super().resolve_command(ctx, args)
