"""What would make a run faster: each alternative is a simulation that anybody can repeat."""

from dataclasses import replace

import pytest
from recordings import recording

from tilesim import SCHEDULES, Costs, Device, Plan, Problem, plan, simulate
from tilesim.analysis.alternatives import ORDERS, alternatives
from tilesim.errors import TilesimError
from tilesim.plans import segments

PROBLEM, H200 = Problem(2048, 2048, 1024, order="grouped:8"), Device.named("h200", sms=24)


def reversed_tiles(problem, device):
    """A schedule of one's own: the last tile first, a block for each."""
    tiles = plan("naive", problem, device).segments["tile"][::-1]
    return Plan(segments(range(len(tiles)), tiles, 0, problem.k_steps), ctas=len(tiles))


def makespans(run):
    return {(each.what, each.to): each.makespan for each in alternatives(run).ranked}


@pytest.mark.parametrize("schedule", ["naive", "stream-k"])
def test_alternatives_are_what_simulations_take_the_fastest_first(schedule):
    run = simulate(schedule, PROBLEM, H200, seed=3)
    found = alternatives(run)
    assert found.makespan == run.makespan
    times = [each.makespan for each in found.ranked]
    assert times == sorted(times)
    for each in found.ranked:
        assert each.gain == pytest.approx(1 - each.makespan / run.makespan)
        if each.what == "schedule":
            assert each.makespan == simulate(each.to, PROBLEM, H200, seed=3).makespan
        elif each.what == "order":
            other = replace(PROBLEM, order=each.to)
            assert each.makespan == simulate(schedule, other, H200, seed=3).makespan


def test_every_order_and_every_schedule_that_has_costs_is_tried_and_the_others_are_named():
    found = alternatives(simulate("naive", PROBLEM, H200))
    tried = {each.to.partition(":")[0] for each in found.ranked if each.what == "schedule"}
    without = {name for name in found.without_costs if name in SCHEDULES}
    assert tried | without | {"naive"} == set(SCHEDULES)
    assert without == {"cluster-launch-control"}
    assert {each.to for each in found.ranked if each.what == "order"} == set(ORDERS) - {"grouped:8"}


def test_a_kernel_of_another_tile_has_its_own_residents_and_stages():
    run = simulate("persistent", PROBLEM, H200)
    found = makespans(run)
    own = {to: ns for (what, to), ns in found.items() if what == "kernel"}
    tile = replace(PROBLEM, tile=(128, 128, 64))
    pair = simulate("persistent", tile, replace(H200, ctas_per_sm=2))
    alone = simulate("persistent", tile, H200)
    assert own["128x128x64, 3 stages, 4 warps, 2 per SM"] == pair.makespan
    assert own["128x128x64, 6 stages, 4 warps"] == alone.makespan
    assert "128x256x64, 3 stages, 8 warps" not in own  # it is the run's own
    assert len([to for to in own if to.endswith("table-driven")]) >= 3
    stages = {to: ns for (what, to), ns in found.items() if what == "stages"}
    assert set(stages) == {"2", "4"}  # 48 KiB each, and 228 KiB
    assert stages["2"] > run.makespan >= stages["4"]
    two = replace(Costs.from_mapping(run.meta["costs"]), stages=2)
    assert stages["2"] == simulate("persistent", PROBLEM, H200, two).makespan


def test_tiles_without_costs_are_named():
    words = alternatives(simulate("persistent", PROBLEM, H200)).without_costs
    assert "tiles other than 128x256x64, 128x128x64" in words


def test_a_recording_is_held_against_its_own_simulation():
    run = recording("persistent-no-overlap-4096x4096x512-grouped8")
    found = alternatives(run)
    assert found.makespan == pytest.approx(run.makespan, rel=0.1)
    overlapped = next(each for each in found.ranked if each.to == "128x256x64, 3 stages, 8 warps")
    assert overlapped.gain > 0
    assert overlapped.makespan == simulate("persistent", run.problem, run.device).makespan


def test_an_unfinished_last_wave_is_won_back_by_cutting_tiles():
    run = recording("naive-3072x3072x12288-tile128x128x64-grouped8")
    best = alternatives(run).ranked[0]
    assert best.what == "schedule" and best.to.startswith("stream-k") and best.gain > 0.1


def test_of_a_kernel_of_others_only_schedules_are_tried():
    run = replace(recording("naive-4096x4096x512-grouped8"), schedule="my_kernel")
    assert {each.what for each in alternatives(run).ranked} == {"schedule"}


def test_a_schedule_of_ones_own_is_tried_in_other_orders_and_with_kernels_like_its():
    SCHEDULES.register(reversed_tiles)
    run = simulate("reversed_tiles", PROBLEM, H200)
    tried = {(each.what, each.to) for each in alternatives(run).ranked}
    assert ("order", "morton") in tried and ("schedule", "persistent") in tried
    assert ("kernel", "128x128x64, 3 stages, 4 warps, 2 per SM") in tried


def test_what_the_problem_refuses_is_left_out():
    one_step = simulate("naive", replace(PROBLEM, k=64), H200)
    assert not any(to.startswith("split-k") for _, to in makespans(one_step))


def test_on_another_gpu_costs_are_scaled_and_kernels_must_fit_its_shared_memory():
    half = replace(PROBLEM, dtype="fp16")
    on = {name: makespans(simulate("naive", half, Device.named(name, sms=24))) for name in ("h100", "a100")}
    pair = "kernel", "128x128x64, 3 stages, 4 warps, 2 per SM"
    other = simulate("naive", replace(half, tile=(128, 128, 64)), Device.named("h100", 24, ctas_per_sm=2))
    assert on["h100"][pair] == other.makespan
    assert pair not in on["a100"]  # 6 stages of 32 KiB, and 164 KiB


def test_an_order_of_sms_that_lists_each_slot_is_kept_for_another_number_of_residents():
    run = recording("naive-2304x2048x512-tile128x128x64-grouped8")
    twice = replace(run.device, sm_order=tuple(sm for sm in run.device.free_sms for _ in range(2)))
    tried = makespans(simulate("naive", run.problem, twice))
    assert ("kernel", "128x256x64, 3 stages, 8 warps") in tried


@pytest.mark.parametrize("costs", [Costs.ideal(), Costs(300)])
def test_costs_of_no_hardware_have_no_alternatives(costs):
    with pytest.raises(TilesimError, match="costs"):
        alternatives(simulate("naive", PROBLEM, H200, costs))


def test_a_seed_that_is_none_is_refused():
    run = simulate("naive", PROBLEM, H200)
    with pytest.raises(TilesimError, match="seed"):
        alternatives(replace(run, meta=run.meta | {"seed": "x"}))


def test_costs_of_other_tiles_are_marked_and_give_no_advice():
    found = alternatives(simulate("naive", replace(PROBLEM, tile=(128, 128, 64)), H200))
    marked = {each.to: each.extrapolated for each in found.ranked}
    assert marked["persistent-dynamic"] == "bf16 tiles of 128x256x64" and not marked["persistent"]
    assert "persistent-dynamic" not in {each.to for each in found.advice} and not found.extrapolated


def test_on_another_gpu_all_alternatives_are_as_extrapolated_as_the_run():
    found = alternatives(simulate("naive", PROBLEM, Device.named("h100")))
    assert found.extrapolated == "another GPU" and found.advice == found.ranked
