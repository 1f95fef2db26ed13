"""Which plan is the faster: simulated as it was measured, of plans that one kernel ran."""

import json
from itertools import combinations

from recordings import DATA

from tilesim import Device, Problem, simulate

PLANNED = json.loads((DATA / "planned/h200.json").read_text("utf-8"))["rows"]
SCHEDULES = ("persistent", "stream-k", "stream-k-hybrid")
APART = 0.02
"""Kernel times that differ by less, as a share, are not told apart."""

BY_CLOCK = (4096, 4096, 4096, "stream-k", "stream-k-hybrid")
"""In cycles these two are less apart than that: one held the SMs at 1,511 MHz, the other at 1,593, and the
model foretells no clock."""

TIED = 0.01
"""Simulated times that differ by less, as a share, are no rank: half of all simulations are as far off."""


def test_any_two_plans_whose_times_are_apart_rank_as_measured():
    us = {(row["m"], row["n"], row["k"], row["kernel"]): row["us"] for row in PLANNED}
    compared, wrong = set(), []
    for size in sorted({key[:3] for key in us}):
        problem = Problem(*size, order="grouped:8")
        measured = {name: us[*size, f"planned:{name}"] for name in SCHEDULES}
        simulated = {name: simulate(name, problem, Device.named("h200")).makespan for name in SCHEDULES}
        for one, other in combinations(SCHEDULES, 2):
            ranked = abs(simulated[one] / simulated[other] - 1) > TIED
            if ranked and abs(measured[one] / measured[other] - 1) > APART:
                compared.add((*size, one, other))
                if (measured[one] < measured[other]) != (simulated[one] < simulated[other]):
                    wrong.append((*size, one, other))
    assert set(wrong) <= {BY_CLOCK}
    # Every size and every pair of schedules was among them.
    assert len({key[:3] for key in compared}) == len({key[:3] for key in us}) == 4
    assert {key[3:] for key in compared} == set(combinations(SCHEDULES, 2))
