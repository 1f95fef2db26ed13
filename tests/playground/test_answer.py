"""What the playground answers to a form, in plain Python."""

import json
import shlex

import pytest
from command_line import said
from hypothesis import given
from hypothesis import strategies as st
from programs import data_in

from tilesim import SCHEDULES, Device, Problem, plan, player, simulate
from tilesim.player.playground import DEFAULT, answer, choices

SMALL = {"m": "512", "n": "768", "sms": "4"}


def test_the_player_shows_what_simulate_computes():
    found = answer(SMALL | {"schedules": "naive  split-k:2 stream-k"})
    traces = [
        simulate(name, Problem(512, 768, 512), Device.named("h200", 4))
        for name in ("naive", "split-k:2", "stream-k")
    ]
    assert found["page"] == player.page(traces)
    assert found["figures"]["waves"] == [str(trace.summary()["waves"]) for trace in traces]
    assert found["names"] == [run["name"] for run in data_in(found["page"])["runs"]]


def test_the_plan_lists_blocks_and_their_tiles():
    (plan,) = answer(SMALL | {"schedules": "persistent"})["plans"]
    assert plan["rows"][:2] == [("0", "0 4 8"), ("1", "1 5 9")]
    (queued,) = answer(SMALL | {"schedules": "persistent-dynamic"})["plans"]
    assert queued["rows"][-1][0] == "shared queue"


@pytest.mark.parametrize(
    "fields",
    [{}, SMALL, {"device": "a100", "sms": "7", "tile": "64x64x32", "order": "grouped:4", "dtype": "fp16"}],
)
def test_the_command_says_the_same(fields):
    found = answer(fields)
    makespan = json.loads(said(*shlex.split(found["command"])[1:], "--json"))["makespan_ns"]
    assert found["figures"]["makespan"][0] == player.figures.microseconds(makespan)


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("m", "0", "it must be a whole number from 1"),
        ("k", "9" * 99, "it must be a whole number"),
        ("tile", "0x1x1", "tile[0] is 0"),
        ("order", "grouped", "has 0 parameters"),
        ("sms", "0", "it must be a whole number from 1"),
        ("schedules", "naiv", "did you mean 'naive'?"),
        ("schedules", "split-k:99", "K-steps"),
        ("schedules", "", "choose 1 to 4 schedules"),
        ("schedules", "naive " * 5, "these are 5"),
        ("tile", "1x1x1", "at most 16,384"),
    ],
)
def test_a_field_that_is_wrong_has_its_sentence(field, text, sentence):
    found = answer({field: text})
    assert found["errors"].keys() == {field}
    assert sentence in found["errors"][field]
    assert "\n" not in found["errors"][field]


MUCH = {"m": "16384", "n": "16384", "k": "999999999"}
PIECES = {"n": "8192", "tile": "64x64x64", "k": "8192", "schedules": "naive split-k:64"}


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        (MUCH, "k", "K-steps in all tiles"),
        (PIECES, "schedules", "segments"),
        ({"device": "v100"}, "dtype", "bf16"),
    ],
)
def test_what_the_fields_make_together_is_refused_beside_one(fields, field, sentence):
    """Work that a browser would choke on, and a GPU without a rate of the dtype."""
    found = answer(fields)["errors"]
    assert found.keys() == {field}
    assert sentence in found[field]


def test_a_schedule_of_the_machine_that_builds_the_page_is_not_offered():
    @SCHEDULES.register
    def mine(problem, device):
        return plan("naive", problem, device)

    try:
        assert "mine" not in choices()["schedules"]
    finally:
        SCHEDULES.discard("mine")
    assert "naive" in choices()["schedules"]


@pytest.mark.parametrize("field", choices())
def test_every_choice_can_be_played(field):
    offered = choices()[field]
    assert set(DEFAULT[field].split()) <= set(offered)
    for value in offered:
        # Not every GPU has tensor cores for bf16, and all have a rate of fp16.
        form = {"k": "1024", "device": "b200", "dtype": "fp16", field: value}
        assert "page" in answer(SMALL | form), value


@given(st.dictionaries(st.sampled_from(sorted(DEFAULT)), st.text(max_size=12), max_size=3))
def test_whatever_is_typed_is_answered(form):
    found = answer(SMALL | form)
    assert ("page" in found) != ("errors" in found)
    assert json.dumps(found)


def test_what_is_no_field_is_left_out():
    assert answer(SMALL | {"page": "<script>", "__class__": "x"}) == answer(SMALL)
