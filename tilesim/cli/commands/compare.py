"""`tilesim compare`: how well a simulation matches a measured run, or what is slower than it was."""

import json
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import click

from tilesim.analysis.compare import DIVERGED, Comparison, Pair, compare
from tilesim.analysis.regression import Change, Regression, regression
from tilesim.cli.arguments import options as shared
from tilesim.cli.arguments.parameter_types import INPUT, PERCENT
from tilesim.cli.output.figures import time
from tilesim.engine.simulate import replay
from tilesim.errors import TilesimError, TraceError
from tilesim.formats.reader import read_several
from tilesim.kernel_config import TABLE
from tilesim.traces import Trace, about

Side = tuple[Sequence[str], Sequence[Trace]]
"""The files of repeats, and the traces in them."""


@click.command(short_help="Compare a simulation with a measured trace, or a run with an earlier one.")
@click.argument("traces", type=INPUT, metavar="[SIM] MEASURED...", nargs=-1, required=True)
@click.option("--before", type=INPUT, multiple=True, metavar="FILE", help="An earlier run.  [repeatable]")
@click.option(
    "--fail-above",
    type=PERCENT,
    metavar="PERCENT",
    help="Exit with 1 if it is slower by more, 2% for example, and by more than the noise.",
)
@shared.file_options
@shared.costs_options
@shared.json_option
def command(
    traces: tuple[str, ...], before: tuple[str, ...], fail_above: float | None, seed: int, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Show how well the simulated trace SIM matches the trace MEASURED of the same problem.

    Without SIM, the schedule of each measured trace is simulated, with its default costs or those of --costs.
    Several measured traces give a table, in which each is compared with its simulation. If the kernel is not
    one of tilesim's, the simulation repeats what each thread block did. Use the options for facts that a file
    does not contain.

    With --before, the measured traces are compared with earlier ones of the same work: how much slower they
    are, and in which part of a tile, in which tiles and on which SMs. Two measured traces without further
    options are an earlier and a later run. Several repeats of a side show the noise between them; each
    earlier one takes a --before of its own.
    """
    facts = shared.facts_from(options)
    loaded = read_several(traces, facts)
    if before or fail_above is not None or _are_two_runs(loaded, seed, options):
        sides = (before, read_several(before, facts)), (traces, loaded)
        if not before and len(traces) == 2:
            sides = (traces[:1], loaded[:1]), (traces[1:], loaded[1:])
        return _compare_runs(*sides, fail_above, as_json)
    simulations = [trace for trace in loaded if trace.origin != "measured"]
    measured = [trace for trace in loaded if trace.origin == "measured"]
    if not measured:
        raise TraceError("none of the traces is measured; give a measured trace to compare with")
    if simulations and len(loaded) > 2:
        raise click.UsageError("a simulated trace is compared with exactly one measured trace")
    if simulations and (seed or options["costs"]):
        raise click.UsageError("--costs and --seed apply only without SIM; leave out either these or SIM")
    for trace in () if simulations else measured:
        costs = shared.costs_from(options, trace.schedule, trace.gemm, trace.device)
        with shared.usage():
            simulations.append(replay(trace, costs, seed))
    pairs = list(zip(simulations, measured, strict=True))
    found = [compare(*pair) for pair in pairs]
    values = [
        {"simulated": about(simulated), "measured": about(run)} | one.as_json()
        for one, (simulated, run) in zip(found, pairs, strict=True)
    ]
    if len(found) > 1:
        texts = [json.dumps(one | {"trace": path}) for one, path in zip(values, traces, strict=True)]
        click.echo("[\n" + ",\n".join(texts) + "\n]" if as_json else _table(found, measured))
    else:
        click.echo(json.dumps(values[0]) if as_json else _report(found[0], *pairs[0]))


def _are_two_runs(traces: Sequence[Trace], seed: int, options: dict[str, Any]) -> bool:
    """Whether these are an earlier and a later run of the same work, and nothing is asked of a simulation."""
    if len(traces) != 2 or seed or options["costs"] or any(one.origin != "measured" for one in traces):
        return False
    return traces[0].problem.title == traces[1].problem.title


def _compare_runs(earlier: Side, later: Side, fail_above: float | None, as_json: bool) -> None:
    (before, runs), (after, later_runs) = earlier, later
    if not before:
        raise click.UsageError("give the earlier run, too: tilesim compare AFTER --before BEFORE")
    if any(trace.origin != "measured" for trace in (*runs, *later_runs)):
        raise click.UsageError("--before and --fail-above take measured runs, and one is simulated")
    found = regression(runs, later_runs)
    click.echo(json.dumps(found.as_json()) if as_json else "\n".join(_slower(found, before, after)))
    if fail_above is not None and found.makespan.certain and found.makespan.share > fail_above:
        raise TilesimError(
            f"the run is {found.makespan.share:.1%} slower than before; --fail-above allows {fail_above:.1%}"
        )


def _slower(found: Regression, before: Sequence[str], after: Sequence[str]) -> list[str]:
    whole = found.makespan
    noise = "" if whole.noise is None else f"; repeats differ by up to {whole.noise / whole.before:.1%}"
    word = "slower" if whole.ns > 0 else "faster"
    result = f"{abs(whole.share):.1%} {word} than before" if whole.ns else "as fast as before"
    if not whole.certain:
        result = "not different from before by more than repeats are from each other"
    times = " and ".join(time(round(ns)) for ns in (whole.before, whole.after))
    lines = [
        f"Earlier runs: {', '.join(before)}",
        f"Later runs: {', '.join(after)}",
        "",
        f"The later run is {result}: {times}{noise}.",
        "",
    ]
    columns = ("before", "after", "change", *(("noise",) if whole.noise is not None else ()))
    lines.append(f"  {'an average slot':22}" + "".join(f"{column:>12}" for column in columns))
    lines += [_change(name, change) for name, change in (*found.parts.items(), ("makespan", whole))]
    for title, name, changes in (
        ("main loops that lost most", "tile", found.tiles),
        ("SMs that are done later", "SM", found.sms),
    ):
        if changes:
            lines += ["", f"  {title}"]
            lines += [_change(f"{name} {number}", change) for number, change in changes.items()]
    return lines


def _change(name: str, change: Change) -> str:
    before, after = (time(round(ns)) for ns in (change.before, change.after))
    noise = "" if change.noise is None else f"{time(round(change.noise)):>12}"
    more = time(round(abs(change.ns)))
    sign = "" if not round(change.ns) else "+" if change.ns > 0 else "-"
    return f"  {name:22}{before:>12}{after:>12}{sign + more:>12}{noise}"


def _table(found: Sequence[Comparison], measured: Sequence[Trace]) -> str:
    names = [_name(trace) for trace in measured]
    wide = max(map(len, names))
    lines = [f"{'':{wide}} {'measured':>12} {'simulated':>12} {'off':>7} {'in cycles':>9}"]
    for name, one in zip(names, found, strict=True):
        times = " ".join(f"{time(round(ns)):>12}" for ns in (one.run.measured, one.run.simulated))
        cycles = one.run_cycles.error if one.run_cycles else None
        off = "" if cycles is None else f"{cycles:>+9.1%}"
        lines.append(f"{name:{wide}} {times} {one.run.error or 0:>+7.1%} {off}".rstrip())
    kinds = {"in time": [one.run for one in found]}
    kinds["in cycles"] = [one.run_cycles for one in found if one.run_cycles]
    for kind, pairs in kinds.items():
        errors = [abs(pair.error or 0.0) for pair in pairs]
        if errors:
            lines.append(f"{kind}: {median(errors):.1%} off in the median, {max(errors):.1%} at most")
    lines.append("each run is compared with its simulation; --before FILE compares runs with earlier ones")
    return "\n".join(lines)


def _name(trace: Trace) -> str:
    problem, residents = trace.gemm, trace.device.ctas_per_sm
    table = f" {TABLE}" * (trace.config.kernel == TABLE)
    shape = f"{problem.m}x{problem.n}x{problem.k} {problem.order}"
    tile = f" tile {problem.tile_m}x{problem.tile_n}" + f", {residents} per SM" * (residents > 1)
    return f"{trace.schedule}{table} {shape}{tile}"


def _report(found: Comparison, simulated: Trace, measured: Trace) -> str:
    error = found.run.error or 0.0
    than = "as long as" if not error else f"{abs(error):.1%} {'longer' if error > 0 else 'shorter'} than"
    ends = " and ".join(time(round(ns)) for ns in (found.run.simulated, found.run.measured))
    cycles = found.run_cycles
    about = {"load of the SMs": found.loads, "busiest with busiest": found.sorted_loads}
    source = simulated.meta.get("costs", {}).get("source")
    lines = [
        f"From its first multiply to its last write, the simulation is {than} the measured run: {ends}.",
        "",
        f"  {'':22}{'simulated':>14}{'measured':>14}",
        f"  {'schedule':22}{simulated.schedule:>14} {measured.schedule:>13}",
        f"  {'order':22}{simulated.problem.order:>14} {measured.gemm.order:>13}",
        _line("from first multiply", found.run),
        *([_line("run in SM cycles", cycles, "{:.0f}".format)] if cycles else []),
        _line("makespan", found.makespan) + "  (a measured trace shows no launch)",
        _line("tail", found.tail),
        _line("idle in the tail", found.tail_idle),
        _line("mean main loop", found.main_loop),
        _line("mean gap between tiles", found.gap),
        _line("mean epilogue", found.epilogue),
        *(
            f"  {name:22}differs by {loads.mean:.1%} on average, {loads.largest:.1%} at most; "
            f"correlation {loads.correlation:.3f}"
            for name, loads in about.items()
        ),
        f"  {'order of first steps':22}Kendall's tau {found.order:.3f}",
        f"  {'on the same SM':22}{found.same_sm:.1%} of the tiles",
        f"  {'divergence':22}{_divergence(found)}",
        *([f"  {'costs':22}{source}"] if source else []),
    ]
    return "\n".join(lines)


def _line(name: str, pair: Pair, shown: Callable[[float], str] = lambda ns: time(round(ns))) -> str:
    error = "" if pair.error is None else f"{pair.error:>+10.1%}"
    return f"  {name:22}{shown(pair.simulated):>14}{shown(pair.measured):>14}{error}"


def _divergence(found: Comparison) -> str:
    """When the time lag first exceeds DIVERGED, and the largest lag."""
    most, at = time(abs(found.largest_lag)), time(found.largest_lag_at)
    if not found.largest_lag:
        return "nowhere"
    behind = "measured run" if found.largest_lag > 0 else "simulation"
    largest = f"largest lag: the {behind}'s, {most} at {at}"
    if found.diverged_at is None:
        return f"never by more than {DIVERGED:.0%} of the run; {largest}"
    return f"by {DIVERGED:.0%} of the run at {time(found.diverged_at)}; {largest}"
