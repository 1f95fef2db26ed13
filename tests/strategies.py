"""What the property tests draw from: problems, devices, costs and every registered schedule."""

from inspect import Parameter, signature

import numpy as np
from hypothesis import strategies as st

from tilesim import SCHEDULES, Costs, Device, Plan, Problem, simulate
from tilesim.plans import SEGMENT, UNASSIGNED
from tilesim.problems import DTYPE_BYTES


def printable(max_size=9):
    """Texts that a trace may hold."""
    shown = st.characters(categories=["L", "M", "N", "P", "S"]) | st.just(" ")
    return st.text(shown.filter(str.isprintable), max_size=max_size)


@st.composite
def orders(draw):
    order = draw(st.sampled_from(["row-major", "column-major", "grouped", "morton", "hilbert"]))
    return f"grouped:{draw(st.integers(1, 12))}" if order == "grouped" else order


@st.composite
def problems(draw, max_side=7, max_k_steps=6):
    """Small problems, most of them ragged on some side; a tile may be larger than the matrix."""
    tile = tuple(draw(st.sampled_from([1, 3, 16, 64, 128])) for _ in range(3))
    counts = (
        draw(st.integers(1, max_side)),
        draw(st.integers(1, max_side)),
        draw(st.integers(1, max_k_steps)),
    )
    sizes = [
        (count - 1) * side + draw(st.integers(1, side)) for count, side in zip(counts, tile, strict=True)
    ]
    return Problem(*sizes, tile=tile, dtype=draw(st.sampled_from(sorted(DTYPE_BYTES))), order=draw(orders()))


@st.composite
def devices(draw, max_sms=8, max_ctas=3):
    sms = draw(st.integers(1, max_sms))
    ctas = draw(st.integers(1, max_ctas))
    orders = [st.permutations(sorted([*range(sms)] * times)).map(tuple) for times in (0, 1, ctas)]
    return Device(sms, ctas, draw(st.integers(0, sms - 1)), sm_order=draw(st.one_of(orders)))


def costs(shared=True, jitter=True, max_k_step=900.0):
    """Costs with any knob turned; `jitter=False` keeps tiles alike.

    With `shared=False` main loops share nothing: neither their SM nor their CTA's epilogue.
    """
    ns = st.one_of(st.just(0), st.integers(1, 40))
    factors = st.lists(st.floats(0.5, 4.0), max_size=3).map(lambda rest: (1.0, *rest))
    return st.builds(
        Costs,
        k_step=st.one_of(st.integers(1, int(max_k_step)), st.floats(0.1, max_k_step)),
        mainloop_overhead=ns,
        launch=ns,
        prologue=ns,
        tile_gap=ns,
        epilogue=st.one_of(ns, st.integers(100, 3000)),
        overlap=st.booleans(),
        epilogue_serialisation=ns if shared else st.just(0),
        epilogue_overlap_penalty=ns if shared else st.just(0),
        partial=st.one_of(st.none(), ns),
        merge=ns,
        fixup=ns,
        coresidency=factors if shared else st.just((1.0,)),
        jitter=st.sampled_from([0.0, 0.05, 0.3]) if jitter else st.just(0.0),
    )


def parameters(schedule):
    """The parameters that the name of a registered schedule may carry."""
    return list(signature(SCHEDULES[schedule]).parameters.values())[2:]


def named(schedule, number=2):
    """The name of a registered schedule with `number` for each parameter that it must carry."""
    return ":".join([schedule, *(str(number) for p in parameters(schedule) if p.default is Parameter.empty)])


EVERY_SCHEDULE = [named(schedule) for schedule in SCHEDULES]


@st.composite
def planned(draw, **sizes):
    """(schedule, problem): any registered schedule by a name whose numbers fit the problem."""
    problem, schedule = draw(problems(**sizes)), draw(st.sampled_from(sorted(SCHEDULES)))
    most = {"s": problem.k_steps, "g": problem.tiles * problem.k_steps, "tiles": 2}
    words = [schedule]
    for parameter in parameters(schedule):
        if parameter.default is Parameter.empty or draw(st.booleans()):
            words.append(str(draw(st.integers(1, most.get(parameter.name, 8)))))
    return ":".join(words), problem


@st.composite
def traces(draw):
    """Small runs of any schedule, on few SMs and with short K-steps."""
    schedule, problem = draw(planned(max_side=4, max_k_steps=3))
    device, cost, seed = draw(devices(max_sms=4)), draw(costs(max_k_step=40)), draw(st.integers(0, 9))
    return simulate(schedule, problem, device, cost, seed)


@st.composite
def split_plans(draw):
    """(problem, plan): tiles cut at random, runs dealt to thread blocks and a queue at random."""
    problem = Problem(1, draw(st.integers(1, 6)), draw(st.integers(1, 6)), tile=(1, 1, 1))
    rows = []
    for tile in range(problem.tiles):
        inner = draw(st.sets(st.integers(1, problem.k_steps), max_size=3)) - {problem.k_steps}
        cuts = [0, *sorted(inner), problem.k_steps]
        rows += [(tile, *cuts[i : i + 2]) for i in range(len(cuts) - 1)]
    rows = draw(st.permutations(rows))
    queued = draw(st.integers(0, len(rows)))
    ctas = draw(st.integers(1, 6))
    owned = sorted([(draw(st.integers(0, ctas - 1)), *row) for row in rows[queued:]], key=lambda row: row[0])
    queue = [(UNASSIGNED, *row) for row in rows[:queued]]
    return problem, Plan(np.array(owned, SEGMENT), ctas, np.array(queue, SEGMENT))
