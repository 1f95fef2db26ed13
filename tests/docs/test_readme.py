"""What the README says, tried: its commands run, its code works, its figures are those of the data."""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import readme_tables
from table import markdown

from tilesim import Device, Trace, simulate
from tilesim.analysis.sweep import Combination, row
from tilesim.compiled import LARGE
from tilesim.default_costs import default_costs, shipped
from tilesim.kernel_times import kernel_times
from tilesim.orders import visit
from tilesim.problems import Problem

ROOT = Path(__file__).resolve().parents[2]
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
    shutil.copy(ROOT / "tests/own_kernel.csv", folder / "own-kernel.csv")
    (folder / "talk.toml").write_text(blocks("toml")[0], "utf-8")
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
    assert len([c for c in COMMANDS if c.startswith("tilesim ")]) == 5 + 1 + 3 + 2 + 3 + 1 + 1 + 1 + 2


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
    shutil.copy(ROOT / "tilesim/data/ladder/h200.json", workplace / "ladder.json")
    done = subprocess.run(["bash", "-c", f'PATH="{scripts}:$PATH" {command}'], cwd=workplace, **SHELL)
    if command.startswith(("tilesim record", "tilesim bench", "tilesim tune")) and NO_GPU in done.stderr:
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
    assert done.returncode == 0 and done.stderr.startswith("wrote film.mp4 ")
    assert (clone / "film.mp4").stat().st_size > 1000
    words = [sys.executable, "-m", "manim", "render", "-ql", "-s", f"scenes/{name}.py"]
    assert subprocess.run(words, cwd=clone, **SHELL).returncode == 0


def test_kernel_times_are_the_shipped_ones() -> None:
    rows = kernel_times(GROUPED, {"gpu": "NVIDIA H200"})
    shown = re.findall(r"^\| (.+?) \| ([\d.]+) µs \| ([\d.]+) to ([\d.]+) \|$", README, re.MULTILINE)
    kernels = ("naive-ptr", "naive-tma", "persistent-tma", "persistent-tma-overlap", "cublas")
    expected = [tuple(f"{rows[kernel][key]:.2f}" for key in ("us", "p20", "p80")) for kernel in kernels]
    assert [tuple(figures) for _, *figures in shown] == expected


def test_a_main_loop_under_a_write_is_as_slow_as_said() -> None:
    (said,) = re.findall(r"above a write takes ([\d.]+) µs longer", README)
    costs = default_costs("persistent", GROUPED, Device.named("h200"))
    assert said == f"{costs.contention / 1000:.1f}"


def test_kernel_times_of_plans_are_the_shipped_ones() -> None:
    rows = json.loads((ROOT / "tilesim/data/planned/h200.json").read_text())["rows"]
    times = {(row["m"], row["n"], row["k"], row["kernel"]): row["us"] for row in rows}
    plans = [
        f"planned:{name}" for name in ("persistent", "stream-k", "stream-k-hybrid", "persistent-dynamic")
    ]
    kernels = ["persistent-tma-overlap", *plans, "cublas"]
    shown = re.findall(r"^\| (\d+) × (\d+) × (\d+) \((\d+) tiles.*?\) \| (.+) \|$", README, re.MULTILINE)
    shown += re.findall(r"^\| (\d+) × (\d+) × (\d+) \(the same()[^|]*\) \| (.+) \|$", README, re.MULTILINE)
    assert len(shown) == len(rows) / 9
    for m, n, k, tiles, figures in shown:
        size = int(m), int(n), int(k)
        assert figures.split(" | ") == [f"{times[(*size, kernel)]:.1f}" for kernel in kernels]
        assert not tiles or int(tiles) == Problem(*size).tiles


