"""Which room may import which, read off the source: even an import inside a function counts."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {"tilesim": "tilesim", "scenes": "tilesim_scenes", "kernels": "tilesim_kernels"}
HEAVY = {"manim", "torch", "triton", "PIL", "av", "cairo", "manimpango"}


def sources(folder):
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if "__pycache__" not in path.parts]


def module_name(path):
    room, *rest = path.relative_to(ROOT).with_suffix("").parts
    return ".".join([ROOMS[room], *rest]).removesuffix(".__init__")


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


def imported_by(path):
    return imports(path.read_text("utf-8"), module_name(path), path.name == "__init__.py")


def top(modules):
    return {module.partition(".")[0] for module in modules}


def within(module, package):
    return module == package or module.startswith(f"{package}.")


def each(paths):
    paths = list(paths)
    assert paths
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


CLI = ROOT / "tilesim" / "cli"
CORE = [path for path in sources("tilesim") if CLI not in path.parents]


def test_imports_are_found_wherever_they_hide():
    text = (
        "import a.b, c\ndef f():\n    from d import e\n    from . import g\n    from .h import i\n"
        "    import_module('j')\n    __import__('k.l')"
    )
    expected = {"a.b", "c", "d.e", "j", "k.l"}
    assert imports(text, "room.module") == expected | {"room.g", "room.h.i"}
    assert imports(text, "room", is_package=True) == expected | {"room.g", "room.h.i"}


COMPILES = ROOT / "tilesim" / "compiled.py"


@each(CORE)
def test_tilesim_imports_the_standard_library_and_numpy(path):
    allowed = set(sys.stdlib_module_names) | {"numpy", "tilesim"}
    assert top(imported_by(path)) <= (allowed | {"numba"} if path == COMPILES else allowed)


@each(path for path in CORE if path.name != "__main__.py")
def test_tilesim_does_not_know_its_command_line(path):
    assert not [module for module in imported_by(path) if within(module, "tilesim.cli")]


@each(sources("tilesim/cli"))
def test_the_command_line_reaches_the_other_rooms_only_inside_a_command(path):
    """At its head, a command imports what tilesim itself may, and click."""
    tree = ast.parse(path.read_text("utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    at_head = imports(ast.unparse(tree), module_name(path), path.name == "__init__.py")
    assert top(at_head) <= set(sys.stdlib_module_names) | {"numpy", "tilesim", "click"}
    assert not top(imported_by(path)) & HEAVY


@each(sources("scenes"))
def test_scenes_import_neither_kernels_nor_what_kernels_need(path):
    modules = imported_by(path)
    assert not top(modules) & {"kernels", "tilesim_kernels", "torch", "triton", "scenes"}
    assert not [module for module in modules if within(module, "tilesim.cli")]


@each(sources("kernels"))
def test_kernels_import_neither_scenes_nor_manim(path):
    modules = imported_by(path)
    assert not top(modules) & {"scenes", "tilesim_scenes", "manim", "PIL", "av", "cairo"}
    assert not [module for module in modules if within(module, "tilesim.cli")]


@each(sources("kernels"))
def test_kernels_work_under_any_package_name(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            assert (node.module or "").partition(".")[0] not in ("kernels", "tilesim_kernels")


NOUNS = {
    f"tilesim.{name}"
    for name in (
        "errors", "text", "strict_json", "files", "spans", "problems", "orders", "devices", "plans", "costs",
        "variants", "metrics", "compiled", "trace_checks", "trace_file", "traces", "recorded_slots",
        "provenance", "films",
    )
}  # fmt: skip


def modules_that(path, everything):
    """The modules of `everything` that a source imports: TYPE_CHECKING and inside functions too."""
    found = set()
    for imported in imported_by(path):
        while imported and imported not in everything:
            imported = imported.rpartition(".")[0]
        found |= {imported} - {""}
    return found


def test_nouns_import_nouns_only():
    everything = {module_name(path) for path in CORE}
    assert everything >= NOUNS
    for path in CORE:
        if module_name(path) in NOUNS:
            assert modules_that(path, everything) <= NOUNS, path


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


@each(sources("tilesim/schedules"))
def test_schedules_know_neither_clock_nor_costs(path):
    for forbidden in ("engine", "costs", "traces", "metrics", "view"):
        assert not [module for module in imported_by(path) if within(module, f"tilesim.{forbidden}")]


def test_only_simulate_starts_the_engine_and_only_the_engine_has_events():
    def importers(target):
        rooms = [path for room in ROOMS for path in sources(room)]
        return {module_name(path) for path in rooms if any(within(m, target) for m in imported_by(path))}

    assert importers("tilesim.engine.run") == {"tilesim.engine.simulate"}
    assert importers("tilesim.engine.events") <= {"tilesim.engine.run", "tilesim.engine.setup"}
    assert importers("heapq") == {"tilesim.engine.events"}


@each(CORE)
def test_tilesim_reads_no_clock(path):
    assert not top(imported_by(path)) & {"time", "datetime"}


@each([*sources("tilesim"), *sources("kernels")])
def test_only_scenes_know_colours(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.fullmatch(r"#[0-9a-fA-F]{3,8}", node.value)
