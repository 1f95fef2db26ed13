"""The tests of films need Manim, and are left out as a whole where it is missing."""

import pytest


def pytest_collect_file():
    pytest.importorskip("manim", reason="the films need Manim")


@pytest.fixture(scope="session", autouse=True)
def texts_of_this_process(tmp_path_factory):
    """Manim reads texts that another process has only begun to write, so each has files of its own."""
    from manim import config

    config.media_dir = str(tmp_path_factory.mktemp("media"))
