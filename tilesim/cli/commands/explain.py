"""`tilesim explain`: where the time of a run went, what bounds it, and what would make it faster."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
import numpy as np

from tilesim import player
from tilesim.analysis.alternatives import Alternatives, alternatives
from tilesim.analysis.explain import BOUNDS, Explanation, explain
from tilesim.analysis.item_times import ItemTimes, item_times
from tilesim.cli.arguments import options as shared
from tilesim.cli.arguments.parameter_types import INPUT
from tilesim.cli.output.figures import save_text, time
from tilesim.devices.gpus import named
from tilesim.errors import TilesimError
from tilesim.formats.reader import read
from tilesim.metrics import TURNAROUND_NS
from tilesim.schedules import SCHEDULES
from tilesim.text import base_name, plural
from tilesim.traces import Trace
from tilesim.work import WorkItems

SHOWN = 6
"""Alternatives in the table; the others are in the JSON."""
COLUMNS, BAR = 98, 40


@click.command(short_help="Show where the time of a run went, and what would make it faster.")
@click.argument("run", type=INPUT)
@shared.file_options
@shared.output_option(shared.PAGE_FILE, "Write it as a page, with the lanes and the slowest tiles (.html).")
@shared.json_option
def command(run: str, output: str | None, as_json: bool, **options: Any) -> None:
    """Show where the time of an average slot went, what bounds the run, and what would make it faster.

    RUN is a simulated or measured trace in any format that `convert` reads. A slot is room for one thread
    block on an SM. The alternatives are simulated, one change at a time, with the costs that ship. With -o,
    all of it goes on a page that any browser shows, and nothing is printed.
    """
    if base_name(run) in SCHEDULES and not Path(run).exists():
        raise click.UsageError(
            f"{run} is a schedule, and a run is explained from its trace; write one first:"
            f" tilesim simulate {run} -o {base_name(run)}.npz"
        )
    trace = _read(run, shared.facts_from(options))
    found = explain(trace)
    items = item_times(trace) if isinstance(trace.problem, WorkItems) else None
    try:
        others: Alternatives | str = alternatives(trace)
    except TilesimError as error:
        others = str(error)
    lines = [*_of(trace), "", *_parts(found, trace.origin), ""]
    if items:
        lines += _items(items)
    else:
        if found.unknown:
            lines += wrap(f"main loops are not divided: {found.unknown}", COLUMNS)
        else:
            largest = sorted(found.k_steps.items(), key=lambda term: -term[1])
            shares = ", ".join(f"{term} {share:.1%}" for term, share in largest if share)
            lines.append(f"what bounds K-steps: {shares}")
        lines.append("")
        if not isinstance(others, str):
            lines += _others(others, trace)
        elif others != found.unknown:
            lines += wrap(f"no alternative was simulated: {others}", COLUMNS)
    text = "\n".join(lines).rstrip()
    if output:
        bound = f"This run is bound by {found.bound}."
        report = "\n".join([text, "", *_slowest(trace)])
        page = player.page([trace], story=player.Story(finding=bound), report=report)
        save_text(output, page)
    if as_json:
        tried = {"not_tried": others} if isinstance(others, str) else others.as_json()
        about = {"items": items._asdict()} if items else {}
        click.echo(json.dumps(trace.summary() | found.as_json() | about | tried))
    elif not output:
        click.echo(text)


def _slowest(trace: Trace) -> list[str]:
    spans = trace.spans
    took = spans["drain"] - spans["start"]
    lines = [f"the slowest main loops; the median takes {time(round(float(np.median(took))))}"]
    for row in np.argsort(-took, kind="stable")[:SHOWN].tolist():
        name = trace.problem.called(int(spans["tile"][row]))[:40]
        lines.append(f"  {name:40} SM {spans['sm'][row]:<4} {time(int(took[row])):>12}")
    return lines


def _read(run: str, facts: Mapping[str, Any]) -> Trace:
    """The trace in a file, whose own device counts: explained by the costs of another, two GPUs would mix."""
    trace = read(run, facts)
    given = set(facts) & set(shared.DEVICE_NAMES)
    try:
        own = read(run, {name: value for name, value in facts.items() if name not in given}).device
    except TilesimError:  # the file says nothing of a device
        return trace
    if given and own != trace.device:
        raise click.UsageError(
            f"{run} is of a run on {plural(own.sms, 'SM')} of {own.title}, which"
            f" {' and '.join(f'--{name}'.replace('_', '-') for name in sorted(given))} would contradict;"
            " leave it out, or simulate the run on the other GPU"
        )
    return trace


def _of(trace: Trace) -> list[str]:
    device = trace.device
    name = f"{trace.schedule[:30]}{f' ({trace.kernel[:30]})' if trace.kernel else ''}"
    known = named(trace.gpu)
    lines = (
        f"{name} on {trace.gpu or device.title}, {trace.origin}: {time(trace.makespan)}"
        f" on {plural(device.slots, 'slot')}",
        trace.problem.parts,
        f"note: {known.note}" if known and known.note else "",
    )
    return [part for line in filter(None, lines) for part in wrap(line, COLUMNS)]


def _parts(found: Explanation, origin: str) -> list[str]:
    percent = found.percent
    whose = sum(percent[part] for part in BOUNDS[found.bound])
    lines = [
        f"bound by {found.bound}: {whose:.1f} % of an average slot's time",
        "",
        f"  {'where the time went':27}{'ns':>13}{'%':>8}",
    ]
    for part, ns in found.parts.items():
        if ns:
            bar = "█" * round(percent[part] * BAR / 100)
            lines.append(f"  {part:27}{ns:>13,}{percent[part]:>8.1f}  {bar}".rstrip())
    lines.append(f"  {'makespan':27}{found.makespan:>13,}{100:>8.1f}")
    if origin == "measured" and found.parts["launch"]:
        launch = f"each launch counts as {TURNAROUND_NS} ns, as in a benchmark"
        lines.append(f"  launch and first load are estimated: {launch}")
    return lines


def _items(found: ItemTimes) -> list[str]:
    of_median = f", {found.longest_ns / found.median_ns:.1f} times the median" if found.median_ns else ""
    bound = "the longest item" if found.bound == found.longest_ns else "all items, shared out evenly"
    lines = {
        "longest item": f"{time(found.longest_ns)}{of_median}: {found.longest[:40]}",
        "lower bound": f"{time(found.bound)}: {bound}",
        "in this order": f"{time(found.in_order)} if each slot takes the next item once it is free",
        "longest first": f"{time(found.longest_first)} if it takes the longest item that is left",
    }
    return [
        *(f"  {name:15} {said}" for name, said in lines.items()),
        "  the last two assume that items take as long as they did in this run",
    ]


def _others(found: Alternatives, trace: Trace) -> list[str]:
    measured = f", also simulated; the run itself took {time(trace.makespan)}" * (trace.origin == "measured")
    lines = [
        f"  {'alternative, with one change':60}{'simulated':>12}{'gain':>8}",
        f"  {f'unchanged{measured}':60}{time(found.makespan):>12}",
    ]
    for each in found.advice[:SHOWN]:
        lines.append(f"  {f'{each.what} {each.to}':60}{time(each.makespan):>12}{each.gain:>+8.1%}")
    if (more := len(found.advice) - SHOWN) > 0:
        are = "1 more is" if more == 1 else f"{more} more are"
        lines.append(f"  {are} slower than these; --json lists them")
    if found.extrapolated:
        lines.append(f"  extrapolated from costs of {found.extrapolated}, so times may be far off")
    else:
        lines.append("  simulations are off by about 1 %, or about 5 % if tiles are split")
    others = [each for each in found.ranked if each not in found.advice]
    if others:
        names = ", ".join(dict.fromkeys(f"{each.what} {each.to}" for each in others))
        lines += ["", *wrap(f"not listed, as their costs would be extrapolated: {names}", COLUMNS)]
    if found.without_costs:
        lines += ["", *wrap(f"no costs ship for {'; '.join(found.without_costs)}", COLUMNS)]
    return lines
