"""How long the playground takes in headless Chromium: `python benchmarks/playground_times.py`.

It says the sizes of what a reader loads, the seconds until the first picture, and those from a change of the
form to the picture of it, each the median of some. It needs what `make playground` brings.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests" / "player")]

import playground  # noqa: E402
from programs import ARGUMENTS, CHROMIUM, served  # noqa: E402

CHANGES = {
    "1,024 tiles, 1 schedule": ("m=8192&schedules=persistent", 1),
    "1,024 tiles, 2 schedules": ("m=8192&schedules=naive+persistent", 2),
    "1,024 tiles, 4 schedules": ("m=8192&schedules=naive+persistent+stream-k+split-k:2", 4),
    "1,024 tiles of 64 K-steps, 4 schedules": (
        "m=8192&k=4096&schedules=naive+persistent+stream-k+split-k:8",
        4,
    ),
    "16,384 tiles, 2 schedules": ("m=32768&n=16384&schedules=naive+persistent", 2),
}
PLAYER = """() => {
    const { player } = globalThis.tilesim ?? {};
    return player && player.frames.length > 0 ? player.runs.length : 0;
}"""


def picture(page: Page, answers: int, runs: int) -> None:
    """Until the page has so many answers, and the player of the last has drawn so many runs."""
    page.wait_for_function(
        "(n) => Number(document.body.dataset.answered) >= n", arg=answers, polling=10, timeout=120_000
    )
    frame = page.query_selector("#player").content_frame()  # type: ignore[union-attr]
    while frame.evaluate(PLAYER) != runs:  # type: ignore[union-attr]
        page.wait_for_timeout(5)


def opened(browser: Browser, address: str) -> Page:
    """A page that has its first picture."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/index.html")
    picture(page, 1, 2)
    return page


def main(times: int = 5) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        playground.build(Path(folder))
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        for path in files:
            print(f"{path.relative_to(folder)!s:62} {path.stat().st_size / 1000:>9,.0f} kB")
        print(f"{'together':62} {sum(path.stat().st_size for path in files) / 1000:>9,.0f} kB")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        with served(Path(folder)) as address:
            loads = []
            for _ in range(times):
                begin = perf_counter()
                page = opened(browser, address)
                loads.append(perf_counter() - begin)
                page.close()
            page = opened(browser, address)
            print(f"first picture, Python loaded from this machine: {median(loads):.2f} s")
            answers = 1
            for name, (fields, runs) in CHANGES.items():
                seconds = []
                for n in range(times):
                    begin = perf_counter()
                    page.evaluate("(hash) => { location.hash = hash; }", f"{fields}&order=grouped:{n + 2}")
                    answers += 1
                    picture(page, answers, runs)
                    seconds.append(perf_counter() - begin)
                print(f"{name}: picture after {median(seconds):.2f} s, at most {max(seconds):.2f} s")
        browser.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
