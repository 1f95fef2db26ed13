"""How good the model's choice of kernels is, by the measured times that ship in tilesim/data/choice."""

import json
from functools import cache

import unseen_products

from figures.kernels import DATA, read, table
from tilesim.choice.judge import Judged, Verdict, judge, verdict
from tilesim.choice.measurement import read as read_times
from tilesim.devices.device import Device

SHORT_OF_CUBLAS = 0.95


@cache
def judged() -> tuple[Judged, ...]:
    return tuple(judge(read_times(DATA / "choice" / "h200.json"), Device.named("h200")))


def _verdicts() -> dict[str, Verdict]:
    every = judged()
    return {
        "held out": verdict([one for one in every if one.timed.held_out]),
        "fitted to": verdict([one for one in every if not one.timed.held_out]),
    }


def figures_table() -> str:
    head = ("", "products", "× cuBLAS, mean", "least", "regret, median", "most", "first 8, median", "most",
            "first was timed")  # fmt: skip
    lines = [
        (name, f"{one.products}", f"{one.mean_ratio:.3f}", f"{one.least_ratio:.3f}",
         *(f"{100 * share:.2f} %" for share in (one.median_regret, one.most_regret, one.median_top_regret,
                                                one.most_top_regret)),
         f"{one.first_timed}")
        for name, one in _verdicts().items()
    ]  # fmt: skip
    return table(head, lines)


def name(one: Judged) -> str:
    problem = one.timed.problem
    return f"{problem.m} × {problem.n} × {problem.k}, {problem.dtype}, {one.timed.layout}"


def unseen() -> str:
    """`matmul` on products drawn at random, of which none was in any table or fit."""
    lines = [
        (
            kind.replace(":", ", "),
            "whole" if whole else "broken",
            str(count),
            f"{mean:.2f}",
            f"{least:.2f}",
            str(short),
        )
        for kind, whole, count, mean, least, short in unseen_products.verdict(
            json.loads(unseen_products.RESULTS.read_text("utf-8"))["rows"]
        )
    ]
    return table(("operands", "lines", "products", "× cuBLAS, mean", "least", "below 0.9"), lines, left=2)


def held_out() -> str:
    lines = [
        (name(one), "×".join(map(str, one.chosen.candidate.problem.tile)),
         one.chosen.candidate.variant.schedule,
         f"{one.us:.1f}", f"{one.best_us:.1f}", f"{one.timed.cublas_us:.1f}", f"{one.ratio:.3f}")
        for one in judged()
        if one.timed.held_out
    ]  # fmt: skip
    head = ("product", "tile", "schedule", "chosen, µs", "fastest, µs", "cuBLAS, µs", "× cuBLAS")
    return table(head, lines, left=3)


def short() -> str:
    """The products for which what is chosen falls short, and whether a better kernel was there."""
    lines = []
    for one in judged():
        if one.ratio is not None and one.ratio < SHORT_OF_CUBLAS:
            best = one.timed.cublas_us / one.best_us
            why = "the kernels" if one.regret < 0.02 else "the choice"
            why = "both" if one.regret >= 0.02 and best < SHORT_OF_CUBLAS else why
            lines.append((name(one), one.chosen.limit, why, f"{one.ratio:.3f}", f"{best:.3f}"))
    head = ("product", "limited by", "what falls short", "× cuBLAS, chosen", "× cuBLAS, fastest")
    return table(head, lines, left=3)


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    machine, every = read("choice")["machine"], judged()
    times = sum(len(one.timed.us) for one in every)
    return {
        "choice_verdict": figures_table(),
        "choice_held_out": held_out(),
        "choice_short": short(),
        "choice_unseen": unseen(),
        "choice_products": f"{len(every)}",
        "choice_times": f"{times:,}",
        "choice_machine": f"{machine['gpu']}, driver {machine['driver']}, Triton {machine['triton']}, "
        f"{machine['date']}",
    }