def test_what_plans_cost_and_win() -> None:
    rows = json.loads((ROOT / "tilesim/data/planned/h200.json").read_text())["rows"]
    times = {(row["m"], row["n"], row["k"], row["kernel"]): row["us"] for row in rows}
    sizes = {size[:3] for size in times}
    slower = [times[*size, "planned:naive"] / times[*size, "naive-tma"] - 1 for size in sizes]
    low, high = re.search(r"for `naive`, it is (\d+) to (\d+) % slower", README).groups()
    assert (round(100 * min(slower)), round(100 * max(slower))) == (int(low), int(high))
    for size in sizes:
        assert abs(times[*size, "planned:persistent"] / times[*size, "persistent-tma-overlap"] - 1) < 0.01

    def less(size: tuple[int, int, int], schedule: str) -> int:
        return round(100 * (1 - times[*size, f"planned:{schedule}"] / times[*size, "planned:persistent"]))

    short, long = (1408, 3840, 4096), (4096, 4352, 4096)
    said = re.search(
        r"takes (\d+) % less time at 1.25 waves, (\d+) % less at 4.12.*?takes (\d+) %\s+less at",
        README,
        re.DOTALL,
    )
    found = less(short, "stream-k"), less(long, "stream-k"), less(long, "stream-k-hybrid")
    assert said and tuple(map(int, said.groups())) == found
    for size in sizes:
        problem = Problem(*size, order="grouped:8")
        names = ("persistent", "stream-k", "stream-k-hybrid")
        measured = {name: times[*size, f"planned:{name}"] for name in names}
        simulated = {name: simulate(name, problem, Device.named("h200")).makespan for name in names}
        for one, other in combinations(names, 2):
            if abs(measured[one] / measured[other] - 1) > 0.02:
                assert (measured[one] < measured[other]) == (simulated[one] < simulated[other])


