"""How the command line starts: before anything is imported that reads its environment."""

import os

import pytest

from tilesim import __main__


@pytest.mark.parametrize(("asked", "used"), [(None, "1"), ("3", "3")])
def test_numpy_multiplies_in_one_thread_unless_the_user_says_how_many(
    asked: str | None, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(__main__.BLAS, asked or "")
    if asked is None:
        monkeypatch.delenv(__main__.BLAS)
    seen = []
    monkeypatch.setattr("tilesim.cli.main", lambda: seen.append(os.environ[__main__.BLAS]))
    __main__.main()
    assert seen == [used]
