"""How true simulations are, how launches go, and what recording costs: from the data that ship."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median

import numpy as np

from figures.kernels import DATA
from tilesim import Device, Problem, Trace, plan
from tilesim.analysis.compare import Comparison, compare
from tilesim.analysis.sweep import Combination, row
from tilesim.devices.hardware import DRAM_SHARE, LOAD_CYCLES, TENSOR_SHARE, Hardware
from tilesim.engine.simulate import replay
from tilesim.kernel_costs.default import default_costs, shipped
from tilesim.ladder.reports import machines, report
from tilesim.plans import splits_tiles

HERE = Path(__file__).parents[2] / "benchmarks"

FEW_SMS = 32
NEAR = 0.08
"""Share of a run: what is called near on the page."""
FAR = 0.04
"""Share of a run: two cards that differ by more are said to differ."""


@cache
def traces(folder: str) -> tuple[Trace, ...]:
    return tuple(Trace.load(path) for path in sorted((DATA / folder).glob("*.npz")))


def _compared(measured: Trace) -> Comparison:
    costs = default_costs(measured.schedule, measured.problem, measured.device)
    return compare(replay(measured, costs), measured)


def held_out() -> dict[str, str]:
    """How far simulations of runs are off that no cost was fitted to."""
    runs = traces("held_out")
    found = [_compared(trace) for trace in runs]
    off = [abs(one.run_cycles.error or 0.0) for one in found if one.run_cycles]
    off_in_time = [abs(one.run.error or 0.0) for one in found]
    missed = [trace.schedule for trace, error in zip(runs, off, strict=True) if error > NEAR]
    usual = [trace for trace in runs if trace.problem.tile_n == 256]
    few, many = (
        np.mean([trace.meta["sm_mhz"] for trace in usual if len(np.unique(trace.spans["sm"])) in sms])
        for sms in ((FEW_SMS,), range(121, 133))
    )
    return {
        "fitted_runs": str(len(traces("traces"))),
        "held_out_runs": str(len(runs)),
        "off_median": f"{100 * median(off):.1f} %",
        "off_most": f"{100 * max(off):.1f} %",
        "off_time_median": f"{100 * median(off_in_time):.1f} %",
        "off_time_most": f"{100 * max(off_in_time):.1f} %",
        "near": f"{100 * NEAR:.0f} %",
        "runs_near": str(len(runs) - len(missed)),
        "runs_far": ", ".join(f"{missed.count(name)} of {name}" for name in sorted(set(missed))) or "none",
        **_by_kind(runs, off),
        "few_sms": str(FEW_SMS),
        "clock_few_sms": f"{100 * (few / many - 1):.0f} %",
    }


def _by_kind(runs: tuple[Trace, ...], off: list[float]) -> dict[str, str]:
    """Errors of runs with whole tiles alone, and of those that split tiles."""
    split = np.array([splits_tiles(run.spans, run.problem) for run in runs])
    kinds = {"whole": np.array(off)[~split], "split": np.array(off)[split]}
    return {
        f"off_{kind}_{name}": str(len(errors)) if name == "runs" else f"{100 * function(errors):.1f} %"
        for kind, errors in kinds.items()
        for name, function in (("runs", len), ("mean", np.mean), ("median", np.median), ("most", np.max))
    }


def ablation() -> dict[str, str]:
    """What each term of the model is worth: without it, in percent, and what that adds to the mean."""
    nothing, *rows = json.loads((HERE / "ablation.json").read_text("utf-8"))
    names = ("all_mean", "all_median", "whole_mean", "whole_most", "split_mean", "split_most", "ends_mean")
    whole, split = "whole tiles, mean | most", "split tiles, mean | most"
    head = f"| without | mean of all | median | {whole} | {split} | ends, mean |"
    lines = [head, "| --- |" + " ---: |" * len(names)]
    for each in (nothing, *rows):
        lines.append(f"| {each['without']} | " + " | ".join(f"{each[name]:.2f}" for name in names) + " |")
    return {"ablation_table": "\n".join(lines)}


def shipped_costs() -> dict[str, str]:
    """How many numbers ship for how many kernels, and the constants of the H200 with what was fitted."""
    costs = [json.loads(json.dumps(one.as_json()))["costs"] for one in shipped("h200")]
    numbers = [
        value
        for one in costs
        for value in one.values()
        if isinstance(value, int | float) and not isinstance(value, bool) and value
    ]
    h200 = Hardware.named("h200", "bf16")
    return {
        "shipped_kernels": str(len(costs)),
        "shipped_numbers": str(len(numbers)),
        "load_cycles": f"{LOAD_CYCLES:.0f}",
        "dram_share": f"{DRAM_SHARE:.2f}",
        "tensor_share": f"{TENSOR_SHARE:.2f}",
        "h200_clock": f"{h200.clock_mhz:,.0f} MHz",
        "h200_macs": f"{h200.macs_per_clock:,.0f}",
        "h200_latencies": f"{h200.l2_latency:.0f} and {h200.dram_latency:.0f} cycles",
        "h200_l2": f"{h200.l2_bytes_per_clock:,.0f} bytes a cycle",
        "h200_merged": f"{h200.l2_merged_bytes_per_clock:,.0f} bytes a cycle",
        "h200_dram": f"{h200.dram_bytes_per_clock:,.0f} bytes a cycle",
    }


def repeats() -> dict[str, str]:
    """How far two cards differ in cycles."""
    runs = json.loads((DATA / "repeats" / "h200.json").read_text("utf-8"))["runs"]
    one, other = (np.array([run["us"][i] * run["mhz"][i] for run in runs]) for i in (0, 1))
    off = np.abs(other / one - 1)
    return {
        "repeated_runs": str(len(runs)),
        "repeats_median": f"{100 * np.median(off):.1f} %",
        "repeats_most": f"{100 * off.max():.0f} %",
        "repeats_far": str((off > FAR).sum()),
        "far": f"{100 * FAR:.0f} %",
        "repeats_far_schedules": ", ".join(
            sorted({r["schedule"] for r, o in zip(runs, off, strict=True) if o > FAR})
        ),
    }


def launches() -> dict[str, str]:
    """How long a place on an SM is empty between two thread blocks, and which SM is filled first."""
    rows = [r for r in report("turnaround")["rows"] if r["spin"] == "staggered" and r["residents"] <= 2]
    usual = [r["ns"]["p50"] for r in rows if 128 <= r["threads"] <= 512]
    large = [r["ns"]["p50"] for r in rows if r["threads"] == 1024]
    naive = Trace.load(DATA / "traces" / "h200-naive-4096x4096x512-grouped8.npz")
    order = report("sm_order")["rows"]
    return {
        "turnaround": f"{min(usual):.0f} to {max(usual):.0f} ns",
        "turnaround_1024": f"{min(large):.0f} to {max(large):.0f} ns",
        "turnaround_inside": f"{naive.meta['launch_ns']['p50']} ns",
        "sm_order_explained": f"{sum(r['explained'] for r in order):,}",
        "sm_order_launches": f"{sum(r['launches'] for r in order):,}",
    }


def recording() -> dict[str, str]:
    """What stamps cost, and on what everything was recorded."""
    runs = traces("traces") + traces("held_out")
    slower = {
        wide: max(
            t.meta["recorded_us"] / t.meta["kernel_us"] - 1 for t in runs if (t.problem.tile_n == 256) == wide
        )
        for wide in (True, False)
    }
    per_step = [
        float(np.median(t.spans["cycles"] / (t.spans["k1"] - t.spans["k0"])))
        for t in runs
        if t.problem == Problem(4096, 4096, 4096, order="grouped:8")
        and t.kernel in ("naive-tma", "persistent-tma-overlap")
    ]
    (machine,) = (m["machine"] for m in machines() if m["machine"]["gpu"] == "NVIDIA H200")
    return {
        "stamps_wide": f"{100 * slower[True]:.0f} %",
        "stamps_narrow": f"{100 * slower[False]:.0f} %",
        "cycles_per_step": f"{min(per_step):,.0f} to {max(per_step):,.0f}",
        "driver": machine["driver"],
        "cuda": machine["cuda"],
        "torch": machine["torch"].partition("+")[0],
        "triton": machine["triton"],
    }


def quantisation() -> dict[str, str]:
    """What a last wave of a few tiles costs: persistent and stream-k at 132 and 144 tiles."""
    h200 = Device.named("h200")
    narrow, wide = Problem(1536, 2816, 4096), Problem(1536, 3072, 4096)
    runs = [("persistent", narrow), ("persistent", wide), ("stream-k", wide)]
    full, partly, cut = (row(Combination(schedule, problem, h200)) for schedule, problem in runs)
    return {
        "full_tiles": str(full.tiles),
        "more_tiles": str(partly.tiles),
        "places_used": f"{100 * partly.tiles / (2 * h200.slots):.1f} %",
        "full_tflops": f"{full.tflops:.0f} TFLOP/s",
        "more_tflops": f"{partly.tflops:.0f} TFLOP/s",
        "cut_tflops": f"{cut.tflops:.0f} TFLOP/s",
    }


def turns() -> dict[str, str]:
    """How often a naive tile is on the SM of the tile a wave before: recorded, with jitter, and without."""
    found: dict[str, list[float]] = {"recorded": [], "simulated": [], "without": []}
    for run in traces("held_out"):
        slots = run.device.slots
        if run.schedule == "naive" and run.problem.tiles > slots:
            costs = default_costs(run.schedule, run.problem, run.device)
            order = plan("naive", run.problem, run.device).rows["tile"]
            plays = run, replay(run, costs), replay(run, replace(costs, jitter=0.0))
            for name, one in zip(found, plays, strict=True):
                sm = one.spans["sm"][np.argsort(one.spans["tile"])][order]
                found[name].append(float((sm[slots:] == sm[:-slots]).mean()))
    return {f"turns_{name}": f"{100 * median(shares):.0f} %" for name, shares in found.items()}


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    told = held_out, ablation, turns, shipped_costs, repeats, launches, recording, quantisation
    return {name: figure for each in told for name, figure in each().items()}
