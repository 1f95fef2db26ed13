"""A command that has subcommands."""

import click

from tilesim.errors import unknown


class Group(click.Group):
    """Says which subcommand was meant, and refuses its own options in front of one."""

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
