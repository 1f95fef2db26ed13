"""`tilesim completion`: the script that enables shell completion."""

import click
from click.shell_completion import get_completion_class


@click.command(short_help="Print the script that enables shell completion.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, schedules, scenes, devices, orders, and files.

    To enable it, add a line to the configuration file of your shell:

    \b
    ~/.bashrc                   eval "$(tilesim completion bash)"
    ~/.zshrc                    eval "$(tilesim completion zsh)"
    ~/.config/fish/config.fish  tilesim completion fish | source
    """
    kind = get_completion_class(shell)
    if kind is not None:
        # the environment variable through which the shell asks the program; click derives it from its name
        click.echo(kind(ctx.find_root().command, {}, "tilesim", "_TILESIM_COMPLETE").source())
