"""Values stay as they were made: whoever is handed one may keep it, or look it up by it."""

from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest

FOLDERS = [
    "calibration", "choice", "devices", "engine", "formats", "gemm", "model", "plans", "storage", "work",
]  # fmt: skip
BUILT = {"_Track", "_Packets"}
"""Those that a parser fills field by field."""


@pytest.mark.parametrize("name", FOLDERS)
def test_no_field_can_be_set_or_added_later_and_what_holds_an_array_equals_itself_alone(name):
    """Arrays are compared element by element, so equality of two that hold some would be no bool."""
    whole = import_module(f"tilesim.{name}")
    inside = walk_packages(getattr(whole, "__path__", []), f"{whole.__name__}.")
    for module in (whole, *(import_module(each.name) for each in inside)):
        for kind in vars(module).values():
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__:
                assert "__slots__" in vars(kind), kind
                assert kind.__dataclass_params__.frozen == (kind.__name__ not in BUILT), kind
                if any(field.type is np.ndarray for field in fields(kind)):
                    assert kind.__eq__ is object.__eq__, kind
