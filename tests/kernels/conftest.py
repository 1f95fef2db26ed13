"""The GPU that some tests of the kernels need."""

import os
from importlib import import_module

import pytest


@pytest.fixture(scope="module")
def gpu():
    """The module on_gpu, imported late: while tests are collected nothing may import Triton yet."""
    if os.environ.get("TRITON_INTERPRET") == "1":
        pytest.skip("Triton interprets here; run this file alone")
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.version.cuda is None or not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    if torch.cuda.get_device_capability() < (9, 0):
        pytest.skip("needs a GPU with TMA")
    return import_module("on_gpu")
