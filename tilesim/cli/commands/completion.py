"""`tilesim completion`: what makes a shell complete the words of a command line."""

import click
from click.shell_completion import get_completion_class

VARIABLE = "_TILESIM_COMPLETE"
"""The environment variable by which the shell asks the program for words; click derives it from its name."""


@click.command(short_help="Print what makes your shell complete names and files.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete commands, schedules, scenes, devices, orders and files.

    A line in the shell's own file switches it on:

    \b
    ~/.bashrc                   eval "$(tilesim completion bash)"
    ~/.zshrc                    eval "$(tilesim completion zsh)"
    ~/.config/fish/config.fish  tilesim completion fish | source
    """
    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(ctx.find_root().command, {}, "tilesim", VARIABLE).source())
