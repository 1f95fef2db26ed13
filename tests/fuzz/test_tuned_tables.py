"""A table of `tilesim tune` with something changed is a table, or one short sentence."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import changed_bytes, changed_values
from refusals import is_read_or_refused

# Whoever imports Triton first, among all tests, must tell it to interpret: this does.
pytest.importorskip("interpreter")

import tilesim
from tilesim_kernels.tuning import choice as table

SHIPPED = json.loads((Path(tilesim.__file__).parent / "data" / "tuned" / "h200.json").read_text())
VALUES = SHIPPED | {"rows": SHIPPED["rows"][:3]}

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux to bound memory")


@settings(max_examples=2 * settings.default.max_examples)
@given(st.data())
def test_tables(tmp_path_factory, data):
    content = data.draw(changed_values(VALUES) | changed_bytes([json.dumps(VALUES).encode()]))
    is_read_or_refused(table.read, dict, tmp_path_factory.getbasetemp() / "any.json", content)
