"""Naive: one thread block for each output tile."""

from tilesim import Device, Problem, Trace
from tilesim.metrics import launches, utilization, waves
from tilesim.view import hand_over, tail_start, wave_ends
from tilesim_scenes._stage.film import Default, Film
from tilesim_scenes._stage.phrases import around_hand_over, plural, schedule_name, time_bars
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
            f"{launches(trace)} launches, {microseconds(trace.makespan)}: "
            f"the SMs multiply {utilization(trace):.0%} of the time."
        ],
        bars=time_bars(trace),
        measure=f"where the {microseconds(trace.makespan)} of an average SM go",
    )


def _captions(trace: Trace) -> list[Caption]:
    steps, slots = trace.problem.k_steps, trace.device.slots
    _, drain, start = hand_over(trace)
    written = trace.spans["done"][trace.spans["drain"] == drain].min() if start else drain
    captions = [Caption(0, f"{plural(trace.problem.tiles, 'thread block')} wait; {slots} find a free place")]
    captions.append(
        Caption(trace.spans["start"].min(), f"Each SM multiplies, adding up K in {plural(steps, 'step')}")
    )
    if start:
        captions += [
            Caption(drain, "The tile is complete. While it is written, the SM multiplies nothing"),
            Caption(written, "The block ends, and only now can the next one be launched"),
            Caption(start, "The next tile begins"),
            Caption(
                wave_ends(trace)[0] * 1.25,
                f"The same pause after every tile, in {plural(waves(trace), 'wave')}",
            ),
        ]
    if tail_start(trace) < 0.98 * trace.makespan:
        captions.append(
            Caption(tail_start(trace), "The tail: no block is left for the SMs that finish first")
        )
    return captions


class Naive(TraceScene):
    """18 tiles on 4 SMs with the H200's costs, unless asked otherwise."""

    default = Default(("naive",), Problem(384, 1536, 512), Device.named("h200", sms=4))
    write = staticmethod(write)
