"""How long the player takes for a frame in headless Chromium: `python benchmarks/player_frames.py`.

For each page: its size, seconds until its first frame, and of each use the median and the 95th percentile of
the milliseconds that a frame takes to draw, and of those from one frame to the next; 16.7 are 60 frames/s.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from playwright.sync_api import sync_playwright

from tilesim import Device, Problem, player, simulate

PAGES = {
    "2 runs of 1,024 tiles": (("naive", "persistent"), Problem(4096, 8192, 512, order="grouped:8")),
    "16,384 tiles": (("persistent",), Problem(16_384, 32_768, 512, order="grouped:8")),
    "2 runs of 16,384 tiles": (("naive", "persistent"), Problem(16_384, 32_768, 512, order="grouped:8")),
    "2,097,152 tiles": (("persistent",), Problem(262_144, 262_144, 64, order="grouped:8")),
}
USES = """async (count) => {
    const { player } = tilesim, { whole } = player, length = whole.to - whole.from, found = {};
    const uses = {
        play: (n) => n || player.change({ t: whole.from, playing: true }),
        scrub: (n) => player.change({ playing: false, t: whole.from + (length * ((n * 37) % 100)) / 100 }),
        zoom: (n) => player.change({ view: { from: whole.from, to: whole.from + length * 0.97 ** n } }),
        hover: (n) => player.change({ hovered: { run: 0, row: n } }),
    };
    const at = (values, share) => {
        const sorted = [...values].sort((a, b) => a - b);
        return sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
    };
    for (const [name, use] of Object.entries(uses)) {
        const between = [];
        player.frames.length = 0;
        let last = await new Promise(requestAnimationFrame);
        for (let n = 0; n < count; n++) {
            use(n);
            const now = await new Promise(requestAnimationFrame);
            between.push(now - last);
            last = now;
        }
        found[name] = [player.frames, between].flatMap((values) => [at(values, 0.5), at(values, 0.95)]);
    }
    return found;
}"""


def main(count: int = 180) -> None:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    arguments = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        for name, (schedules, problem) in PAGES.items():
            file = Path(folder) / "page.html"
            runs = [simulate(schedule, problem, Device.named("h200")) for schedule in schedules]
            file.write_text(player.page(runs), "utf-8")
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            begin = perf_counter()
            page.goto(file.as_uri())
            page.wait_for_function("() => tilesim.player.frames.length > 0")
            size, seconds = file.stat().st_size / 1000, perf_counter() - begin
            print(f"{name}: {size:.0f} kB, first frame after {seconds:.1f} s")
            for use, (draw, draws, gap, gaps) in page.evaluate(USES, count).items():
                print(
                    f"  {use:6} draws {draw} ms (95 %: {draws}), from frame to frame {gap} ms (95 %: {gaps})"
                )
            page.close()
        browser.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
