"""What the README says, tried: its commands run, its code works, its figures are those of the data."""

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tilesim import Costs, Device, Trace
from tilesim.calibrate import compare
from tilesim.calibrations import default_costs, shipped
from tilesim.orders import visit
from tilesim.problems import Problem
from tilesim.timings import kernel_times

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
GROUPED = Problem(4096, 4096, 512, order="grouped:8")
NO_GPU = "NVIDIA GPU"


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


COMMANDS = [line.partition("  #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
SHELL = {"text": True, "capture_output": True, "timeout": 300}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder that knows where the scenes are, as the root of a clone does."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "scenes").symlink_to(ROOT / "scenes")
    return folder


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked clone: the folders, and no installed package that would stand in for them."""
    folder = tmp_path_factory.mktemp("clone")
    for room in ("tilesim", "scenes", "kernels"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


UNINSTALLED = (
    "import sys; sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f).lower()];"
    "from tilesim.cli import main; main()"
)


def run_in_clone(clone: Path, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", UNINSTALLED, *words], cwd=clone, **SHELL)


def test_there_are_the_commands_that_are_promised() -> None:
    assert len([c for c in COMMANDS if c.startswith("make ")]) == 2
    assert len([c for c in COMMANDS if c.startswith("tilesim ")]) == 5 + 1 + 3


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("make ")])
def test_make_targets_exist(command: str) -> None:
    target = command.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", [c for c in COMMANDS if not c.startswith("make ")])
def test_commands_run_in_their_order(command: str, workplace: Path) -> None:
    pytest.importorskip("manim")
    scripts = Path(sys.executable).parent
    measured = {"a.npz": "naive", "b.npz": "persistent"}
    for name, schedule in measured.items():
        shipped = ROOT / f"tilesim/data/traces/h200-{schedule}-4096x4096x512-grouped8.npz"
        shutil.copy(shipped, workplace / name)
    done = subprocess.run(["bash", "-c", f'PATH="{scripts}:$PATH" {command}'], cwd=workplace, **SHELL)
    if command.startswith("tilesim record") and NO_GPU in done.stderr:
        assert done.returncode == 1 and done.stderr.count("\n") == 1
    else:
        assert done.returncode == 0, done.stderr
        written = re.findall(r"-o (\S+)|convert \S+ (\S+)", command)
        assert all((workplace / (a or b)).stat().st_size > 1000 for a, b in written)


def test_the_lanes_shown_are_the_lanes_drawn(workplace: Path) -> None:
    command = next(c for c in COMMANDS if "--gantt" in c)
    words = [sys.executable, "-m", *command.split()]
    drawn = subprocess.run(words, cwd=workplace, **SHELL).stdout
    assert drawn.strip() in README


def test_python_examples() -> None:
    (block,) = blocks("pycon")
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0


def test_files_shown_are_the_files() -> None:
    shown = re.findall(r"<!-- file: (\S+) -->\n```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown and all((ROOT / name).read_text() == text for name, text in shown)


def test_a_file_beside_the_schedules_is_a_schedule(clone: Path) -> None:
    text = (ROOT / "tilesim/schedules/persistent.py").read_text()
    stride = text.replace(
        "def persistent(problem: Problem, device: Device)", "def stride(problem, device, s)"
    )
    stride = stride.replace("ctas = device.sms * device.ctas_per_sm", "ctas = s")
    (clone / "tilesim/schedules/stride.py").write_text(stride)
    done = run_in_clone(clone, "simulate", "stride:2", "--json")
    assert done.returncode == 0 and '"launches": 2' in done.stdout
    assert "stride:S" in run_in_clone(clone, "list").stdout
    (clone / "tilesim/schedules/twice.py").write_text(
        stride.replace("def stride(problem, device, s)", "def twice(problem, device)")
        .replace("ctas = s", "ctas = 1")
        .replace("visit(problem)", "(visit(problem) // 2)")
    )
    refused = run_in_clone(clone, "simulate", "twice")
    (clone / "tilesim/schedules/twice.py").unlink()
    assert refused.returncode != 0 and "tile 256 is never computed" in refused.stderr


def test_the_example_film_is_a_film(clone: Path) -> None:
    pytest.importorskip("manim")
    ((name, text),) = re.findall(
        r"<!-- film: (\S+) -->\n```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL
    )
    (clone / "scenes" / f"{name}.py").write_text(text)
    cut = ["--size", "480p", "--fps", "5", "--from", "2", "--to", "4", "-o", "film.mp4"]
    done = run_in_clone(clone, "export", name, *cut)
    assert (done.returncode, done.stderr) == (0, "")
    assert (clone / "film.mp4").stat().st_size > 1000
    words = [sys.executable, "-m", "manim", "render", "-ql", "-s", f"scenes/{name}.py"]
    assert subprocess.run(words, cwd=clone, **SHELL).returncode == 0


def test_kernel_times_are_the_shipped_ones() -> None:
    rows = kernel_times(GROUPED, {"gpu": "NVIDIA H200"})
    shown = re.findall(r"^\| (.+?) \| ([\d.]+) µs \| ([\d.]+) to ([\d.]+) \|$", README, re.MULTILINE)
    kernels = ("naive-ptr", "naive-tma", "persistent-tma", "persistent-tma-overlap", "cublas")
    expected = [tuple(f"{rows[kernel][key]:.2f}" for key in ("us", "p20", "p80")) for kernel in kernels]
    assert [tuple(figures) for _, *figures in shown] == expected


def test_a_k_step_under_a_write_is_as_slow_as_said() -> None:
    problem, device = Problem(4096, 4096, 512, order="grouped:8"), Device.named("h200")
    naive, under = (default_costs(name, problem, device).k_step for name in ("naive", "persistent"))
    (said,) = re.findall(r"under a write, a K-step takes (\d+) % longer", README)
    assert int(said) == round(100 * (under / naive - 1))


def test_recorded_runs_come_out_within_what_is_said() -> None:
    (said,) = re.findall(r"recorded run comes out within (\d+) % of its time", README)
    for entry in shipped("h200"):
        (name,) = entry["names"]
        trace = Trace.load(ROOT / "tilesim/data/traces" / name)
        measured, simulated = compare(trace, Costs.from_mapping(entry["costs"]))
        assert abs(simulated / measured - 1) <= int(said) / 100


def test_what_the_order_does_is_what_was_measured() -> None:
    rows = kernel_times(Problem(4096, 4096, 512), {"gpu": "NVIDIA H200"})
    naive, plain, under = (rows[k]["us"] for k in ("naive-tma", "persistent-tma", "persistent-tma-overlap"))
    said = re.search(r"\*costs\* ([\d.]+) µs before the overlap\s+wins ([\d.]+)", README)
    assert said and said.groups() == (f"{plain - naive:.1f}", f"{plain - under:.1f}")
    assert visit(GROUPED)[1] == 16


def test_the_finding_is_the_films(workplace: Path) -> None:
    pytest.importorskip("manim")
    from tilesim_scenes._stage.film import make
    from tilesim_scenes._stage.picture import CLOSING, OPENING
    from tilesim_scenes.race import Race

    film = make(Race.default, {})
    assert "\n".join(Race.write(film).finding) in README
    (said,) = re.findall(r"slowed down about ([\d,]+) times", README)
    slowed = (film.seconds - OPENING - CLOSING) / (film.traces[0].makespan * 1e-9)
    assert int(said.replace(",", "")) == pytest.approx(slowed, rel=0.05)


def test_pictures_exist_and_the_film_in_front_is_small() -> None:
    pictures = re.findall(r"\((media/[^)]+)\)", README)
    assert pictures and all((ROOT / picture).is_file() for picture in pictures)
    assert (ROOT / "media/race-h200.gif").stat().st_size <= 3 * 2**20


def test_the_machine_named_is_the_machine_measured_on() -> None:
    from tilesim.timings import machines

    (machine,) = (m["machine"] for m in machines() if m["machine"]["gpu"] == "NVIDIA H200")
    for fact in (machine["driver"], machine["cuda"], machine["torch"].rpartition(".")[0], machine["date"]):
        assert fact in README
