"""The tests of films need Manim, and are left out as a whole where it is missing."""

import pytest


def pytest_collect_file():
    pytest.importorskip("manim", reason="the films need Manim")


@pytest.fixture(scope="session", autouse=True)
def manim_of_this_process(tmp_path_factory):
    """Manim reads texts that another process has only begun to write, so each has files of its own.

    It also looks for who is twice in a family each time it walks through one: a tenth of a film's time.
    """
    from manim import Mobject, config

    config.media_dir = str(tmp_path_factory.mktemp("media"))
    careful = Mobject.get_family

    def family(self, recurse=True):
        found = [self]
        for part in self.submobjects:
            found += family(part)
        return found if len(found) == len(set(found)) else careful(self)

    Mobject.get_family = family
