"""What the playground answers to a form, in plain Python."""

import json
import shlex

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from programs import data_in

from tilesim import Device, Problem, player, simulate
from tilesim.cli import main
from tilesim.player.playground import DEFAULT, MOST_TILES, answer, choices

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
    ran = CliRunner().invoke(main, [*shlex.split(found["command"])[1:], "--json"])
    makespan = json.loads(ran.stdout)["makespan_ns"]
    assert found["figures"]["makespan"][0] == player.figures.microseconds(makespan)


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("m", "0", "it must be a whole number from 1"),
        ("n", "-4", "'-4'"),
        ("k", "9" * 99, "it must be a whole number"),
        ("k", "1e3", "'1e3'"),
        ("tile", "128x256", "'128x256' is not three sizes such as 128x256x64"),
        ("tile", "0x1x1", "tile_m is 0"),
        ("order", "grouped", "needs 1 parameter"),
        ("order", "spiral", "there is no order 'spiral'"),
        ("dtype", "fp3", "did you mean"),
        ("device", "h300", "did you mean 'h200'?"),
        ("sms", "0", "it must be a whole number from 1"),
        ("sms", "many", "'many'"),
        ("schedules", "naiv", "did you mean 'naive'?"),
        ("schedules", "split-k:99", "K-steps"),
        ("schedules", "", "choose 1 to 4 schedules"),
        ("schedules", "naive " * 5, "these are 5"),
        ("tile", "1x1x1", "at most 16,384"),
    ],
)
def test_a_field_that_is_wrong_has_its_sentence(field, text, said):
    found = answer({field: text})
    assert found["errors"].keys() == {field}
    assert said in found["errors"][field]
    assert "\n" not in found["errors"][field]


def test_work_that_a_browser_would_choke_on_is_refused():
    assert "K-steps" in answer({"m": "16384", "n": "16384", "k": "999999999"})["errors"]["k"]
    many = {"m": "1024", "n": "8192", "tile": "64x64x64", "k": "131072", "schedules": "split-k:2048"}
    assert (
        "segments"
        in answer(many | {"m": "64"} | {"schedules": " ".join(["split-k:256"] * 4)})["errors"]["schedules"]
    )


def test_every_choice_that_is_offered_can_be_played():
    for field, offered in choices().items():
        assert DEFAULT[field].split()[0] in offered
        for value in offered:
            form = SMALL | {"k": "1024", field: value}
            found = answer(form)
            # A T4 has no tensor cores for bf16, which is said.
            assert "page" in found or "bf16" in str(found["errors"]) or "fp" in str(found["errors"]), value


@given(st.dictionaries(st.sampled_from(sorted(DEFAULT)), st.text(max_size=12), max_size=3))
def test_whatever_is_typed_is_answered(form):
    found = answer(SMALL | form)
    assert ("page" in found) != ("errors" in found)
    assert json.dumps(found)


def test_hostile_text_is_quoted_as_text():
    hostile = "</script><script>alert(1)</script>"
    assert "page" not in answer({"schedules": hostile})
    assert MOST_TILES == 16_384
