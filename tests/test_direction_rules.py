"""Which package may import which, read off the source: even an import inside a function counts."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from figures import packages

ROOT = Path(__file__).parents[1]
PACKAGES = packages.PACKAGES
HEAVY = {"manim", "torch", "triton", "PIL", "av", "cairo", "manimpango"}


def sources(folder):
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if "__pycache__" not in path.parts]


def module_name(path):
    folder, *rest = path.relative_to(ROOT).with_suffix("").parts
    return ".".join([PACKAGES[folder], *rest]).removesuffix(".__init__")


def imports(text, name, is_package=False):
    """The modules that a source imports, dotted and absolute, with what it takes from them as a last part.

    Names given as plain strings to import_module, __import__ and find_spec count as well.
    """
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = name.split(".")
            parents = parents[: len(parents) - node.level + is_package] if node.level else []
            module = ".".join([*parents, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in ("import_module", "__import__", "find_spec"):
                found.add(str(node.args[0].value))
    return found


@cache
def imported_by(path):
    return imports(path.read_text("utf-8"), module_name(path), path.name == "__init__.py")


def within(module, package):
    return module == package or module.startswith(f"{package}.")


def offenders(paths, wrong):
    """{path: what is wrong in it}, of the paths in which anything is."""
    paths = list(paths)
    assert paths
    found = {str(path.relative_to(ROOT)): sorted(wrong(path)) for path in paths}
    return {path: what for path, what in found.items() if what}


def of(modules, packages):
    """Those of the modules that are within one of the packages."""
    return {module for module in modules if any(within(module, package) for package in packages)}


def others_than(modules, packages):
    return set(modules) - of(modules, packages)


CLI = ROOT / "tilesim" / "cli"
CORE = [path for path in sources("tilesim") if CLI not in path.parents]


def test_imports_are_found_wherever_they_hide():
    text = (
        "import a.b, c\ndef f():\n    from d import e\n    from . import g\n    from .h import i\n"
        "    import_module('j')\n    __import__('k.l')"
    )
    expected = {"a.b", "c", "d.e", "j", "k.l"}
    assert imports(text, "package.module") == expected | {"package.g", "package.h.i"}
    assert imports(text, "package", is_package=True) == expected | {"package.g", "package.h.i"}


OPTIONAL = {
    ROOT / "tilesim" / "compiled.py": {"numba"},
    ROOT / "tilesim" / "calibration" / "constants.py": {"scipy"},
}
"""The packages of an extra, by the file that may import them."""


def test_tilesim_imports_the_standard_library_and_numpy():
    def wrong(path):
        allowed = {*sys.stdlib_module_names, "numpy", "tilesim", *OPTIONAL.get(path, ())}
        return others_than(imported_by(path), allowed)

    assert not offenders(CORE, wrong)


def test_tilesim_knows_neither_its_command_line_nor_a_clock():
    paths = [path for path in CORE if path.name not in ("__main__.py", "films.py")]
    assert not offenders(paths, lambda path: of(imported_by(path), {"tilesim.cli"}))
    assert not offenders(CORE, lambda path: of(imported_by(path), {"time", "datetime"}))


def test_the_command_line_reaches_the_other_packages_only_inside_a_command():
    """At its head, a command imports what tilesim itself may, and click."""

    def wrong(path):
        tree = ast.parse(path.read_text("utf-8"))
        tree.body = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
        at_head = imports(ast.unparse(tree), module_name(path), path.name == "__init__.py")
        allowed = {*sys.stdlib_module_names, "numpy", "tilesim", "click"}
        return others_than(at_head, allowed) | of(imported_by(path), HEAVY)

    assert not offenders(sources("tilesim/cli"), wrong)


NOT_IN = {
    "scenes": {"kernels", "tilesim_kernels", "torch", "triton", "scenes", "tilesim.cli"},
    "kernels": {"scenes", "tilesim_scenes", "manim", "PIL", "av", "cairo", "tilesim.cli"},
    "tilesim/schedules": {
        f"tilesim.{name}" for name in ("engine", "model", "costs", "traces", "metrics", "view")
    },
}
"""What the modules of a folder may not import: scenes and kernels each other, schedules clock and costs."""


@pytest.mark.parametrize("folder", NOT_IN)
def test_folders_import_nothing_of_one_another(folder):
    assert not offenders(sources(folder), lambda path: of(imported_by(path), NOT_IN[folder]))


def test_kernels_work_under_any_package_name():
    def wrong(path):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        absolute = {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
        return of(absolute, {"kernels", "tilesim_kernels"})

    assert not offenders(sources("kernels"), wrong)


def modules_that(path, everything):
    """The modules of `everything` that a source imports: TYPE_CHECKING and inside functions too."""
    found = set()
    for imported in imported_by(path):
        while imported and imported not in everything:
            imported = imported.rpartition(".")[0]
        found |= {imported} - {""}
    return found


def test_the_core_imports_the_core_only():
    everything = {module_name(path) for path in CORE}
    core = {module for module in everything if packages.package_of(module) == "core"}
    assert len(core) > 25
    for path in CORE:
        if module_name(path) in core:
            assert modules_that(path, everything) <= core, path


def test_no_imports_go_round_in_a_circle():
    """A package imports its own modules, so as a part of a name it does not count."""
    everything = {module_name(path) for path in sources("tilesim")}
    below = {module_name(path): modules_that(path, everything) for path in sources("tilesim")}
    for module, imported in below.items():
        imported -= {module, *(package for package in everything if within(module, package))}
    while below:
        ground = {module for module, imported in below.items() if not imported & below.keys()}
        assert ground, f"these import each other: {sorted(below)}"
        below = {module: imported for module, imported in below.items() if module not in ground}


KERNEL_FLOORS = (
    {"bench"}, {"matmul"}, {"tuning"}, {"measure"}, {"microbenchmarks", "reductions"},
    {"gemm"}, {"launch", "probes"},
)  # fmt: skip
"""The folders of kernels/ from the roof to the ground."""


def test_imports_within_kernels_go_down():
    for number, floor in enumerate(KERNEL_FLOORS):
        above = {f"tilesim_kernels.{name}" for each in KERNEL_FLOORS[: number + 1] for name in each}
        for name in floor:
            paths = sources(f"kernels/{name}") or [ROOT / "kernels" / f"{name}.py"]
            others = above - {f"tilesim_kernels.{name}"}
            assert not offenders(paths, lambda path, others=others: of(imported_by(path), others))


def test_only_simulate_starts_the_engine_and_only_the_engine_has_events():
    def importers(target):
        paths = [path for folder in PACKAGES for path in sources(folder)]
        return {module_name(path) for path in paths if any(within(m, target) for m in imported_by(path))}

    assert importers("tilesim.engine.run") == {"tilesim.engine.simulate"}
    assert importers("tilesim.engine.events") <= {"tilesim.engine.run", "tilesim.engine.setup"}
    assert importers("heapq") == {"tilesim.engine.events", "tilesim.analysis.item_times"}


def test_only_scenes_know_colours():
    colour = re.compile(r"""["']#[0-9a-fA-F]{3,8}["']""")
    assert not offenders(
        [*sources("tilesim"), *sources("kernels")], lambda path: colour.findall(path.read_text("utf-8"))
    )


FLOOR = {package: at for at, floor in enumerate(packages.FLOORS) for package in floor}


def test_on_the_design_page_every_arrow_goes_down_and_every_package_is_drawn():
    assert not sorted((a, b) for a, b in packages.arrows() if FLOOR[a] >= FLOOR[b])
    packages_of_code = {end for arrow in packages.arrows() for end in arrow}
    assert packages_of_code == set(FLOOR)
    modules = {path.stem for path in (packages.ROOT / "tilesim").glob("[!_]*.py")}
    assert modules <= {module for found in packages.FOUND_IN.values() for module in found}


def test_the_picture_shows_the_same_as_all_arrows():
    """Following the arrows that are drawn reaches what a package imports, and nothing else."""
    for package in FLOOR:
        assert packages.reached(package, packages.drawn()) == packages.reached(package, packages.arrows())
