"""A sweep's table as CSV, JSON and Parquet. Nothing but Parquet needs a package: pyarrow."""

import csv
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, BinaryIO, get_args

from tilesim.analysis.sweep import Row
from tilesim.errors import TilesimError
from tilesim.version import __version__


def as_csv(rows: Sequence[Row]) -> str:
    """A header and a line for each row; what is None is empty."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(Row._fields)
    table.writerows(rows)
    return text.getvalue()


def as_json(rows: Sequence[Row], seed: int) -> str:
    """A list with an object for each row, a row a line: its columns, and how they were made."""
    made = {"origin": "simulated", "seed": seed, "tilesim": __version__}
    lines = (json.dumps(row._asdict() | made, ensure_ascii=False) for row in rows)
    return "[\n" + ",\n".join(lines) + "\n]"


def writer(path: str) -> Callable[[Sequence[Row], BinaryIO], None]:
    """What writes rows in the format that `path` ends in; CSV where it has no ending.

    Raises TilesimError, saying what to install, where that is Parquet and pyarrow is missing.
    """
    if Path(path).suffix.lower() != ".parquet":
        return lambda rows, file: _write(file, as_csv(rows).encode())
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise TilesimError(
            f"cannot write {path} ({reason}); Parquet needs pyarrow; install it with: pip install '.[tables]'"
        ) from None
    return lambda rows, file: parquet.write_table(_arrow(arrow, rows), file)


def _write(file: BinaryIO, text: bytes) -> None:
    file.write(text)


def _arrow(arrow: Any, rows: Sequence[Row]) -> Any:
    """The rows as a pyarrow.Table, each column of its type even where nothing but None is in it."""
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    fields = [
        (name, kinds[get_args(kind)[0] if get_args(kind) else kind])
        for name, kind in Row.__annotations__.items()
    ]
    return arrow.table(list(map(list, zip(*rows, strict=True))), schema=arrow.schema(fields))
