"""The order in which SMs are filled: the model, and the H200's against what was measured."""

import json
from pathlib import Path

import pytest

import tilesim
from tilesim import Device
from tilesim.devices.facts import fill_order, sources
from tilesim.devices.presets import facts, presets
from tilesim.errors import DeviceError

SHIPPED = json.loads((Path(tilesim.__file__).parent / "data/sm_order/h200.json").read_text("utf-8"))
H200 = presets()["h200"]


def test_a_cycle_begins_where_it_is_told():
    tiers = [[[4], [5]], [[0, 1], [2, 3]]]
    assert fill_order(tiers) == (4, 5, 0, 1, 2, 3)
    assert fill_order(tiers, (5, 2)) == (5, 4, 2, 3, 0, 1)
    assert fill_order([]) == ()
    with pytest.raises(DeviceError, match="no group begins with SM 1; in this tier they begin with"):
        fill_order(tiers, (4, 1))


@pytest.mark.parametrize("name", [name for name, preset in presets().items() if "sm_tiers" in preset])
def test_tiers_hold_each_sm_once_and_say_where_they_come_from(name):
    device = Device.named(name)
    assert device.sm_order == fill_order(presets()[name]["sm_tiers"])
    assert sorted(device.sm_order) == list(range(device.sms))
    assert sources()[facts(name)["sm_tiers"].source].address == "tilesim bench sm-order"
    assert Device.named(name, sms=4).sm_order == ()


def test_the_measured_groups_are_the_presets():
    """And clusters find the second tier without any order."""
    assert SHIPPED["tiers"] == H200["sm_tiers"] and SHIPPED["as_preset"] is True
    assert SHIPPED["device"] == "h200"
    assert SHIPPED["gpcs"] == sorted(sorted(group) for group in H200["sm_tiers"][1])


def test_the_model_explains_every_launch():
    rows = {(row["launched"], row["blocks_per_sm"]): row for row in SHIPPED["rows"]}
    assert set(rows) == {(how, n) for how in ("cold", "back to back", "after a full GPU") for n in (1, 2)}
    heads = [{group[0] for group in groups} for groups in H200["sm_tiers"]]
    for row in rows.values():
        assert row["explained"] == row["launches"] >= 200
        assert sum(count for _, count in row["first"]) == row["explained"]
        assert all(sm in tier for first, _ in row["first"] for sm, tier in zip(first, heads, strict=True))
    launches = sum(row["launches"] for row in SHIPPED["rows"])
    assert f"explain {launches:,} of {launches:,} launches" in facts("h200")["sm_tiers"].note


@pytest.mark.parametrize("name", presets())
def test_sms_alone_are_of_the_usual_device(name):
    usual = Device.named(name, ctas_per_sm=2)
    assert Device.chosen({"sms": 4}, usual) == Device.named(name, sms=4)
    assert Device.chosen({"sms": 4, "device": "T4"}, usual) == Device.named("t4", sms=4)
    assert Device.chosen({"sms": 4}, Device(7)) == Device(4)
    assert Device.chosen({"busy_sms": 1}, usual) == Device.named(name, ctas_per_sm=2, busy_sms=1)
