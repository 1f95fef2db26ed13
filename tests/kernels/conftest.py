"""Tests of the kernels run by Triton's interpreter or, with TRITON_INTERPRET=0 in the environment, on a GPU.

On a GPU run those that take the fixture `gpu`, and those marked `on_device`, which the interpreter runs, too.
"""

import os
from importlib import import_module
from pathlib import Path

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "on_device: a test that the interpreter and a GPU run alike")


def pytest_collection_modifyitems(config, items):
    on_gpu = os.environ.get("TRITON_INTERPRET") == "0"

    def elsewhere(item):
        of_gpu, either = "gpu" in item.fixturenames, item.get_closest_marker("on_device")
        return Path(__file__).parent in item.path.parents and of_gpu != on_gpu and not either

    config.hook.pytest_deselected(items=[item for item in items if elsewhere(item)])
    items[:] = [item for item in items if not elsewhere(item)]


@pytest.fixture(scope="module")
def gpu():
    """The module on_gpu, imported late: while tests are collected nothing may import Triton yet."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.version.cuda is None or not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    if torch.cuda.get_device_capability() < (9, 0):
        pytest.skip("needs a GPU with TMA")
    return import_module("on_gpu")
