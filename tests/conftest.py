"""Every run draws the same examples; `pytest --hypothesis-profile=search` looks for new ones, or `=hours`."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tilesim import SCHEDULES

# A process for each core has no use for more threads of NumPy's.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Who runs the tests in the background of a shell bequeaths a SIGINT that is ignored, also to what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest looks for doctests in every module; what tests share is imported by them, not collected besides.
collect_ignore = [path.name for path in Path(__file__).parent.glob("[!t]*.py")]

slow_machines = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "same", deadline=None, max_examples=50, derandomize=True, suppress_health_check=slow_machines
)
for name, examples in {"search": 2000, "hours": 200_000}.items():
    settings.register_profile(
        name, deadline=None, max_examples=examples, print_blob=True, suppress_health_check=slow_machines
    )
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def little_garbage() -> None:
    """Films make mobjects by the thousand, at which Python would look again and again at all modules."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """Forget what a test registered, and the language that it spoke."""
    registered = dict(SCHEDULES._registered)
    yield
    SCHEDULES._registered = registered
    language = sys.modules.get("tilesim_scenes.look.language")
    if language is not None:
        language.use_language(language.SOURCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window, where there is one."""
    from programs import ARGUMENTS, CHROMIUM

    if not CHROMIUM:
        pytest.skip("needs Chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
