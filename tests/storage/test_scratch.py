"""Temporary folders: gone with their process, however that ends."""

import subprocess
import sys
import tempfile

import pytest

from tilesim.storage import scratch

HOLDER = """
import sys
from tilesim.storage import scratch

with scratch.folder() as folder:
    (folder / "film").write_text("half of one")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A place of its own for temporary folders, also of processes."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def holder():
    """A process that holds a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_folder_is_gone_when_it_is_left(here):
    with pytest.raises(KeyError), scratch.folder() as one, scratch.folder() as other:
        assert one != other and one.parent == here
        (one / "film").write_text("half of one")
        raise KeyError
    assert list(here.iterdir()) == []


def test_who_needs_the_next_folder_removes_that_of_a_process_that_was_killed(holder, here):
    process, left = holder
    with scratch.folder():
        assert [str(path) for path in here.iterdir() if path.name in left] == [left]
    process.kill()
    process.wait()
    assert [str(path) for path in here.iterdir()] == [left]
    with scratch.folder() as mine:
        assert list(here.iterdir()) == [mine]


def test_nobody_elses_folders_are_touched(here):
    names = ["tilesim-scratch-", "tilesim-scratch-of-mine", "tilesim", "tilesim-scratch-12345678.txt"]
    for name in names:
        (here / name).mkdir()
    (here / "target").mkdir()
    (here / "tilesim-scratch-abcdefgh").symlink_to("target")
    (here / "tilesim-scratch-abcdefg1").write_text("a file")
    before = sorted(here.iterdir())
    with scratch.folder():
        pass
    assert sorted(here.iterdir()) == before
