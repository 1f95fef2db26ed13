"""`tilesim sweep`: simulate many combinations, and show them as a table or a chart."""

import csv
import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, get_args

import click

from tilesim.analysis.sweep import (
    DEVICE_AXES,
    MAX_COMBINATIONS,
    PROBLEM_AXES,
    SIZES,
    Row,
    blank,
    combinations,
    sweep,
)
from tilesim.cli.arguments import options as shared
from tilesim.cli.arguments import schedule_files
from tilesim.cli.arguments.film_targets import theme_option
from tilesim.cli.arguments.parameter_types import DEVICES, DTYPES, ORDER, SCHEDULE, TILE_SHAPE, Names, Text
from tilesim.cli.jobs import jobs_option
from tilesim.cli.output.figures import progress, wrote
from tilesim.cli.packages import load
from tilesim.devices.device import Device
from tilesim.errors import CostsError, SweepError, TilesimError, whole
from tilesim.parallel import cores
from tilesim.storage import files
from tilesim.text import plural
from tilesim.version import __version__


def _span(found: re.Match[str]) -> Sequence[int | str]:
    word = found[0].lower()
    if ":" not in word:
        return [int(word) if word.isdigit() else word]
    first, last, step = (*map(int, word.split(":")), 1)[:3]
    if not step or first > last:
        raise click.BadParameter(f"the range {word!r} has no values; write it as from:to:step")
    values = range(first, last + 1, step)
    if len(values) > MAX_COMBINATIONS:
        most = f"a sweep has at most {MAX_COMBINATIONS}"
        raise click.BadParameter(f"the range {word!r} has {len(values)} values; {most}")
    return values


class Numbers(Names):
    """Whole numbers and ranges of them, from:to or from:to:step with both ends, and `others`."""

    def __init__(self, *others: str) -> None:
        choices = " or ".join(["a number", "a range such as 128:8192:128", *map(repr, others)])
        form = "|".join([r"[0-9]{1,15}(:[0-9]{1,15}){0,2}", *others])
        super().__init__(Text("SIZES", f"(?i:{form})", f"not {choices}", _span))

    def convert(self, value: Any, param: Any, ctx: Any) -> Sequence[int | str]:
        return list(chain.from_iterable(super().convert(value, param, ctx)))


SAWTOOTH = {"m": [1536], "n": range(256, 11520 + 1, 256), "k": [4096]}
"""12 rows of tiles, so 11 columns fill the 132 SMs of the default device; a little over four waves."""
SCHEDULES = ["persistent", "stream-k"]
FRAMES = ("1080p", "720p", "480p")
NAMED = "Schedules, such as naive,split-k:2,mine.py:snake."
COLUMNS = "Columns of B and C, or m for as many as rows."
GPU = f"{shared.DEVICE}, unless --sms is given"
AXES = (
    ("schedule", "NAMES", Names(SCHEDULE), NAMED, ",".join(SCHEDULES)),
    ("m", "SIZES", Numbers(), "Rows of A and C, such as 128,512 or 256:8192:256.", 1536),
    ("n", "SIZES", Numbers("m"), COLUMNS, "256:11520:256, or m if --m or --k is given"),
    ("k", "SIZES", Numbers("m", "n"), "Columns of A, rows of B, or m or n for the same.", 4096),
    ("tile", "MxNxK", Names(TILE_SHAPE), "Output tiles, and sizes of a K-step.", shared.TILE),
    ("order", "NAMES", Names(ORDER), "Rasterization orders.", shared.PROBLEM.order),
    ("dtype", "NAMES", Names(DTYPES), "Data types of A and B.", shared.PROBLEM.dtype),
    ("device", "NAMES", Names(DEVICES), "GPUs; `tilesim list` shows them.", GPU),
    ("sms", "COUNTS", Numbers(), "Numbers of SMs, of the GPUs of --device or of an H200.", ""),
    ("ctas-per-sm", "COUNTS", Numbers(), "Thread blocks that an SM holds at once.", 1),
)


def _joined(ctx: Any, param: Any, groups: Sequence[Sequence[Any]]) -> list[Any] | None:
    return list(dict.fromkeys(chain.from_iterable(groups))) or None


