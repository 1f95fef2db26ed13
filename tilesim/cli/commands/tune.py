"""`tilesim tune`: find the fastest kernel for each shape on this machine's GPU, for `matmul` to use."""

from itertools import product
from pathlib import Path

import click

from tilesim.cli.arguments import options as shared
from tilesim.cli.arguments.parameter_types import TILE_SHAPE, Whole
from tilesim.cli.output.figures import progress
from tilesim.cli.output.reports import show, tuned_kernels
from tilesim.cli.packages import load
from tilesim.problems import DTYPE_BYTES
from tilesim.products import LAYOUTS, Product

SIZE = shared.PROBLEM.m, shared.PROBLEM.n, shared.PROBLEM.k


@click.command(short_help="Find the fastest kernel for each shape on this machine's GPU.")
@shared.sizes_option(f"Size of the product.  [{'x'.join(map(str, SIZE))}]  [repeatable]", TILE_SHAPE)
@click.option(
    "--dtype",
    "dtypes",
    type=click.Choice(list(DTYPE_BYTES)),
    multiple=True,
    help=f"Data type of A and B.  [{shared.PROBLEM.dtype}]  [repeatable]",
)
@click.option(
    "--layout",
    "layouts",
    type=click.Choice(LAYOUTS),
    multiple=True,
    help="Layouts of A and B: row-major (n) or column-major (t).  [nn]  [repeatable]",
)
@shared.samples_option("finalist")
@shared.seed_option
@click.option("--top", type=Whole(1, 1000), help="Time only this many, the best by the model.  [all]")
@shared.output_option(
    shared.FIGURES_FILE,
    "Keep the rows of this table for other shapes, and update the table unless -o is given.",
    "--table",
)
@shared.report_options
def command(
    sizes: tuple[tuple[int, int, int], ...], dtypes: tuple[str, ...], layouts: tuple[str, ...], samples: int,
    seed: int, top: int | None, table: str | None, output: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Verify the result of each candidate, time all of them, then time the best, alternating with cuBLAS.

    The table is written to a file. To have `matmul` use it on that GPU, set the environment variable
    TILESIM_TUNED=FILE.
    """
    wanted = product(sizes or [SIZE], dtypes or [shared.PROBLEM.dtype], layouts or LAYOUTS[:1])
    with shared.usage():
        products = [Product(*size, dtype, layout) for size, dtype, layout in wanted]
    measure = load("kernels")
    before = load("kernels", "tuning.choice").read(table) if table and Path(table).exists() else None
    units = load("kernels", "tuning.tuner").PROGRESS_UNITS * len(products)
    with progress("tune", units) as done:
        report = measure.tune(*products, samples=samples, seed=seed, top=top, table=before, progress=done)
    show(report, tuned_kernels, output or table, as_json)
