"""Files: no output is an input, permissions stay, and what is read is bounded and strict."""

import os
import stat

import pytest
from refusals import refused

from tilesim.errors import CostsError, TilesimError, shown, unknown, whole
from tilesim.storage import files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("run.json")
    os.link(tmp_path / "run.json", tmp_path / "hard.json")
    (tmp_path / "dangling.json").symlink_to("new.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["run.json", "./out/../run.json", "link.json", "hard.json"])
def test_an_output_that_is_an_input_is_refused_however_it_is_spelled(folder, name):
    for output, given in ((name, "run.json"), ("run.json", name), (name, folder / "run.json")):
        with pytest.raises(TilesimError, match="give the output another name"):
            files.check_outputs([None, output], [None, "other.json", given])


@pytest.mark.parametrize(
    ("one", "other"), [("a.mp4", "./out/../a.mp4"), ("run.json", "hard.json"), ("new.json", "dangling.json")]
)
def test_two_outputs_are_two_files(folder, one, other):
    with pytest.raises(TilesimError, match="they are the same file"):
        files.check_outputs([one, other])


def test_outputs_that_are_files_of_their_own_pass(folder, monkeypatch):
    files.check_outputs(["a.mp4", "A.mp4"])
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(TilesimError, match="they are the same file"):
        files.check_outputs(["a.mp4", "A.mp4"])
    files.check_outputs(["a.mp4", None, "out/a.mp4", "run.json"], ["b.json", None, "/dev/stdin"])
    files.check_outputs(["/dev/null", "/dev/null"], ["/dev/null"])
    with pytest.raises(TilesimError, match="the folder missing does not exist"):
        files.check_outputs(["missing/a.mp4"])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "a.json"
    path.write_text("old")
    path.chmod(mode)
    files.write(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_name_with_a_nul_is_refused_for_reading_and_writing():
    for call in (files.check, lambda path: files.read_json(path, CostsError)):
        with refused("null"):
            call("a\0.json")


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "\ufeff[1.5, true, null]", "[" * files.DEEPEST + "]" * files.DEEPEST]
)
def test_json_is_read(tmp_path, text):
    (tmp_path / "a.json").write_text(text, "utf-8")
    assert str(files.read_json(tmp_path / "a.json", CostsError)).replace("'", '"')[0] in "[{"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("\udcff", "not JSON"),
        ('{"a": NaN}', "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("[1e400]", "too large for a double"),
        ("[1" + "0" * 400 + "]", "too large for a double"),
        ("[1" + "0" * 9000 + "]", "this is not JSON that can be read"),
        ('{"a": {"c": 2, "b": 1, "b": 1}}', "the key 'b' is there twice"),
        ("[" * (files.DEEPEST + 1) + "]" * (files.DEEPEST + 1), "nested too deeply"),
        ("[" * 10**6, "nested too deeply"),
    ],
    ids=lambda value: value[:20],
)
def test_json_that_no_two_tools_read_alike_is_refused(tmp_path, text, words):
    (tmp_path / "a.json").write_bytes(text.encode(errors="surrogateescape"))
    with refused(words, CostsError, tmp_path / "a.json"):
        files.read_json(tmp_path / "a.json", CostsError)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a file without an end")
def test_no_more_is_read_than_may_be(tmp_path):
    (tmp_path / "a.json").write_text("[1, 2]")
    with pytest.raises(CostsError, match="larger than the 5 bytes that are read"):
        files.read_json(tmp_path / "a.json", CostsError, most=5)
    with pytest.raises(CostsError, match="/dev/zero: this is larger than the 16 MiB"):
        files.read_json("/dev/zero", CostsError)


def test_nesting_is_measured_in_dicts_lists_and_tuples():
    value = 0
    for i in range(files.DEEPEST):
        value = [(value,), {"a": value}, [value]][i % 3] if i % 3 else (value,)
    assert files.fault(value) == ""
    assert "at most" in files.fault({"a": [value]})


@pytest.mark.parametrize(
    "value",
    ["x" * 10**7, [["x" * 10**6] * 9] * 9, {1: "y" * 10**7}, 10**5000, b"z" * 99],
    ids=["text", "nested", "object", "number", "bytes"],
)
def test_a_quote_is_short_whatever_is_quoted(value):
    assert len(shown(value)) <= 45
    with pytest.raises(TilesimError) as caught:
        whole("M", value, 1, 9, TilesimError)
    assert len(str(caught.value)) < 120


def test_a_wrong_name_of_any_length_is_compared_and_quoted_in_short():
    assert len(unknown("order", "row-" * 10**6, ["row-major"])) < 120


def test_a_number_with_a_fraction_is_made_as_asked():
    assert files.parse("[1.5, 2]", CostsError, parse_float=str) == ["1.5", 2]


def test_the_largest_numbers_and_sizes_are_at_their_limits():
    assert [files.fault([sign * 10**300]) for sign in (1, -1)] == ["", ""]
    assert "too large" in files.fault([10**300 + 1])
    assert (files.size(2**20 - 1), files.size(2**20)) == ("1048575 bytes", "1 MiB")
    assert files.DEEPEST == 32