@click.command(short_help="Simulate many combinations, as a table or a chart.")
@shared.listed(AXES, multiple=True, callback=_joined)
@shared.costs_options
@shared.output_option(
    shared.TABLE_FILE, "Write the table to this file (.csv, .parquet).  [standard output, as CSV]"
)
@shared.output_option(shared.PICTURE_FILE, "Write a chart of the table to this file (.png).", "--picture")
@theme_option
@click.option("--size", type=click.Choice(FRAMES), default="1080p", help="Size of the chart.  [1080p]")
@jobs_option
@shared.json_option
def command(
    output: str | None, picture: str | None, theme: str, size: str, jobs: int | None, as_json: bool,
    costs: str | None, seed: int, **options: Any,
) -> None:  # fmt: skip
    """Simulate every combination of the given values, and write a row of metrics for each.

    The options of schedule, problem, and device take several values: separated by commas, as a range
    from:to:step that includes both ends, or by repeating the option. `--m 256:8192:256 --n m --k m` gives
    cubes. Without options, the sweep shows wave quantization: a matrix that gets wider tile by tile.

    If a schedule or the costs do not allow a combination, its row is empty, with the reason in the column
    `error`.
    """
    with shared.usage():
        files.check_outputs((output, picture), (costs,))
        whole("the seed", seed, 0, 2**63 - 1, CostsError)
        # the sawtooth if no size is given; otherwise n defaults to m
        square = {"n": ["m"]} if shared.given(options, SIZES) else {}
        axes = shared.given(options, ("schedule", *DEVICE_AXES, *PROBLEM_AXES))
        usual = {"schedule": SCHEDULES, **SAWTOOTH, **square}
        every = combinations(usual | axes, Device.named(shared.DEVICE))
        for one in every:
            shared.check_tiles(one.problem)
    write = _writer(output) if output else None
    if picture:
        with shared.usage():
            load("scenes", "sweep_chart.chart").axes([blank(one) for one in every])
    texts = click.get_current_context().meta.get(schedule_files.__name__, ())
    with progress("sweep", len(every)) as done:
        rows = sweep(every, costs, seed, jobs or cores(), done, partial(schedule_files.register_all, texts))
    errors = [row.error for row in rows if row.error]
    if len(errors) == len(rows):
        raise SweepError(f"none of {plural(len(rows), 'combination')} can be simulated: {errors[0]}")
    if errors:
        count = f"{len(errors)} of {len(rows)} combinations"
        click.echo(f"note: {count} cannot be simulated: {errors[0]}", err=True)
    if output and write:
        files.write(output, lambda file: write(rows, file))
        wrote(output)
    if picture:
        load("scenes", "sweep_chart.sawtooth").save(rows, picture, size, theme)
        wrote(picture)
    if as_json or not output:
        click.echo(_json_of(rows, seed) if as_json else _csv_of(rows), nl=as_json)


def _csv_of(rows: Sequence[Row]) -> str:
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(Row._fields)
    table.writerows(rows)
    return text.getvalue()


def _json_of(rows: Sequence[Row], seed: int) -> str:
    made = {"origin": "simulated", "seed": seed, "tilesim": __version__}
    lines = (json.dumps(row._asdict() | made, ensure_ascii=False) for row in rows)
    return "[\n" + ",\n".join(lines) + "\n]"


def _writer(path: str) -> Callable[[Sequence[Row], BinaryIO], object]:
    if Path(path).suffix.lower() != ".parquet":
        return lambda rows, file: file.write(_csv_of(rows).encode())
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise TilesimError(
            f"cannot write {path} ({reason}); Parquet needs pyarrow; install it with: pip install '.[tables]'"
        ) from None
    return lambda rows, file: parquet.write_table(_arrow(arrow, rows), file)


def _arrow(arrow: Any, rows: Sequence[Row]) -> Any:
    """The rows as a pyarrow.Table, each column of its type even where nothing but None is in it."""
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    fields = [
        (name, kinds[get_args(kind)[0] if get_args(kind) else kind])
        for name, kind in Row.__annotations__.items()
    ]
    return arrow.table(list(map(list, zip(*rows, strict=True))), schema=arrow.schema(fields))
