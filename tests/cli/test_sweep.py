"""`tilesim sweep`: values as people write them, tables as programs read them, and never half of one."""

import contextlib
import csv
import json
import os
import pty
import signal
import subprocess
import sys
from functools import partial
from io import StringIO

import pytest
from command_line import tilesim
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Device, __version__
from tilesim.analysis.sweep import Row, combinations, sweep
from tilesim.cli.commands.sweep import Numbers

FEW = ["--m", "128:512:128", "--n", "m", "--k", "64", "--jobs", "1"]
HINTS = Row.__annotations__
SIZES = {"schedule": ["persistent", "stream-k"], "m": range(128, 513, 128), "n": ["m"], "k": [64]}
EVERY = combinations(SIZES, Device.named("h200"))
run = partial(tilesim, "sweep")


def rows_of(text):
    """The rows in a CSV, with the types of Row."""
    table = list(csv.reader(StringIO(text)))
    assert tuple(table[0]) == Row._fields
    kinds = [
        next(kind for kind in (str, int, float) if kind.__name__ in str(hint)) for hint in HINTS.values()
    ]
    rows = []
    for line in table[1:]:
        cells = zip(kinds, line, strict=True)
        rows.append(Row(*(None if kind is not str and not cell else kind(cell) for kind, cell in cells)))
    return rows


@given(st.integers(1, 10**6), st.integers(0, 500), st.integers(1, 50))
def test_a_range_has_both_ends_and_stands_beside_numbers_and_names(first, steps, step):
    last = first + steps * step
    assert Numbers().convert(f"{first}:{last}:{step}", None, None) == list(range(first, last + 1, step))
    assert Numbers().convert(f"{first}:{first + steps}", None, None) == list(range(first, first + steps + 1))
    assert Numbers("m").convert("7,M,1:3,10:12:2", None, None) == [7, "m", 1, 2, 3, 10, 12]


def test_the_table_is_that_of_the_sweep(tmp_path):
    printed = run(*FEW).stdout
    assert rows_of(printed) == sweep(EVERY)
    assert run(*FEW[:-1], "2", "-o", tmp_path / "t.csv").stdout == ""
    assert (tmp_path / "t.csv").read_bytes().decode() == printed


def test_json_is_the_same_table(tmp_path):
    text = run(*FEW, "--seed", 3, "--json", "-o", tmp_path / "t.csv").stdout
    rows = json.loads(text)
    made = [{name: row.pop(name) for name in ("origin", "seed", "tilesim")} for row in rows]
    assert [Row(**row) for row in rows] == sweep(EVERY, seed=3)
    assert made == [{"origin": "simulated", "seed": 3, "tilesim": __version__}] * len(rows)
    assert (tmp_path / "t.csv").read_text("utf-8") == run(*FEW, "--seed", 3).stdout


def test_parquet_is_the_same_table_and_needs_pyarrow(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    run(*FEW, "--schedule", "naive,split-k:2", "-o", tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet")
    rows = [Row(**values) for values in table.to_pylist()]
    assert rows == rows_of(run(*FEW, "--schedule", "naive,split-k:2").stdout)
    kinds = {"int64": int, "double": float, "string": str}
    assert all(kinds[str(field.type)].__name__ in str(HINTS[field.name]) for field in table.schema)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = run(*FEW, "-o", tmp_path / "other.parquet", code=1)
    assert said.stderr.endswith("Parquet needs pyarrow; install it with: pip install '.[tables]'\n")
    assert not (tmp_path / "other.parquet").exists()


def test_options_repeat_and_multiply():
    words = ["--schedule", "naive,persistent", "--schedule", "stream-k:2", "--m", "64", "--m", "128,192"]
    words += ["--n", "64", "--k", "64,m"]
    words += ["--tile", "64x64x32,32x32x32", "--order", "row-major,grouped:2", "--dtype", "bf16,fp16"]
    words += ["--sms", "2,3:4", "--ctas-per-sm", "1:2"]
    rows = rows_of(run(*words, "--jobs", "1").stdout)
    values = {name: list(dict.fromkeys(getattr(row, name) for row in rows)) for name in Row._fields[:10]}
    assert values["m"] == [64, 128, 192] and values["sms"] == [2, 3, 4] and values["device"] == ["h200"]
    assert values["schedule"] == ["naive", "persistent", "stream-k:2"]
    # K of 64 is M's own where M is 64.
    assert len(rows) == 3 * (1 + 2 + 2) * 2 * 2 * 2 * 3 * 2


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        (["--m", "256,512"], {(256, 256, 4096), (512, 512, 4096)}),
        (["--n", "256,512"], {(1536, 256, 4096), (1536, 512, 4096)}),
        (["--k", "64,128"], {(1536, 1536, 64), (1536, 1536, 128)}),
        (["--m", "64", "--n", "m", "--k", "m"], {(64, 64, 64)}),
        ([], {(1536, n, 4096) for n in range(256, 11521, 256)}),
    ],
)
def test_what_was_not_given_is_as_help_says(words, sizes):
    rows = rows_of(run(*words, "--jobs", "1").stdout)
    assert {(row.m, row.n, row.k) for row in rows} == sizes
    assert {row.schedule for row in rows} == {"persistent", "stream-k"}
    assert {row.device for row in rows} == {"h200"}


def test_what_a_schedule_refuses_is_counted_and_the_rest_is_there(tmp_path):
    said = run("--schedule", "naive,split-k:4", "--m", "128", "--k", "64:256:64", "--jobs", "1")
    rows = rows_of(said.stdout)
    assert [bool(row.error) for row in rows] == 4 * [False] + [True, True, True, False]
    assert said.stderr == f"note: 3 of 8 combinations cannot be simulated: {rows[4].error}\n"


def test_ctrl_c_ends_at_once_and_leaves_the_old_table(tmp_path):
    (tmp_path / "t.csv").write_text("old")
    ours, terminal = pty.openpty()
    command = [sys.executable, "-m", "tilesim", "sweep", "--m", "4096:65536:64", "--jobs", "2", "-o", "t.csv"]
    streams = {"stdout": terminal, "stderr": terminal, "env": os.environ | {"TERM": "xterm"}}
    started = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams)
    os.close(terminal)
    said = ""
    while "1%" not in said:
        said += os.read(ours, 4096).decode()
    os.killpg(started.pid, signal.SIGINT)
    assert started.wait(30) == 130
    # The terminal has its end, an error on Linux, when no process holds it any more.
    with contextlib.suppress(OSError):
        while piece := os.read(ours, 4096).decode():
            said += piece
    os.close(ours)
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert (tmp_path / "t.csv").read_text() == "old"


def test_the_picture_is_written(tmp_path):
    pytest.importorskip("manim")
    from PIL import Image

    run("--jobs", "1", "-o", tmp_path / "t.csv", "--picture", tmp_path / "p.png", "--size", "480p")
    with Image.open(tmp_path / "p.png") as picture:
        assert (picture.format, picture.size) == ("PNG", (854, 480))
