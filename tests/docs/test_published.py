"""What others published, beside simulations: each row has a source, and its difference an account."""

import pytest
from figures.published import Published, compared, data

from tilesim.analysis.time_account import PARTS
from tilesim.devices.presets import presets
from tilesim.schedules import SCHEDULES

ROWS = data()["rows"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['source']}-{row['device']}-{row.get('k', '')}")
def test_rows_are_complete(row):
    source = data()["sources"][row["source"]]
    assert source["address"].startswith("https://") and source["year"] >= 2023 and row["note"]
    assert row["device"] in presets() and set(row["schedules"]) <= set(SCHEDULES)
    low, high = row["published"]
    assert low or high


def test_every_source_is_used():
    assert {row["source"] for row in ROWS} == set(data()["sources"])


@pytest.mark.parametrize("one", [one for one in compared() if one.parts], ids=lambda one: one.row["source"])
def test_the_difference_is_accounted_for(one):
    assert one.simulated != 1 and set(one.parts) == set(PARTS)
    assert sum(one.parts.values()) == pytest.approx(1 - 1 / one.simulated, abs=1e-3)


@pytest.mark.parametrize(
    ("low", "high", "simulated", "agrees"),
    [
        (1.2, 1.2, 1.15, True),
        (1.2, 1.2, 1.27, False),
        (0.9, 1.2, 1.0, True),
        (1.0, None, 0.99, False),
        (1.0, None, 5.0, True),
        (None, 1.0, 1.01, False),
        (None, 1.0, 0.9, True),
    ],
)
def test_agreement(low, high, simulated, agrees):
    assert Published({}, low, high, simulated, {}).agrees == agrees
