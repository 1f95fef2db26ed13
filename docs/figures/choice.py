"""How good the model's choice of kernels is, by the measured times that ship in tilesim/data/choice."""

import json
from functools import cache
from statistics import geometric_mean
from typing import Any

import heuristics
import unseen_products

from figures.kernels import DATA
from tilesim.choice.judge import Judged, judge, verdict
from tilesim.choice.measurement import read as read_times
from tilesim.cli.output.tables import markdown_of
from tilesim.devices.device import Device
from tilesim.ladder.reports import report

LAYERS_RUN = 2
"""The run of the measurement whose products are layers; others were drawn at random."""


@cache
def judged() -> tuple[Judged, ...]:
    return tuple(judge(read_times(DATA / "choice" / "h200.json"), Device.named("h200")))


def _verdicts() -> dict[str, dict[str, float]]:
    drawn = [row["run"] != LAYERS_RUN for row in report("choice")["rows"]]
    every = list(zip(drawn, judged(), strict=True))
    return {
        f"{'drawn' if of_run else 'layers'}, {name}": verdict(
            [one for run, one in every if run == of_run and one.timed.held_out == held_out]
        )
        for of_run in (False, True)
        for name, held_out in (("held out", True), ("fitted to", False))
    }


def figures_table() -> str:
    head = ("", "products", "× cuBLAS, mean", "least", "regret, median", "most", "first 8, median", "most",
            "first was timed")  # fmt: skip
    shares = ("median_regret", "most_regret", "median_top_regret", "most_top_regret")
    lines = [
        (name, f"{one['products']}", f"{one['mean_ratio']:.3f}", f"{one['least_ratio']:.3f}",
         *(f"{100 * one[share]:.2f} %" for share in shares), f"{one['first_timed']}")
        for name, one in _verdicts().items()
    ]  # fmt: skip
    return markdown_of(head, lines)


def name(one: Judged) -> str:
    product = one.timed.product
    return f"{product.m} × {product.n} × {product.k}, {product.dtype}, {product.layout}"


def _unseen_report() -> dict[str, Any]:
    return json.loads(unseen_products.RESULTS.read_text("utf-8"))


def unseen() -> str:
    """`matmul` on products drawn at random, of which none was in any table or fit."""
    draws: dict[int, list[dict[str, Any]]] = {}
    for row in _unseen_report()["rows"]:
        draws.setdefault(row["seed"], []).append(row)
    lines = []
    for number, rows in enumerate(draws.values(), 1):
        said = unseen_products.verdict(rows)
        ratios = [unseen_products.ratio(row) for row in rows]
        short = sum(ratio < unseen_products.SHORT for ratio in ratios)
        every = ("all", "", len(rows), geometric_mean(ratios), min(ratios), short)
        named = [
            (kind.replace(":", ", "), "whole" if whole else "broken", *rest) for kind, whole, *rest in said
        ]
        lines += [
            (str(number), kind, whole, str(count), f"{mean:.3f}", f"{least:.3f}", str(below))
            for kind, whole, count, mean, least, below in (*named, every)
        ]
    head = ("draw", "operands", "lines", "products", "× cuBLAS, mean", "least", "below 0.9")
    return markdown_of(head, lines)


def unseen_short() -> str:
    """Which of those fall short, and why."""
    seeds, lines = unseen_products.SEEDS, []
    for row in sorted(_unseen_report()["rows"], key=unseen_products.ratio):
        if "first_us" in row:
            best = row["first_cublas_us"] / row["first_us"]
            lines.append(
                (f"{seeds.index(row['seed']) + 1}",
                 f"{row['m']} × {row['n']} × {row['k']}, {row['kind'].replace(':', ', ')}",
                 "whole" if unseen_products.whole_lines(row) else "broken",
                 "the kernels" if best < unseen_products.SHORT else "the choice",
                 unseen_products.cublas_kernel(row["cublas_kernels"]),
                 f"{unseen_products.ratio(row):.3f}", f"{best:.3f}")
            )  # fmt: skip
    head = ("draw", "product", "lines", "what falls short", "cuBLAS's tile", "× cuBLAS", "first 8")
    return markdown_of(head, lines)


def peers() -> str:
    """`matmul` beside cuBLAS and torch.compile on some of those."""
    lines = [
        (f"{row['m']} × {row['n']} × {row['k']}, {row['kind'].replace(':', ', ')}",
         *(f"{row[way + '_us']:.1f} ({row[way + '_spread'][0]:.1f} to {row[way + '_spread'][1]:.1f})"
           for way in ("matmul", "cublas", "max_autotune")))
        for row in _unseen_report()["peers"]
    ]  # fmt: skip
    return markdown_of(("product", "matmul, µs", "cuBLAS, µs", "max-autotune, µs"), lines)


def peers_mean(way: str) -> str:
    """The geometric mean of another's times over those of `matmul`."""
    rows = _unseen_report()["peers"]
    return f"{geometric_mean(row[way + '_us'] / row['matmul_us'] for row in rows):.2f}"


def prepared() -> str:
    """`matmul` with row-major B in fp8, against cuBLAS with B copied beforehand."""
    rows = [row for row in _unseen_report()["rows"] if "copying_us" in row]
    return f"{geometric_mean(row['cublas_us'] / row['matmul_us'] for row in rows):.2f}"


def _heuristics_report() -> dict[str, Any]:
    return json.loads(heuristics.RESULTS.read_text("utf-8"))


def heuristics_table() -> str:
    """Our choice and nvMatmulHeuristics', by the times of the kernels."""
    keys = ("first_mean", "first_median", "first_most", "top_mean", "top_most")
    lines = [
        (row["name"], f"{row['products']}", *(f"{100 * (row[key] - 1):.1f} %" for key in keys))
        for row in _heuristics_report()["rows"]
    ]
    return markdown_of(("", "products", "first, mean", "median", "most", "first 8, mean", "most"), lines)


def short() -> str:
    """The products for which what is chosen falls short, and whether a kernel that was timed does not."""
    lines = []
    for one in judged():
        if one.ratio is not None and one.ratio < unseen_products.SHORT:
            best = one.timed.cublas_us / one.best_us
            why = "the kernels" if best < unseen_products.SHORT else "the choice"
            lines.append((name(one), one.chosen.limit, why, f"{one.ratio:.3f}", f"{best:.3f}"))
    head = ("product", "limited by", "what falls short", "× cuBLAS, chosen", "× cuBLAS, fastest")
    return markdown_of(head, lines)


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    machine, every = report("choice")["machine"], judged()
    times = sum(len(one.timed.us) for one in every)
    return {
        "choice_verdict": figures_table(),
        "choice_short": short(),
        "choice_unseen": unseen(),
        "choice_unseen_short": unseen_short(),
        "choice_peers": peers(),
        "choice_peers_cublas": peers_mean("cublas"),
        "choice_peers_autotune": peers_mean("max_autotune"),
        "choice_heuristics": heuristics_table(),
        "choice_heuristics_version": _heuristics_report()["version"],
        "choice_heuristics_products": str(_heuristics_report()["products"]),
        "choice_heuristics_compared": str(_heuristics_report()["compared"]),
        "choice_prepared": prepared(),
        "choice_products": f"{len(every)}",
        "choice_times": f"{times:,}",
        "choice_machine": f"{machine['gpu']}, driver {machine['driver']}, Triton {machine['triton']}, "
        f"{machine['date']}",
    }
