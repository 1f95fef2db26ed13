"""Whatever a file holds: what it describes, or one short sentence, in bounded time and memory."""

import gzip
import io
import json
import zipfile

import numpy as np
import others
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ladders import values as ladder_values
from mutations import VALUES, changed_bytes, changed_table, changed_values, is_read_or_refused
from recordings import DATA

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.formats import save
from tilesim.formats.reader import read
from tilesim.kernel_costs.default import read_costs
from tilesim.ladder import file as ladder
from tilesim.ladder.steps import Ladder

TRACE = simulate("stream-k", Problem(128, 256, 128, tile=(64, 64, 64)), Device(3, 2, 1, sm_order=(2, 0, 1)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def written(folder):
    """What tilesim writes of TRACE, by format."""
    TRACE.save(folder / "npz")
    for form in ("csv", "json", "perfetto"):
        save(TRACE, folder / form, form)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    return found | {"gzip": gzip.compress(found["csv"])}


@given(st.data())
def test_bytes_of_any_format(folder, written, data):
    content = data.draw(changed_bytes([written[form] for form in sorted(written)]))
    is_read_or_refused(read, Trace, folder / data.draw(st.sampled_from(["any", "any.npz"])), content)


@given(st.data())
def test_values_of_json(folder, written, data):
    form = data.draw(st.sampled_from(["json", "perfetto"]))
    content = data.draw(changed_values(json.loads(written[form])))
    is_read_or_refused(read, Trace, folder / "any", content)


@given(st.data())
def test_events_of_others(folder, written, data):
    events = json.loads(written["perfetto"])["traceEvents"]
    about = {"m": 128, "n": 256, "k": 128, "tile": "64x64x64", "sms": 3, "ctas_per_sm": 2}
    path = folder / "any"
    is_read_or_refused(lambda path: read(path, about), Trace, path, data.draw(changed_values(events)))


@given(st.data())
def test_cells_and_facts_of_csv(folder, written, data):
    content = data.draw(changed_table(written["csv"].decode()))
    is_read_or_refused(read, Trace, folder / "any", content)


TOLD = {name: others.FACTS | others.MAPS[name] for name in others.FILES}
CONTENTS = {name: make() for name, make in others.FILES.items()}


@given(st.data())
def test_files_of_profilers(folder, data):
    name = data.draw(st.sampled_from(sorted(CONTENTS)))
    content = CONTENTS[name] if isinstance(CONTENTS[name], bytes) else CONTENTS[name].encode()
    way = data.draw(st.sampled_from([TOLD[name], {"sms": 4, "items": True}]))
    changed = changed_bytes([content])
    if name.endswith(".json"):
        changed |= changed_values(json.loads(content))
    is_read_or_refused(lambda path: read(path, way), Trace, folder / "any", data.draw(changed))


@given(st.data())
def test_tables_of_tiles(folder, data):
    table = "\n".join(["cta,tile", *(f"{cta},{cta + 4 * n}" for cta in range(4) for n in range(3))])
    (folder / "rows.csv").write_text(others.plain())

    def call(path):
        return read(folder / "rows.csv", TOLD["plain.csv"] | {"tile_from": str(path)})

    content = data.draw(changed_table(table) | changed_bytes([table.encode()]))
    is_read_or_refused(call, Trace, folder / "tiles", content)


@given(st.data())
def test_headers_and_arrays_of_npz(folder, written, data):
    with np.load(io.BytesIO(written["npz"])) as arrays:
        header, planes = json.loads(bytes(arrays["header"])), arrays["planes"]
    text = json.dumps(header)
    if data.draw(st.booleans()):
        text = data.draw(changed_values(header))
    else:
        planes = planes.copy()
        for _ in range(data.draw(st.integers(1, 4))):
            place = tuple(data.draw(st.integers(0, n - 1)) for n in planes.shape)
            planes[place] = data.draw(st.integers(0, 255))
    content = io.BytesIO()
    np.savez(content, header=np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8), planes=planes)
    is_read_or_refused(read, Trace, folder / "any.npz", content.getvalue())


@given(st.data())
def test_archives_that_say_anything_of_their_arrays(folder, data):
    """A header of an array may claim any shape and dtype, whatever follows it."""
    shape = data.draw(st.lists(st.sampled_from([0, 1, 8, 13, 2**20, 2**35, -1]), max_size=3))
    kinds = ["|u1", "<i8", "|O", "|V0", "<f8", "<U9", "|V80", "[('a', '<i4')]", "!"]
    kind, rest = data.draw(st.sampled_from(kinds)), bytes(data.draw(st.integers(0, 200)))
    said = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {tuple(shape)}}}\n".encode()
    array = b"\x93NUMPY\x01\x00" + len(said).to_bytes(2, "little") + said + rest
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        described = json.dumps({"version": 1, **data.draw(st.dictionaries(st.text(max_size=3), VALUES))})
        header = io.BytesIO()
        np.save(header, np.frombuffer(described.encode("utf-8", "replace"), np.uint8))
        archive.writestr("header.npy", data.draw(st.sampled_from([header.getvalue(), array])))
        archive.writestr(data.draw(st.sampled_from(["planes.npy", "spans.npy"])), array)
    assert not is_read_or_refused(read, Trace, folder / "any.npz", content.getvalue())


@given(st.data())
def test_ladders(folder, data):
    values = ladder_values()
    content = data.draw(changed_values(values) | changed_bytes([json.dumps(values).encode()]))
    is_read_or_refused(ladder.read, Ladder, folder / "any.json", content)


CALIBRATED = json.loads((DATA / "costs" / "h200.json").read_text())[:3]


@given(st.data())
def test_costs(folder, data):
    values = data.draw(st.sampled_from([CALIBRATED, CALIBRATED[0]["costs"]]))
    content = data.draw(changed_values(values) | changed_bytes([json.dumps(values).encode()]))

    def costs(path):
        return read_costs(path, "persistent", Problem(512, 512, 512), Device.named("h200"))

    is_read_or_refused(costs, Costs, folder / "any.json", content)