def test_the_output_shown_is_the_output() -> None:
    shown = re.findall(r"<!-- output: tilesim (.+?) -->\n```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown
    for command, text in shown:
        words = [
            str(p) for word in command.split() for p in (sorted(ROOT.glob(word)) if "*" in word else [word])
        ]
        done = subprocess.run([sys.executable, "-m", "tilesim", *words], **SHELL)
        assert (done.stdout, done.stderr) == (text, "")


def test_the_sweep_falls_as_said() -> None:
    said = re.search(
        r"from (\d+) tiles to (\d+), .*?places ([\d.]+) % .*?from (\d+)\s+to (\d+) TFLOP/s.*?falls to (\d+)",
        README,
        re.DOTALL,
    )
    assert said
    full, more = int(said[1]), int(said[2])
    h200, narrow, wide = Device.named("h200"), Problem(1536, 2816, 4096), Problem(1536, 3072, 4096)
    runs = [("persistent", narrow), ("persistent", wide), ("stream-k", wide)]
    found = [row(Combination(schedule, problem, h200)) for schedule, problem in runs]
    assert [run.tiles for run in found] == [full, more, more] and found[1].waves == 2
    assert [f"{run.tflops:.0f}" for run in found] == [said[4], said[5], said[6]]
    assert said[3] == f"{100 * more / (2 * h200.slots):.1f}"


def test_the_picture_of_the_sweep_is_small() -> None:
    assert (ROOT / "media/sawtooth.png").stat().st_size <= 150_000


def test_what_is_fitted_and_what_is_held_out() -> None:
    fitted = {name for entry in shipped("h200") for name in entry["names"]}
    assert fitted == {path.name for path in (ROOT / "tilesim/data/traces").glob("*.npz")}
    held_out = list((ROOT / "tilesim/data/held_out").glob("*.npz"))
    assert (
        f"{len(fitted)} recorded runs of H200s made the costs that ship. These are {len(held_out)}\nothers"
        in README
    )
    size = sum(path.stat().st_size for path in (ROOT / "tilesim/data").glob("*/*.npz"))
    assert size < 10**6

    def shape(trace: Trace) -> tuple:
        return trace.schedule, trace.problem.m, trace.problem.n, trace.problem.k, trace.problem.tile

    known = {shape(Trace.load(ROOT / "tilesim/data/traces" / name)) for name in fitted}
    assert not known & {shape(Trace.load(path)) for path in held_out}


def test_what_the_simulator_misses() -> None:
    """The table itself is compared with the command's output elsewhere."""
    shown = re.search(r"held_out/\*.npz -->\n```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[1]
    rows = [(line, float(line.split()[-1].rstrip("%"))) for line in shown.splitlines()[1:-2]]
    said = re.search(
        r"they are ([\d.]+) % off in the median, and (\d+) of the (\d+) by at most 8 %, "
        r"the worst by ([\d.]+) %.*?Each of the (\d+) others",
        README,
        re.DOTALL,
    )
    assert f"in cycles: {said[1]}% off in the median, {said[4]}% at most" in shown
    missed = [line for line, off in rows if abs(off) > 8]
    assert [len(rows) - len(missed), len(rows), len(missed)] == [int(said[i]) for i in (2, 3, 5)]
    assert all(line.startswith("stream-k planned") for line in missed)


def test_two_cards_differ_as_is_said() -> None:
    found = json.loads((ROOT / "tilesim/data/repeats/h200.json").read_text())["runs"]
    one, other = (np.array([run["us"][i] * run["mhz"][i] for run in found]) for i in (0, 1))
    off = np.abs(other / one - 1)
    far = {run["schedule"] for run, each in zip(found, off, strict=True) if each > 0.04}
    assert far == {"stream-k"} and (off > 0.04).sum() == 5
    said = (
        f"of {len(found)} runs that two cards recorded on two days, five differ in cycles by more than 4 %, "
        "the most by "
        f"{100 * off.max():.0f} %, and all five are stream-k; the median is {100 * np.median(off):.1f} %"
    )
    assert said in " ".join(README.split())


def test_the_clock_is_faster_where_few_sms_work() -> None:
    (said, sms) = re.findall(r"is (\d+) %\s+faster where a plan keeps only (\d+) of the SMs busy", README)[0]
    traces = [Trace.load(path) for path in (ROOT / "tilesim/data/held_out").glob("*.npz")]
    usual = [t for t in traces if t.problem.tile_n == 256]
    few = [t.meta["sm_mhz"] for t in usual if len(set(t.spans["sm"].tolist())) == int(sms)]
    many = [t.meta["sm_mhz"] for t in usual if len(set(t.spans["sm"].tolist())) > 120]
    assert few and int(said) == round(100 * (sum(few) / len(few) / (sum(many) / len(many)) - 1))


def test_launches_take_what_is_said() -> None:
    rows = json.loads((ROOT / "tilesim/data/turnaround/h200.json").read_text())["rows"]
    apart = [row for row in rows if row["spin"] == "staggered" and row["residents"] <= 2]
    low, high, slow_low, slow_high = map(
        int,
        re.search(r"empty for (\d+) to (\d+) ns .*?and for (\d+) to (\d+) ns", README, re.DOTALL).groups(),
    )
    usual = [row["ns"]["p50"] for row in apart if 128 <= row["threads"] <= 512]
    slow = [row["ns"]["p50"] for row in apart if row["threads"] == 1024]
    assert (round(min(usual)), round(max(usual))) == (low, high)
    assert (round(min(slow)), round(max(slow))) == (slow_low, slow_high)
    (inside,) = re.findall(r"inside a product it is (\d+) ns", README)
    naive = Trace.load(ROOT / "tilesim/data/traces/h200-naive-4096x4096x512-grouped8.npz")
    assert naive.meta["launch_ns"]["p50"] == int(inside)


def test_the_model_of_the_sm_order_explains_as_many_launches_as_said() -> None:
    rows = json.loads((ROOT / "tilesim/data/sm_order/h200.json").read_text())["rows"]
    explained = launches = re.search(r"explains all of ([\d,]+) launches", README).group(1)
    counts = [sum(row[name] for row in rows) for name in ("explained", "launches")]
    assert [int(said.replace(",", "")) for said in (explained, launches)] == counts


def test_recording_costs_what_is_said() -> None:
    wide, narrow = map(
        int, re.search(r"costs at most (\d+) % .*?up to (\d+) % with", README, re.DOTALL).groups()
    )
    for path in (ROOT / "tilesim/data").glob("*/*.npz"):
        trace = Trace.load(path)
        most = wide if trace.problem.tile_n == 256 else narrow
        assert trace.meta["recorded_us"] / trace.meta["kernel_us"] - 1 <= most / 100, path


def test_what_the_order_does_is_what_was_measured() -> None:
    rows = kernel_times(Problem(4096, 4096, 512), {"gpu": "NVIDIA H200"})
    naive, plain, under = (rows[k]["us"] for k in ("naive-tma", "persistent-tma", "persistent-tma-overlap"))
    said = re.search(r"\*costs\* ([\d.]+) µs before the overlap\s+wins ([\d.]+)", README)
    assert said and said.groups() == (f"{plain - naive:.1f}", f"{plain - under:.1f}")
    assert visit(GROUPED)[1] == 16


def test_the_finding_is_the_films(workplace: Path) -> None:
    pytest.importorskip("manim")
    from tilesim_scenes._stage.film import make
    from tilesim_scenes._stage.timing import CLOSING, OPENING
    from tilesim_scenes.race import Race

    film = make(Race.default, {})
    assert "\n".join(Race.write(film).finding) in README
    (said,) = re.findall(r"slowed down about ([\d,]+) times", README)
    slowed = (film.seconds - OPENING - CLOSING) / (film.traces[0].makespan * 1e-9)
    assert int(said.replace(",", "")) == pytest.approx(slowed, rel=0.05)


def test_how_fast_it_is_was_measured() -> None:
    results = json.loads((ROOT / "tests/benchmarks/results.json").read_text("utf-8"))
    for part in ("rendering", "simulation", "start"):
        assert markdown(results[part]) in README
    for fact in ("cpu", "python", "manim", "av", "numba", "date"):
        assert results["machine"][fact] in README
    assert f"{results['rounds']} rounds" in README and f"{LARGE:,} segments" in README


def test_pictures_exist_and_the_film_in_front_is_small() -> None:
    pictures = re.findall(r"\((media/[^)]+)\)", README)
    assert pictures and all((ROOT / picture).is_file() for picture in pictures)
    assert (ROOT / "media/race-h200.gif").stat().st_size <= 3 * 2**20


def test_the_machine_named_is_the_machine_measured_on() -> None:
    from tilesim.kernel_times import machines

    (machine,) = (m["machine"] for m in machines() if m["machine"]["gpu"] == "NVIDIA H200")
    for fact in (machine["driver"], machine["cuda"], machine["torch"].rpartition(".")[0], machine["date"]):
        assert fact in README


def test_parts_shown_are_in_their_files() -> None:
    shown = re.findall(r"<!-- part of: (\S+) -->\n```\w+\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown and all(text in (ROOT / name).read_text() for name, text in shown)


@pytest.mark.parametrize("name", readme_tables.TABLES)
def test_tables_of_kernels_are_what_was_measured(name: str) -> None:
    assert "\n".join(readme_tables.TABLES[name]()) in README


def test_how_the_kernels_compare_with_the_library() -> None:
    ratios = readme_tables.ratios("tuned")
    assert f"{readme_tables.mean(ratios):.3f} times cuBLAS" in README and min(ratios) >= 1
    sizes = readme_tables.by_size(readme_tables.read("library")["rows"])
    hard = sizes["4096 × 4096 × 4096"]
    assert (
        f"{hard['tuned']['sm_mhz']:,} MHz" in README and f"{hard['cublas']['sm_mhz']:,} with cuBLAS" in README
    )
    highest = max(row["sm_mhz"] for row in readme_tables.read("ladder")["rows"])
    assert f"of {highest:,} with ours" in README
    small = sizes["1024 × 1024 × 1024"]
    assert min(row["host_us"] for row in small.values()) > small["tuned"]["us"]
    assert f"the GPU {small['tuned']['us']:.1f} µs" in README
    tuned = {f"{row['m']} × {row['n']} × {row['k']}" for row in readme_tables.read("tuned")["rows"]}
    assert tuned == set(sizes) and len(tuned) == 10
    layers = [row for row in readme_tables.read("tuned")["rows"] if row["layout"] in ("nt", "tn")]
    ratios = [row["cublas_us"] / row["us"] for row in layers]
    assert len(layers) == 20 and f"{min(ratios):.3f} to {max(ratios):.3f} times cuBLAS" in README


def test_main_loops_waste_as_few_cycles_as_said() -> None:
    medians = []
    for schedule in ("naive", "persistent"):
        trace = Trace.load(ROOT / f"tilesim/data/traces/h200-{schedule}-4096x4096x4096-grouped8.npz")
        spans = trace.spans
        medians.append(float(np.median(spans["cycles"] / (spans["k1"] - spans["k0"]))))
    low, high = sorted(medians)
    assert f"{low:,.0f} to {high:,.0f} cycles" in README


def test_what_coalescing_wins() -> None:
    rows = readme_tables.read("coalescing")["rows"]
    us = {(row["kernel"], row["dtype"]): row["us"] for row in rows}
    gain = us["uncoalesced", "fp32"] / us["coalesced", "fp32"]
    assert f"{gain:.1f} times as fast" in README
    shares = {
        r["name"]: r["share_of_copy"] for r in readme_tables.read("reductions")["rows"] if r["n"] == 2**28
    }
    fast = {name for name, share in shares.items() if share > 0.95}
    assert fast == {"unrolled", "shuffles", "multi-block", "torch.sum", "copy"}


def test_the_operator_runs_as_shown() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    (block,) = (text for text in blocks("python") if "matmul(a, b)" in text)
    code = "from tilesim.cli.packages import load; load('kernels')\n" + block.replace('"cuda"', '"cpu"')
    env = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, **SHELL)
    assert done.returncode == 0, done.stderr
