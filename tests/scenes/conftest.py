"""The tests of films need Manim, and are left out as a whole where it is missing."""

import pytest


def pytest_collect_file():
    pytest.importorskip("manim", reason="the films need Manim")
