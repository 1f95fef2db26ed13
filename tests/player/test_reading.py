"""What a reader asks of runs: totals of a range, a search, the median, a link, and colours to tell apart."""

import numpy as np
import pytest
from programs import data_in, in_node, needs_node, race, split

from tilesim import Device, Problem, metrics, player, simulate

RUNS = {
    "naive": lambda: race()[0],
    "persistent": lambda: race()[1],
    "split": split,
    "two blocks an SM": lambda: simulate("naive", Problem(384, 1536, 256), Device(3, ctas_per_sm=2)),
}


def brute(trace, since, until):
    """Busy slot-time in ns by marking each ns, and tiles done, in (since, until]."""
    busy = np.zeros((trace.device.slots, trace.makespan), bool)
    ends = {}
    for span in trace.spans:
        busy[span["sm"] * trace.device.ctas_per_sm + span["slot"], span["issue"] : span["done"]] = True
        ends[span["tile"]] = max(ends.get(span["tile"], 0), span["done"])
    return int(busy[:, since:until].sum()), sum(since < end <= until for end in ends.values())


@needs_node
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("shares", [(0, 1), (0.2, 0.21), (0.3, 0.8), (0.9, 1)])
def test_totals_are_those_of_every_ns(name, shares):
    trace = RUNS[name]()
    since, until = (int(share * trace.makespan) for share in shares)
    given = {"run": data_in(player.page([trace]))["runs"][0], "range": {"from": since, "to": until}}
    found = in_node("return player.totals(player.read(given.run), given.range);", given)
    busy, tiles = brute(trace, since, until)
    assert found == {"busy": busy, "idle": trace.device.slots * (until - since) - busy, "tiles": tiles}
    if shares == (0, 1):
        assert busy / (busy + found["idle"]) == pytest.approx(metrics.busy_share(trace))


@needs_node
def test_the_median_is_numpys():
    for trace in (race()[0], race()[1], split()):
        found = in_node("return player.read(given).median;", data_in(player.page([trace]))["runs"][0])
        assert found == np.median(trace.spans["done"] - trace.spans["issue"])


@needs_node
@pytest.mark.parametrize(
    ("words", "lit"),
    [
        ("tile 7", {"kind": "tile", "id": 7}), ("7", {"kind": "tile", "id": 7}),
        ("SM 3", {"kind": "sm", "id": 3}), ("sm3", {"kind": "sm", "id": 3}),
        (" Block #12 ", {"kind": "block", "id": 12}), ("CTA 0", {"kind": "block", "id": 0}),
        ("tile 18", None), ("SM 4", None), ("warp 1", None), ("", None), ("tile", None), ("tile -1", None),
    ],
)  # fmt: skip
def test_a_search_finds_what_it_names(words, lit):
    trace = race()[0]
    given = {"run": data_in(player.page([trace]))["runs"][0], "words": words}
    found = in_node("return player.find([player.read(given.run)], given.words);", given)
    assert (found and found["lit"]) == lit
    if found:
        span = trace.spans[found["place"]["row"]]
        assert span[{"tile": "tile", "sm": "sm", "block": "cta"}[lit["kind"]]] == lit["id"]


@needs_node
def test_an_address_gives_back_what_it_was_made_of():
    shown = {
        "t": 12_345, "view": {"from": 1_001, "to": 30_000}, "range": {"from": 2_000, "to": 9_999},
        "speed": 2, "loop": True, "lit": {"kind": "block", "id": 5}, "pinned": {"run": 1, "row": 3},
    }  # fmt: skip
    given = {
        "runs": data_in(player.page(race()))["runs"], "shown": shown, "whole": {"from": 0, "to": 42_000}
    }  # fmt: skip
    script = """
        const runs = given.runs.map(player.read), { shown, whole } = given;
        return [player.shownIn(player.addressOf(shown, whole), runs, whole),
            player.shownIn('#start=x&end=9&at=1e9&pin=7.7&sm=-1&speed=zero&from=9&to=2&loops', runs, whole)];
    """
    back, odd = in_node(script, given)
    assert back == shown
    assert odd == {
        "loop": False,
        "range": {"from": 0, "to": 9000},
        "view": {"from": 0, "to": 9000},
        "t": 42_000,
    }


@needs_node
@pytest.mark.parametrize("sms", [1, 6, 132])
@pytest.mark.parametrize("ground", [[222, 226, 231], [33, 39, 48]])
def test_shapes_and_the_numbers_in_them_can_be_told_from_their_ground(ground, sms):
    script = """return player.smColours(given.sms).map((hue) => {
        const made = player.legible(hue, given.ground);
        return [made, player.inkOn(made).match(/\\d+/g).map(Number)];
    });"""
    for shape, ink in in_node(script, {"sms": sms, "ground": ground}):
        assert contrast(shape, ground) >= 3
        assert contrast(ink, shape) >= 4.5


def contrast(one, other):
    """By WCAG 2.2."""

    def luminance(colour):
        share = np.array(colour) / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)
