"""Commands of tilesim as tests run them: in this process."""

from click.testing import CliRunner, Result

from tilesim.cli import main


def tilesim(*args: object, code: int = 0) -> Result:
    """The result of a command that ends with `code`; one that fails prints one sentence and nothing else."""
    result = CliRunner().invoke(main, list(map(str, args)))
    assert result.exit_code == code, result.output
    if code:
        assert isinstance(result.exception, SystemExit) and result.stdout == ""
        assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    return result


def said(*args: object, code: int = 0) -> str:
    """What it prints, or the sentence of its error."""
    result = tilesim(*args, code=code)
    return result.stderr if code else result.stdout
