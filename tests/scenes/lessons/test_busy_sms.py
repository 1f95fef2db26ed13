"""The lesson on held SMs: what it says is true of the data, or it is not made."""

from copy import deepcopy
from dataclasses import replace

import pytest
from prepared import prepared

from tilesim import Device, Problem, simulate
from tilesim.ladder.reports import report
from tilesim_scenes import busy_sms
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.many_sms import alike_together, round_ends


@pytest.mark.parametrize(
    ("mixed_up", "instead", "claim"),
    [
        ("persistent-busy1", "persistent-busy0", "does two lists"),
        ("naive-busy1", "persistent-busy1", "a block per tile"),
    ],
)
def test_data_that_does_not_bear_it_out_is_refused(mixed_up, instead, claim, monkeypatch):
    monkeypatch.setattr(
        busy_sms, "shipped", lambda path: shipped(path.replace(f"h200-{mixed_up}-", f"h200-{instead}-"))
    )
    with pytest.raises(SystemExit, match=claim):
        prepared(busy_sms.BusySms)


def test_a_naive_kernel_that_is_faster_with_all_sms_free_is_refused(monkeypatch):
    other = deepcopy(dict(report("busy_sms")))
    for row in other["rows"]:
        if row["kernel"] == "naive":
            row["us"] *= 0.9
    monkeypatch.setattr(busy_sms, "report", lambda _: other)
    with pytest.raises(SystemExit, match="a little faster"):
        prepared(busy_sms.BusySms)


def test_runs_of_two_products_are_refused(monkeypatch):
    def altered(path):
        trace = shipped(path)
        return replace(trace, meta=trace.meta | {"gpu": "another"}) if "busy0" in path else trace

    monkeypatch.setattr(busy_sms, "shipped", altered)
    with pytest.raises(SystemExit, match="one GPU"):
        prepared(busy_sms.BusySms)


def test_rounds_end_one_after_the_other_and_the_busiest_rows_stand_first():
    run = simulate("persistent", Problem(128, 1536, 512), Device.named("h200", sms=4))
    assert len(round_ends(run)) == busy_sms.rounds(run) == 2
    assert round_ends(run) == sorted(round_ends(run))
    assert alike_together(run) == [0, 1, 2, 3]


def test_data_of_one_s_own_leads_to_the_neutral_film():
    scene = busy_sms.BusySms(skip_animations=True)
    scene.settings = {"sms": 8, "busy_sms": 2}
    scene.setup()
    assert isinstance(scene, RaceFilm) and len(scene.traces) == 3
