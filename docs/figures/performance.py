"""How fast films and simulations are, from the last run of `make bench`."""

import json
from pathlib import Path

from table import markdown

from tilesim.compiled import LARGE

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FILES = ("results", "processes")
MACHINE = ("cpu", "cores", "python", "manim", "av", "numba", "date")
TABLES = {
    "rendering": "rendering",
    "any_scene": "any scene",
    "export": "export of any scene",
    "simulation": "simulation",
    "start": "start",
}
"""Parts of the results, by what the page calls their tables."""
HEAD = "| what | median | least to most | aimed at |\n| --- | ---: | ---: | --- |\n"


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    results, processes = (json.loads((BENCHMARKS / f"{name}.json").read_text("utf-8")) for name in FILES)
    tables = {f"{name}_table": HEAD + markdown(results[part]) for name, part in TABLES.items()}
    tables["processes_table"] = HEAD + markdown(processes["rows"])
    machine = {f"bench_{name}": results["machine"][name] for name in MACHINE}
    machine |= {f"processes_{name}": processes["machine"][name] for name in ("cpu", "cores", "date")}
    rounds = {"bench_rounds": str(results["rounds"]), "processes_rounds": str(processes["rounds"])}
    return tables | machine | rounds | {"large": f"{LARGE:,}"}
