"""Values stay as they were made: whoever is handed one may keep it, or look it up by it."""

import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest

import tilesim

FOLDERS = [
    "calibration", "choice", "devices", "engine", "formats", "gemm", "model", "plans", "storage", "work",
]  # fmt: skip
BUILT = {"_Track", "_Packets"}
"""Those that a parser fills field by field."""


def dataclasses(module):
    """The dataclasses that a module defines, or one of the modules in it."""
    found = [module]
    for each in walk_packages(getattr(module, "__path__", []), f"{module.__name__}."):
        found.append(import_module(each.name))
    for one in found:
        for kind in vars(one).values():
            if inspect.isclass(kind) and is_dataclass(kind) and kind.__module__ == one.__name__:
                yield kind


@pytest.mark.parametrize("name", FOLDERS)
def test_no_field_can_be_set_or_added_later(name):
    for kind in dataclasses(import_module(f"{tilesim.__name__}.{name}")):
        assert "__slots__" in vars(kind), kind
        assert vars(kind)["__dataclass_params__"].frozen == (kind.__name__ not in BUILT), kind


@pytest.mark.parametrize("name", FOLDERS)
def test_what_holds_an_array_equals_itself_alone(name):
    """Arrays are compared element by element, so equality of two such values would be no bool."""
    for kind in dataclasses(import_module(f"{tilesim.__name__}.{name}")):
        if any(field.type in (np.ndarray, "np.ndarray") for field in fields(kind)):
            assert kind.__eq__ is object.__eq__, kind
