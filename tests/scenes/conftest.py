"""The tests of films need Manim, and are left out as a whole where it is missing."""

import pytest


def pytest_collect_file():
    pytest.importorskip("manim", reason="the films need Manim")


@pytest.fixture(scope="session", autouse=True)
def texts_of_this_process(tmp_path_factory):
    """Manim reads texts that another process has only begun to write, so each has files of its own."""
    from manim import config

    config.media_dir = str(tmp_path_factory.mktemp("media"))


@pytest.fixture(scope="session", autouse=True)
def families_walked_faster():
    """Manim walks through a mobject's family twice, as one may be in it twice: a sixth of a film's time."""
    from manim import Mobject

    careful = Mobject.get_family

    def family(self, recurse=True):
        found = [self]
        for part in self.submobjects:
            found += family(part)
        return found if len(found) == len(set(found)) else careful(self)

    Mobject.get_family = family
