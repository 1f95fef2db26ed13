"""Every command and snippet on every page runs: a page's from top to bottom, in a folder of its own."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from pages import PAGES, ROOT, Block, blocks, commands, run

SHOWN_ONLY = {"", "{toctree}", "{image}", "{literalinclude}", "{glossary}", "{eval-rst}", "{command-output}"}
RUNS = {"sh", "pycon", "python", "toml"}
NEEDS_GPU = ("tilesim record", "tilesim bench", "tilesim tune")
WRITTEN = re.compile(r"-o (\S+\.\w+)|convert \S+ (\S+)")
SHIPPED = ROOT / "tilesim" / "data"


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder that knows where the scenes are, as a clone does, and holds the CSV of a user's kernel."""
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    shutil.copy(ROOT / "tests" / "own_kernel.csv", tmp_path / "own-kernel.csv")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_runs_from_top_to_bottom(page: Path, workplace: Path) -> None:
    for block in blocks(page):
        assert block.language in RUNS | SHOWN_ONLY, f"nothing tries the block of {block.language}"
        if block.role == "file":
            _place(block, workplace)
        elif block.language == "sh":
            for command in commands(block):
                _run(command, workplace)
        elif block.language == "python":
            _execute(block.text, workplace)
    session = "".join(block.text for block in blocks(page) if block.language == "pycon")
    if session:
        _converse(session, workplace)


def _place(block: Block, workplace: Path) -> None:
    """A file that is shown is the repository's or, where that has none, one that the reader writes."""
    if (ROOT / block.what).is_file():
        assert block.text == (ROOT / block.what).read_text("utf-8")
    else:
        (workplace / block.what).write_text(block.text, "utf-8")


def _run(command: str, workplace: Path) -> None:
    """Run a command as it stands, but films small; without a GPU, see it refused and put shipped data."""
    if command.startswith("make "):
        assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        return
    if command.startswith("pip install "):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        assert set(re.findall(r"\[(\w+)\]", command)) <= set(project["optional-dependencies"])
        return
    if "export" in command or "manim" in command:
        pytest.importorskip("manim")
    small = " --size 480p --fps 5" if re.match(r"tilesim export .*\.mp4", command) else ""
    done = run("bash", "-c", command + small, cwd=workplace)
    written = [Path(one or other) for one, other in WRITTEN.findall(command)]
    if command.startswith(NEEDS_GPU) and "NVIDIA GPU" in done.stderr:
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        for path in written:
            _stand_in(path, command, workplace)
    else:
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert all((workplace / path).stat().st_size > 100 for path in written), command


def _stand_in(path: Path, command: str, workplace: Path) -> None:
    """What the command would have written on a GPU: a file that it did write on one."""
    if path.suffix == ".npz":
        schedule = "persistent" if "persistent" in command else "naive"
        k = 4096 if "--k 4096" in command else 512
        shipped = SHIPPED / "traces" / f"h200-{schedule}-4096x4096x{k}-grouped8.npz"
    else:
        shipped = SHIPPED / ("ladder" if "ladder" in command else "tuned") / "h200.json"
    shutil.copy(shipped, workplace / path)


def _execute(code: str, workplace: Path) -> None:
    """Run a snippet; one of a GPU runs in Triton's interpreter."""
    environment = {"PYTHONPATH": str(workplace)}
    if "torch" in code:
        pytest.importorskip("torch")
        pytest.importorskip("triton")
        code, environment = code.replace('"cuda"', '"cpu"'), environment | {"TRITON_INTERPRET": "1"}
    if "film" in code:
        pytest.importorskip("manim")
    script = workplace / "snippet.py"
    script.write_text(code, "utf-8")
    done = run("python", script, cwd=workplace, **environment)
    assert done.returncode == 0, done.stderr


def _converse(session: str, workplace: Path) -> None:
    """Try a page's interactive examples, in which a name that one defines is known to the next."""
    script = workplace / "session.txt"
    script.write_text(session, "utf-8")
    done = run("python", "-m", "doctest", script, cwd=workplace, PYTHONPATH=str(workplace))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_commands_and_examples_are_found() -> None:
    every = [block for page in PAGES for block in blocks(page)]
    assert sum(len(commands(block)) for block in every if block.language == "sh") > 40
    assert sum(block.text.count(">>> ") for block in every if block.language == "pycon") > 20
