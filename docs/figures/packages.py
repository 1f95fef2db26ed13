"""The packages of the code and what each imports, read from the source."""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {"tilesim": "tilesim", "scenes": "tilesim_scenes", "kernels": "tilesim_kernels"}

FLOORS = (
    ("cli",),
    ("scenes", "kernels"),
    ("player", "ideas", "calibration"),
    ("analysis", "choice"),
    ("engine",),
    ("model", "kernel_costs"),
    ("view", "formats", "parallel", "schedules", "ladder", "gemm"),
    ("core",),
)
"""The packages from top to bottom. Each imports only packages below it."""

FOUND_IN = {
    "cli": ("cli", "films"),
    "view": ("view",),
    "parallel": ("parallel",),
    "core": (
        *("version", "errors", "text", "storage", "spans", "compiled"),
        *("problems", "orders", "devices", "plans", "costs", "products", "kernel_config", "work"),
        *("declared", "metrics", "sm_cycles", "traces"),
    ),
}
"""The packages without a folder of their own: their modules and folders, all in tilesim/."""

WIDTH, HEIGHT, GAP, RISE = 150, 34, 40, 46


def package_of(module: str) -> str | None:
    """The package of a module, given its dotted name; None for an entry point, such as `tilesim` itself."""
    top, *rest = module.split(".")
    if top != "tilesim":
        return {"tilesim_scenes": "scenes", "tilesim_kernels": "kernels"}.get(top)
    if not rest or rest[0] == "__main__":
        return None
    listed = (package for package, modules in FOUND_IN.items() if rest[0] in modules)
    is_folder = (ROOT / "tilesim" / rest[0]).is_dir()
    return next(listed, rest[0] if is_folder else None)


def _imports(path: Path, name: str) -> set[str]:
    """The modules that a source file imports at its top level, not inside functions."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = name.split(".")
            kept = len(parents) - node.level + (path.name == "__init__.py")
            start = parents[:kept] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return found


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """Every pair (package, package that it imports)."""
    found = set()
    for folder, package in PACKAGES.items():
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            for imported in _imports(path, name):
                ends = package_of(name), package_of(imported)
                if all(ends) and ends[0] != ends[1]:
                    found.add(ends)
    return frozenset(found)


def reached(start: str, along: Iterable[tuple[str, str]]) -> set[str]:
    """The packages that can be reached from `start` by following arrows.

    >>> sorted(reached("cli", [("cli", "engine"), ("engine", "model"), ("scenes", "view")]))
    ['engine', 'model']
    """
    found: set[str] = set()
    ahead = {start}
    while ahead:
        ahead = {below for above, below in along if above in ahead} - found
        found |= ahead
    return found


def drawn() -> list[tuple[str, str]]:
    """The arrows, without those that a chain of others implies."""
    every = arrows()
    return sorted(arrow for arrow in every if arrow[1] not in reached(arrow[0], every - {arrow}))


def picture() -> str:
    """The packages as an SVG in the color of the surrounding text, as a block of Markdown."""
    most = max(map(len, FLOORS))
    wide = most * WIDTH + (most - 1) * GAP
    place = {
        package: (
            (wide - len(floor) * WIDTH - (len(floor) - 1) * GAP) / 2 + i * (WIDTH + GAP),
            4 + at * (HEIGHT + RISE),
        )
        for at, floor in enumerate(FLOORS)
        for i, package in enumerate(floor)
    }
    lines = []
    for above, below in drawn():
        (x, y), (to_x, to_y) = place[above], place[below]
        lines.append(
            f'<line x1="{x + WIDTH / 2:.0f}" y1="{y + HEIGHT:.0f}" x2="{to_x + WIDTH / 2:.0f}" '
            f'y2="{to_y - 5:.0f}" marker-end="url(#tip)"/>'
        )
    boxes = [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
        f'<text x="{x + WIDTH / 2:.0f}" y="{y + HEIGHT / 2 + 5:.0f}">{package}</text>'
        for package, (x, y) in place.items()
    ]
    tall = len(FLOORS) * (HEIGHT + RISE) - RISE + 8
    return "\n".join(
        [
            "```{raw} html",
            f'<svg class="packages" viewBox="-2 0 {wide + 4} {tall}" role="img" '
            'aria-label="Packages and their imports">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
            *lines,
            *boxes,
            "</svg>",
            "```",
        ]
    )


def table() -> str:
    """What is in each package, and what it imports, as Markdown."""
    lines = ["| package | where | imports |", "| --- | --- | --- |"]
    for package in (name for floor in FLOORS for name in floor):
        parts = [name + "/" * (ROOT / "tilesim" / name).is_dir() for name in FOUND_IN.get(package, ())]
        folder = package if package in PACKAGES else f"tilesim/{package}"
        where = f"`tilesim/`: {', '.join(parts)}" if parts else f"`{folder}/`"
        below = (
            ", ".join(sorted(to for start, to in arrows() if start == package))
            or "the standard library, NumPy"
        )
        lines.append(f"| {package} | {where} | {below} |")
    return "\n".join(lines)


def figures() -> dict[str, str]:
    """What the design page takes from here, by name."""
    return {"packages": picture(), "packages_table": table()}
