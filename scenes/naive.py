"""Naive: one thread block for each output tile."""

from tilesim import Device, Problem, Trace
from tilesim.metrics import utilization, waves
from tilesim.view import hand_over, tail_start, wave_ends
from tilesim_scenes._stage.film import Default, Film
from tilesim_scenes._stage.phrases import around_hand_over, launched, plural, schedule_name, time_bars
from tilesim_scenes._stage.script import Caption, Script, describe, microseconds
from tilesim_scenes._stage.stage import TraceScene


def write(film: Film) -> Script:
    """What the film says of a trace whose thread blocks do one tile each."""
    (trace,) = film.traces
    tiles, sms = trace.problem.tiles, plural(trace.device.sms, "SM")
    return Script(
        title="One thread block for each tile",
        subtitle=f"{plural(tiles, 'output tile')} on {sms}: {describe(trace.problem)}",
        opening="One matrix product: who computes which tile, and when?",
        panels=[(schedule_name(trace), "the hardware hands a waiting block to each SM that is free")],
        captions=_captions(trace),
        slow=around_hand_over(film.traces),
        finding=[
            f"{launched(trace)}, {microseconds(trace.makespan)}: "
            f"the SMs multiply {utilization(trace):.0%} of the time."
        ],
        bars=time_bars(trace),
        measure=f"where the {microseconds(trace.makespan)} of an average SM go",
    )


def _captions(trace: Trace) -> list[Caption]:
    _, drain, start = hand_over(trace)
    tail, blocks = tail_start(trace), plural(trace.problem.tiles, "thread block")
    captions = [Caption(0, f"{blocks}, and room for {trace.device.slots}")]
    if start:
        captions.append(Caption(drain, "Nothing is multiplied until the next block runs"))
    if start < (again := wave_ends(trace)[0] * 1.25) < tail:
        captions.append(Caption(again, f"The same pause in each of {plural(waves(trace), 'wave')}"))
    if drain < tail < 0.98 * trace.makespan:
        captions.append(Caption(tail, "The tail: no block is left"))
    return captions


class Naive(TraceScene):
    """18 tiles on 4 SMs with the H200's costs, unless asked otherwise."""

    default = Default(("naive",), Problem(384, 1536, 512), Device.named("h200", sms=4))
    write = staticmethod(write)
