"""A table of `tilesim tune` with something changed is a table, or one short sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutations import changed_bytes, changed_values, is_read_or_refused

# Whoever imports Triton first, among all tests, must tell it to interpret: this does.
pytest.importorskip("on_device")

from tilesim.ladder.reports import report
from tilesim_kernels.tuning import choice as table

VALUES = report("tuned") | {"rows": report("tuned")["rows"][:3]}


@given(st.data())
def test_tables(tmp_path_factory, data):
    content = data.draw(changed_values(VALUES) | changed_bytes([json.dumps(VALUES).encode()]))
    is_read_or_refused(table.read, dict, tmp_path_factory.getbasetemp() / "any.json", content)
