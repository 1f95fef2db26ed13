"""Damaged files: real ones with something changed, and calls that read them within bounds."""

import json
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tilesim.errors import TilesimError

NUMBERS = st.sampled_from(
    [0, 1, -1, 2, 2**31 - 1, 2**31, 2**35, 2**40, 2**63 - 1, 2**63, 10**30, 10**400, 0.5, 2.0, -0.0, 1e308]
)
WORDS = st.sampled_from(
    ["", "h200", "grouped:0", "grouped:8:8", "simulated", "128x256x64", "a\0b", "\ud800", "\ufffe",
     "\U0010ffff", "\x1b[31m", "\u202e", "x" * 5000, "NaN", "../../a", "tile 1", "SM 1"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["m", "tile", "sms", "sm_order", "name", "device", "problem", "meta", "gpu", "launches", "schedule",
     "spans", "args", "ts", "traceEvents", "rows", "costs", "version", "\0"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
DEEP = 900


@st.composite
def changed_values(draw, values):
    """JSON text of `values` with one to three of them replaced, removed, doubled or nested deeply."""
    values = json.loads(json.dumps(values))
    for _ in range(draw(st.integers(1, 3))):
        place = values
        while place:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            if not isinstance(place[key], dict | list) or not place[key] or draw(st.integers(0, 3)) == 0:
                break
            place = place[key]
        if not place:
            break
        how = draw(st.sampled_from(["replace", "replace", "remove", "add", "nest"]))
        if how == "replace":
            place[key] = draw(VALUES)
        elif how == "remove":
            place.pop(key)
        elif how == "nest":
            for _ in range(draw(st.sampled_from([1, 40, DEEP]))):
                place[key] = [place[key]]
        elif isinstance(place, dict):
            place[draw(KEYS)] = draw(VALUES)
        else:
            place.insert(key, place[key])
    return json.dumps(values)


@st.composite
def changed_bytes(draw, contents):
    """One of `contents` with up to eight places changed: bytes set, cut, put in, doubled, or all cut off."""
    data = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 8))):
        begin = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([1, 1, 2, 4, 8, 30]))
        how = draw(st.sampled_from(["set", "set", "set", "cut", "insert", "double", "end"]))
        if how == "set":
            data[begin : begin + length] = draw(st.binary(min_size=length, max_size=length))
        elif how == "cut":
            del data[begin : begin + length]
        elif how == "insert":
            data[begin:begin] = draw(
                st.binary(max_size=9) | WORDS.map(lambda w: w.encode("utf-8", "replace"))
            )
        elif how == "double":
            data[begin:begin] = data[begin : begin + 10 * length]
        else:
            del data[begin:]
    return bytes(data)


@st.composite
def changed_table(draw, text):
    """A CSV file with cells, facts or lines replaced."""
    lines = text.splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        separator = " " if lines[at].startswith("#") else ","
        words = lines[at].split(separator)
        word = draw(st.integers(0, len(words) - 1))
        name = words[word].partition("=")[0] + "=" if "=" in words[word] else ""
        words[word] = name + draw(VALUES.map(json.dumps) | NUMBERS.map(str) | st.just(""))
        lines[at] = separator.join(words)
    return "\n".join(lines)


MEMORY, SECONDS = 3 * 2**29, 60
LONGEST = 700
"""Characters of a sentence, its path left out."""


@contextmanager
def bounded():
    """Raise MemoryError beyond MEMORY more bytes than there are, and TimeoutError after SECONDS."""

    def late(*_):
        raise TimeoutError(f"this took more than {SECONDS} s")

    kept = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, late)
    here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + MEMORY, kept[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, kept)


def is_read_or_refused(call, kind, path, content):
    """Whether `call(path)` returns a `kind`; else it has raised one sentence. Needs Linux to bound memory."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs Linux to bound memory")
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    with bounded():
        try:
            assert isinstance(call(path), kind)
        except TilesimError as error:
            said = str(error).replace(str(path), "", 1)
            assert len(said) < LONGEST, said
            assert said.isprintable(), said
            return False
    return True
