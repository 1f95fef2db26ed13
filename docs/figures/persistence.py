"""What a persistent kernel saved at each K, as benchmarks/persistence.py measured it, and who ran where."""

import json
from pathlib import Path

from tilesim.analysis.item_times import behind_the_first
from tilesim.cli.output.tables import markdown_of
from tilesim.traces import Trace

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "persistence.json"
HEAD = ("K", "naive, µs", "no overlap", "with overlap", "cuBLAS", "saved by staying", "saved by overlap")


def table(results: dict) -> str:
    """Medians, µs, with their 20 and 80 % quantiles."""
    lines = []
    for row in results["rows"]:
        ours = [{key: ns / 1000 for key, ns in row[name].items()} for name in ("naive", "stays", "overlaps")]
        library = row["cublas"]
        shown = [(one["p50"], one["p20"], one["p80"]) for one in ours]
        shown.append((library["us"], library["p20"], library["p80"]))
        naive, stays, overlaps = (round(one["p50"], 1) for one in ours)
        lines.append(
            (
                str(row["k"]),
                *(f"{median:.1f} ({low:.1f} to {high:.1f})" for median, low, high in shown),
                f"{naive - stays:.1f}",
                f"{stays - overlaps:.1f}",
            )
        )
    return markdown_of(HEAD, lines)


def waited() -> list[int]:
    """Of each recorded naive run in which blocks waited: by how many ns one missed the first free slot."""
    runs = map(Trace.load, sorted((ROOT / "tilesim/data/traces").glob("h200-naive-*.npz")))
    return [int(behind_the_first(run).max()) for run in runs if len(run.spans) > run.device.slots]


def figures() -> dict[str, str]:
    results = json.loads(RESULTS.read_text("utf-8"))
    machine = results["machine"]
    return {
        "persistence": table(results),
        "persistence_machine": f"Measured on an {machine['gpu']}, driver {machine['driver']}, Triton "
        f"{machine['triton']}, on {machine['date']}.",
        "persistence_repeats": str(results["repeats"]),
        "queue_runs": str(len(waited())),
        "queue_ns": str(max(waited())),
    }
