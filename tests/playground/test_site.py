"""What the documentation's build makes of the playground, without a browser."""

import json
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import numpy
import playground
import pytest

from tilesim import player
from tilesim.player.playground import DEFAULT

PAGE = playground.page()


def test_the_archive_is_enough_to_answer_small_and_the_same_to_the_byte(tmp_path):
    """Nothing but NumPy and the zip is on the path, as in the browser."""
    playground.build(tmp_path / "site", pyodide=tmp_path / "nothing")
    archive = tmp_path / "site" / "tilesim.zip"
    with ZipFile(archive) as found:
        assert not [name for name in found.namelist() if "/cli/" in name or name.endswith(".npz")]
        found.extractall(tmp_path / "unpacked")
    assert archive.stat().st_size < 400_000
    playground.archive(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()
    code = (
        "import sys; sys.path[:0] = sys.argv[1:];"
        "from tilesim.player import playground; print(playground.answer({})['page'].count('</script>'));"
        "print(*sorted({'click', 'manim', 'torch', 'triton', 'numba'} & set(sys.modules)))"
    )
    site = str(Path(numpy.__file__).parents[1])
    words = [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "unpacked"), site]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2"]


def test_every_field_has_a_label_a_default_and_a_place_for_what_is_wrong_and_examples_fill_it():
    for name, default in DEFAULT.items():
        assert f'<label for="{name}">' in PAGE
        assert f'id="{name}-error"' in PAGE
        field = f'<input id="{name}" name="{name}" aria-describedby="{name}-error" value="{default}"'
        if name in playground.playground.choices() and name != "schedules":
            field = f'<option value="{default}" selected>'
        assert field in PAGE
    assert {field for fields in playground.EXAMPLES.values() for field in fields} <= set(DEFAULT)


def test_the_policy_allows_the_player_and_what_lies_beside_the_page_alone():
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', PAGE)[1].replace("&#x27;", "'")
    program = (Path(player.__file__).parent / "player.js").read_bytes()
    assert f"'sha256-{b64encode(sha256(program).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy and "'unsafe-eval'" not in policy and "http" not in policy
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', PAGE)
    assert not re.findall(r"<script>|<style>| style=| on\w+=", PAGE)


def runtime(folder, numpy_wheel):
    """A package as Pyodide's, whose NumPy is `numpy_wheel`."""
    folder.mkdir()
    for name in playground.RUNTIME:
        (folder / name).write_text(name)
    wanted = {"file_name": "numpy-2.whl", "sha256": sha256(numpy_wheel).hexdigest()}
    (folder / "pyodide-lock.json").write_text(json.dumps({"packages": {"numpy": wanted}}))
    return folder


def test_the_numpy_that_pyodide_names_is_taken_from_wherever_it_is(tmp_path):
    source = runtime(tmp_path / "npm", b"the wheel")
    (tmp_path / "numpy-2.whl").write_bytes(b"the wheel")
    with ZipFile(tmp_path / "any.zip", "w") as found:
        found.writestr("deep/within/numpy-2.whl", b"the wheel")
    for given in ("numpy-2.whl", "any.zip"):
        out = tmp_path / f"out of {given}"
        playground.take_runtime(source, tmp_path / given, out)
        assert (out / "numpy-2.whl").read_bytes() == b"the wheel"
        assert {path.name for path in out.iterdir()} == {*playground.RUNTIME, "numpy-2.whl"}


@pytest.mark.parametrize(
    ("name", "text"), [("numpy-2.whl", b"another"), ("other.zip", b"PK\x05\x06" + bytes(18))]
)
def test_another_numpy_is_refused(tmp_path, name, text):
    source = runtime(tmp_path / "npm", b"the wheel")
    (tmp_path / name).write_bytes(text)
    with pytest.raises(ValueError, match=name):
        playground.take_runtime(source, tmp_path / name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


PROGRAMS = Path(player.__file__).parent / "node_modules" / ".bin"


@pytest.mark.skipif(not (PROGRAMS / "esbuild").exists(), reason="needs esbuild, which `make player` installs")
def test_the_programs_are_built_of_their_sources(tmp_path):
    script = json.loads((playground.HERE / "package.json").read_text("utf-8"))["scripts"]["build"]
    words = script.replace("--outdir=.", f"--outdir={tmp_path}").split()
    subprocess.run([str(PROGRAMS / words[0]), *words[1:]], cwd=playground.HERE, check=True)
    for name in ("playground.js", "worker.js"):
        assert (tmp_path / name).read_bytes() == (playground.HERE / name).read_bytes()
