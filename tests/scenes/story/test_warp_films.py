"""What warp_specialization and ping_pong say: shipped measurements, and how near the model comes."""

from dataclasses import replace

import pytest

from tilesim import Device, Problem
from tilesim.errors import ReportError
from tilesim.ideas.warp_specialization import timeline
from tilesim.ladder.steps import LadderStep
from tilesim_scenes.story.ideas import ping_pong, warp_specialization
from tilesim_scenes.story.ideas.ladder_pairs import bar_groups, pairs, shipped

SMS = Device.named("h200").sms
SPECIALISED, TURNS = warp_specialization.tell(), ping_pong.tell()


def tiles_of_an_sm(problem):
    return -(-problem.tiles // SMS)


def modelled(pair, tile, kernel, **roles):
    """ns of the SM with most tiles, with the operands of the story's own times."""
    problem = Problem(*pair.shape, tile=tile, order="grouped:8")
    times = warp_specialization.times_of(problem, kernel, latency=SPECIALISED.times.latency)
    return timeline(times, tiles_of_an_sm(problem), problem.k_steps, **roles).makespan


def test_pairs_are_measured_at_one_problem_and_the_largest_gain_comes_first():
    for found in (SPECIALISED.gains, SPECIALISED.ahead, TURNS.pairs):
        assert [pair.gain for pair in found] == sorted((pair.gain for pair in found), reverse=True)
        assert all((pair.before.m, pair.before.n, pair.before.k) == pair.shape for pair in found)
        assert len({pair.shape for pair in found}) == len(found) == 4


def test_both_films_have_a_loss_to_show():
    assert SPECIALISED.ahead[-1].gain < 1 < SPECIALISED.ahead[0].gain
    assert TURNS.worst.gain < 1 < TURNS.best.gain
    # What the captions say of it.
    assert TURNS.worst.shape[2] > TURNS.best.shape[2] and TURNS.clock_falls > 0
    assert SPECIALISED.ahead_at_best.shape == SPECIALISED.best.shape


def test_the_wait_is_what_a_producer_spares_at_each_tile_but_the_first():
    wait = SPECIALISED.wait
    assert wait.end - wait.start == SPECIALISED.times.latency
    assert SPECIALISED.saved == (warp_specialization.TILES - 1) * SPECIALISED.times.latency
    assert all(
        pause.end - pause.start == SPECIALISED.times.write for pause in SPECIALISED.specialised.pauses()
    )


def test_the_pause_is_a_write_and_two_groups_have_none():
    assert TURNS.pause.end - TURNS.pause.start == SPECIALISED.times.write
    assert not TURNS.ping_pong.pauses()
    assert TURNS.ping_pong.tensor_core_share > TURNS.cooperative.tensor_core_share


def test_both_lanes_of_ping_pong_do_the_same_work():
    """Twice as many tiles, each of half the size."""
    assert len(TURNS.ping_pong.writes) == 2 * len(TURNS.cooperative.writes)
    assert len(TURNS.ping_pong.steps) == 2 * len(TURNS.cooperative.steps)


@pytest.mark.parametrize("pair", SPECIALISED.gains, ids=lambda pair: pair.sizes)
def test_the_model_comes_near_the_kernels_with_one_group(pair):
    """A kernel's time has its launch in it, which weighs most at 2048³."""
    tile, stages = warp_specialization.TILE, warp_specialization.STAGES
    alike = modelled(pair, tile, "persistent-tma", stages=stages, producer=False)
    specialised = modelled(pair, tile, "persistent-tma", stages=stages)
    assert alike / 1000 == pytest.approx(pair.before.us, rel=0.14)
    assert specialised / 1000 == pytest.approx(pair.after.us, rel=0.10)


@pytest.mark.parametrize("pair", TURNS.pairs, ids=lambda pair: pair.sizes)
def test_the_model_comes_near_ping_pong(pair):
    """Below what was measured, as a kernel's time has its launch in it."""
    took = modelled(pair, ping_pong.TILE, "persistent-tma-overlap", stages=ping_pong.STAGES, groups=2)
    assert 0.88 * pair.after.us < took / 1000 < pair.after.us


def test_writes_weigh_less_where_k_is_long():
    by_k = sorted(zip((pair.shape[2] for pair in TURNS.pairs), TURNS.write_shares, strict=True))
    assert [share for _, share in by_k] == sorted(TURNS.write_shares, reverse=True)


def test_of_two_bars_the_faster_is_green():
    groups = bar_groups(TURNS.pairs, "cooperative", "ping-pong")
    assert len(groups) == len(TURNS.pairs)
    for bars in groups.values():
        assert (
            max(bars, key=lambda bar: bar[1])[2] == "measured"
            and min(bars, key=lambda bar: bar[1])[2] == "quiet"
        )


def test_a_ladder_without_the_kernels_is_one_sentence():
    ladder = shipped()
    rows = tuple(row for row in ladder.rows if row.name != "ping-pong")
    with pytest.raises(ReportError, match="no problem at which both warp-specialized and ping-pong"):
        ping_pong.tell(replace(ladder, rows=rows))


def test_another_ladder_moves_the_finding_to_where_its_gain_is_largest():
    ladder = shipped()

    def faster(row: LadderStep) -> LadderStep:
        there = row.name == "ping-pong" and row.k == 4096 and row.n == 4096
        return replace(row, us=row.us / 2) if there else row

    changed = replace(ladder, rows=tuple(map(faster, ladder.rows)))
    assert pairs(changed, "warp-specialized", "ping-pong")[0].shape == (4096, 4096, 4096)
    told = ping_pong.tell(changed)
    assert told.best.shape == (4096, 4096, 4096)
    assert len(told.cooperative.steps) == ping_pong.TILES * 64
