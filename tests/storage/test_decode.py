"""Decoding: what a type describes is read, and what it does not allow is told in one sentence."""

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from tilesim.errors import TilesimError
from tilesim.storage.decode import FILLED, ONE_LINE, ROUNDED, between, check, decode, one_of, text

Size = Annotated[int, between(1, 1024)]


@dataclass(frozen=True)
class Row:
    tile: tuple[Size, Size]
    loads: Literal["tma", "ptr"] = "tma"
    us: Annotated[float, between(0, above=True)] | None = None
    stages: Annotated[int, between(0, 9), ROUNDED] = 0
    note: Annotated[str, text(1, 20), ONE_LINE] = "none"


@dataclass(frozen=True)
class Report:
    rows: Annotated[list[Row], FILLED]
    limits: dict[Annotated[str, one_of(("bf16", "fp8"))], int | float]
    best: Row | None = None
    exact: bool = False
    notes: Any = None


VALUES = {"rows": [{"tile": [64, 8], "us": 3}, {"tile": [1, 2], "loads": "ptr"}], "limits": {"fp8": 2}}


def read(values, **options):
    return decode(Report, values, "the report", TilesimError, **options)


def test_what_a_type_says_is_read():
    found = read(VALUES)
    assert found == Report([Row((64, 8), us=3.0), Row((1, 2), "ptr")], {"fp8": 2})
    assert type(found.rows[0].us) is float and type(found.limits["fp8"]) is int
    assert read(json.loads(json.dumps(asdict(found)))) == found
    row = decode(Row, {"tile": (1, 2), "stages": 2.6, "note": "a\n b"}, "a row", TilesimError)
    assert (row.stages, row.note) == (3, "a b")


def test_unknown_fields_may_be_left_alone():
    assert read(VALUES | {"later": 1, "best": {"tile": [1, 2], "more": 2}}, extra=True).best == Row((1, 2))


def row(**changes):
    return VALUES | {"rows": [VALUES["rows"][0], VALUES["rows"][1] | changes]}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "the report is []; it must be an object"),
        ({}, "the report lacks rows and limits"),
        (VALUES | {"row": 1}, "there is no field of the report 'row'; did you mean 'rows'?"),
        (VALUES | {"rows": []}, "rows is []; it must be a list that is not empty"),
        (VALUES | {"rows": [{}]}, "rows[0] lacks tile"),
        (VALUES | {"limits": {"bf61": 1}}, "a field of limits is 'bf61'; did you mean 'bf16'?"),
        (VALUES | {"limits": {"fp8": True}}, "limits.fp8 is True; it must be a number"),
        (VALUES | {"limits": {"fp8": float("nan")}}, "limits.fp8 is nan; it must be a number"),
        (VALUES | {"exact": 1}, "exact is 1; it must be true or false"),
        (VALUES | {"best": 5}, "best is 5; it must be an object or null"),
        (VALUES | {"best": {"tile": [1, 0]}}, "best.tile[1] is 0; it must be a whole number from 1 to 1024"),
        (row(tile=[1]), "rows[1].tile is [1]; it must be a list of 2"),
        (row(tile=[1, 2.0]), "rows[1].tile[1] is 2.0; it must be a whole number from 1 to 1024"),
        (row(tile=[1, True]), "rows[1].tile[1] is True; it must be a whole number from 1 to 1024"),
        (row(tile="12"), "rows[1].tile is '12'; it must be a list of 2"),
        (row(loads="tmaa"), "rows[1].loads is 'tmaa'; did you mean 'tma'?"),
        (row(loads=1), "rows[1].loads is 1; it must be one of tma, ptr"),
        (row(us=0), "rows[1].us is 0; it must be a number above 0"),
        (row(us="0"), "rows[1].us is '0'; it must be a number above 0 or null"),
        (row(us=10**400), "rows[1].us is 1000"),
        (row(stages=-0.4), "rows[1].stages is -0.4; it must be a number from 0 to 9"),
        (row(note=" \n"), "rows[1].note is ''; it must be a text of 1 to 20 characters"),
        (row(note="x" * 21), "it must be a text of 1 to 20 characters"),
        (row(note="a\0"), "rows[1].note is 'a\\x00' with a U+0000, which cannot be printed"),
        (row(**{"a\0\n": 1}), "there is no field of rows[1] 'a\\x00\\n'"),
    ],
)
def test_what_a_type_does_not_allow_is_one_sentence(values, sentence):
    with refused(sentence):
        read(values)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=4)
)
def test_anything_is_read_or_refused(value):
    for name in ("tile", "loads", "us", "stages", "note"):
        try:
            read(row(**{name: value}))
        except TilesimError as error:
            assert str(error).startswith(f"rows[1].{name}") and str(error).isprintable()


def test_what_rules_allow_that_are_told_no_more():
    assert [one_of(["a"], **empty).allows("") for empty in ({}, {"empty": True})] == [False, True]
    assert text().allows("") and between(0).allows(0) and not between(0, above=True).allows(0)


def test_an_instance_is_held_against_its_types():
    made = Row([1, 2], us=2)
    check(made, TilesimError)
    assert made.tile == (1, 2) and type(made.us) is float
    with pytest.raises(TilesimError, match="loads is 'x'"):
        check(Row((1, 2), "x", us="x"), TilesimError, "loads")
    check(Row((1, 2), us="x"), TilesimError, "loads")
