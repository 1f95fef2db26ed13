"""The two packages that tilesim itself never imports: kernels/ (torch, Triton) and scenes/ (Manim)."""

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tilesim.declared import Declared, films
from tilesim.errors import TilesimError

NEEDS = {
    "kernels": "PyTorch and Triton; install them with: pip install '.[kernels]'",
    "scenes": "Manim; install it with: pip install '.[films]'",
}

COURSE = "course"


def load(folder: str, module: str = "") -> ModuleType:
    """The package `tilesim_<folder>`, or a module of it; from the folder beside tilesim/ where not installed.
    Raises TilesimError, saying what to install, where it or a package that it needs is missing."""
    name = f"tilesim_{folder}"
    try:
        if name not in sys.modules and find_spec(name) is None:
            _load_beside(name, folder)
        return import_module(f"{name}.{module}" if module else name)
    except ImportError as error:
        if error.name and error.name.partition(".")[0].startswith("tilesim"):
            raise
        reason = " ".join(str(error).split())
        raise TilesimError(f"{folder}/ cannot be loaded ({reason}); it needs {NEEDS[folder]}") from None


def declared() -> Mapping[str, Declared]:
    """What films say of themselves, by name, in teaching order, without Manim."""
    spec, beside = find_spec("tilesim_scenes"), _beside("scenes")
    installed = list(spec.submodule_search_locations or []) if spec else []
    if not installed and not beside.is_dir():
        return {}
    return films(Path(installed[0]) if installed else beside)


def scene_class(name: str) -> Any:
    """The one scene that the film `name` is, which its file defines."""
    module = load("scenes", name.replace("-", "_"))
    return next(
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    )


def _beside(folder: str) -> Path:
    return Path(__file__).resolve().parents[2] / folder


def _load_beside(name: str, folder: str) -> None:
    path = _beside(folder) / "__init__.py"
    spec = spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    if not path.is_file() or spec is None or spec.loader is None:
        raise TilesimError(f"the package {name} is not installed, and there is no folder {path.parent}")
    sys.modules[name] = package = module_from_spec(spec)
    try:
        spec.loader.exec_module(package)
    except BaseException:
        del sys.modules[name]
        raise
