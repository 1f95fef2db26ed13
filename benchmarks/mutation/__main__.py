"""Break the simulator, one mutant at a time, and count those that the tests of its part find.

    python benchmarks/mutation [--mutants 300] [--minutes 60] [--seed 1] [FILE ...]

Each mutant is a process forked from this one, in which an import of the module finds the mutant; no file is
written. A mutant is killed when a test fails, or when the tests take much longer than they do without it.
"""

import argparse
import ast
import importlib.abc
import importlib.util
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from hypothesis import Phase, settings
from mutants import mutants, mutated

ROOT = Path(__file__).parents[2]
GOAL = 0.85
SLOW = "million or large or hundred_thousand or numba or cache or 100_bytes or bounded"
IN_ANOTHER_PROCESS = "before_they_load or go_down_columns or choosing_imports"
"""Tests that no mutant reaches, as what they compile or import is in a process of its own."""
VALUES = "tests/test_dataclasses.py"
ENGINE = [
    "tests/engine/test_engine.py", "tests/engine/test_splits.py", "tests/engine/test_simulation.py",
    "tests/schedules/test_gantt_golden.py", "tests/schedules/test_schedules.py", "tests/engine/test_scale.py",
]  # fmt: skip
TESTS = {
    "tilesim/engine": ENGINE,
    "tilesim/model": ["tests/model", "tests/engine/test_engine.py"],
    "tilesim/plans.py": ["tests/test_core.py", "tests/engine/test_splits.py", "tests/schedules"],
    "tilesim/metrics.py": ["tests/test_metrics.py", "tests/calibration/test_observations.py"],
    "tilesim/view.py": ["tests/test_view.py"],
    "tilesim/formats": ["tests/formats"],
    "tilesim/storage": ["tests/storage", "tests/formats/test_npz.py"],
    "tilesim/calibration": ["tests/calibration"],
    "tilesim/choice": [
        "tests/choice/test_candidates.py", "tests/choice/test_sharing.py", "tests/choice/test_estimate.py",
        "tests/choice",
    ],
    "tilesim/gemm": [
        "tests/test_fit.py", "tests/kernels/test_config.py", "tests/choice/test_candidates.py",
        "tests/kernels/test_climb.py",
    ],
    "kernels/launch": [
        "tests/kernels/test_operands.py", "tests/kernels/test_config.py", "tests/kernels/test_launcher.py",
        "tests/kernels/test_refusals.py", "tests/kernels/test_planned.py", "tests/kernels/test_results.py",
        "tests/kernels/test_layouts.py", "tests/kernels/test_climb.py",
    ],
}  # fmt: skip
"""The tests that the mutants of a part have to pass, the fastest first, besides VALUES and the examples in
the module itself."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, as a mutant of its source."""

    def __init__(self, file: Path, tree: ast.Module) -> None:
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        self.name = f"tilesim_{name}" if name.startswith("kernels.") else name
        self.file, self.tree = file, tree

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            package = [str(self.file.parent)] if self.file.name == "__init__.py" else None
            return importlib.util.spec_from_file_location(
                name, self.file, loader=self, submodule_search_locations=package
            )

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, self.file, "exec"), vars(module))


def part(file: str) -> str:
    (found,) = (part for part in TESTS if file == part or file.startswith(f"{part}/"))
    return found


def passes(file: str, number: int | None, seconds: float) -> bool:
    """Whether the tests pass with a mutant of `file`, None for the file as it is, within some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if not child:
            os._exit(_test(file, number, folder))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status == 0
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return False


def _test(file: str, number: int | None, folder: str) -> int:
    """pytest's exit code in this process, which says nothing; `folder` is its own."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.environ["NUMBA_CACHE_DIR"] = folder  # what is compiled of a mutant must not be kept
    if number is not None:
        sys.meta_path.insert(0, Finder(ROOT / file, mutated((ROOT / file).read_text("utf-8"), number)))
    # pytest loads what it rewrites the asserts of by itself, past the finder.
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain"]
    options += ["--hypothesis-profile=mutation", f"--basetemp={folder}/pytest"]
    options += ["-k", f"not ({SLOW} or {IN_ANOTHER_PROCESS})"]
    more = [] if file.startswith("kernels/") else [VALUES, file]  # kernels are collected as no package
    return int(pytest.main([*options, *TESTS[part(file)], *more]))


def main() -> None:
    """Print the score and who survived; exit 1 below the goal."""
    parser = argparse.ArgumentParser(prog="python benchmarks/mutation")
    for name, number in (("--mutants", 300), ("--minutes", 60), ("--seed", 1)):
        parser.add_argument(name, type=int, default=number)
    parser.add_argument("files", nargs="*", default=[*TESTS])
    given = parser.parse_args()
    os.chdir(ROOT)
    settings.register_profile(
        "mutation", deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
    )
    paths = [path for name in given.files for path in (sorted(Path(name).rglob("*.py")) or [Path(name)])]
    files = [str(path) for path in paths]
    every = [(file, mutant) for file in files for mutant in mutants(Path(file).read_text("utf-8"))]
    sample = sorted(Random(given.seed).sample(every, min(given.mutants, len(every))))
    took: dict[str, float] = {}
    for file in {part(file): file for file, _ in sample}.values():
        begin = time.monotonic()
        if not passes(file, None, 600):
            raise SystemExit(f"error: the tests of {part(file)} fail without a mutant")
        took[part(file)] = time.monotonic() - begin
        print(f"{took[part(file)]:.0f} s for the tests of {part(file)}", flush=True)
    survivors, tried, end = [], 0, time.monotonic() + 60 * given.minutes
    Random(given.seed).shuffle(sample)
    for file, mutant in sample:
        if time.monotonic() > end:
            break
        tried += 1
        if passes(file, mutant.number, 10 + 2 * took[part(file)]):
            survivors.append((file, mutant))
            print(f"survived: {file}:{mutant.line}: {mutant.what}", flush=True)
    killed = tried - len(survivors)
    share = killed / max(1, tried)
    print(f"{killed} of {tried} mutants killed, {share:.1%}; {len(every)} can be made of {len(files)} files")
    raise SystemExit(0 if share >= GOAL else 1)


if __name__ == "__main__":
    main()
