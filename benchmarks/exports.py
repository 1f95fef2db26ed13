"""How fast `tilesim export FILE.py:Scene` is against `manim render`, and how good what it writes is.

`python exports.py SCENE` compares what the two encoders make of the frames of one scene of `ordinary`, and
prints it as JSON.
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
from alternation import alternate
from incremental import SCENES
from rendering import EXPORT, FPS, MANIM, SIZE, process
from table import row

FILE = Path(__file__).with_name("ordinary.py")
COMMANDS = {
    "manim": (*MANIM, str(FILE), "{scene}"),
    "export": EXPORT,
    "one process": (*EXPORT, "--jobs", "1"),
}
MANIM_CODEC = {"crf": "23"}
"""What Manim 0.22 asks of x264."""


class Encoders:
    """Encodes the same frames in several ways; `cpu` has the seconds that each took."""

    def __init__(self, folder: Path) -> None:
        from tilesim_scenes.render.files.formats import CODECS, Codec, SegmentEncoder
        from tilesim_scenes.render.files.planes import HDTV, Planes

        ways = {
            "ours": CODECS["h264"],
            "Manim's": Codec("libx264", "yuv420p", "mp4", MANIM_CODEC),
            "lossless": CODECS["lossless"],
        }
        self.paths = {name: folder / f"{name}.mp4" for name in ways}
        self.planes = Planes(*SIZE, "yuv420p", HDTV)
        self.encoders = {
            name: SegmentEncoder(self.paths[name], codec, *SIZE, Fraction(FPS))
            for name, codec in ways.items()
        }
        self.cpu = dict.fromkeys(ways, 0.0)

    def show(self, picture: np.ndarray, changed: list[Any], repeat: int) -> None:
        self.planes.convert(picture, changed)
        for name, encoder in self.encoders.items():
            begin = process_time()
            encoder.write(self.planes.frame, repeat)
            self.cpu[name] += process_time() - begin

    def close(self) -> None:
        for encoder in self.encoders.values():
            encoder.close()


def quality(name: str) -> dict[str, float]:
    """Size and CPU time of a scene's film in our settings against Manim's, and the SSIM of both."""
    import ordinary

    from tilesim_scenes.render.files.formats import Format
    from tilesim_scenes.render.running import ENDLESS, RenderRequest, ran
    from tilesim_scenes.render.segments import SegmentRenderer
    from tilesim_scenes.render.take import Part, Take

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        both = Encoders(folder)
        take = Take(Part(0, ENDLESS, ENDLESS), lambda segment: both)
        request = RenderRequest(getattr(ordinary, name), FILE, Format("mp4", SIZE, FPS))
        ran(request, folder, partial(SegmentRenderer, take))
        take.close()
        files = {way: path.read_bytes() for way, path in both.paths.items()}
    return {
        "size": len(files["ours"]) / len(files["Manim's"]),
        "cpu": both.cpu["ours"] / both.cpu["Manim's"],
        "ssim": ssim(files["ours"], files["lossless"]),
        "Manim's ssim": ssim(files["Manim's"], files["lossless"]),
    }


def ssim(one: bytes, other: bytes) -> float:
    """The mean SSIM, of all planes, of one film's frames against those of another."""
    import io

    import av

    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "ssim"
        films = [av.open(io.BytesIO(data)) for data in (one, other)]
        graph = av.filter.Graph()
        sources = [graph.add_buffer(template=film.streams.video[0]) for film in films]
        compare, sink = graph.add("ssim", f"stats_file={notes}"), graph.add("buffersink")
        for number, source in enumerate(sources):
            source.link_to(compare, 0, number)
        compare.link_to(sink)
        graph.configure()
        for pair in zip(*(film.decode(video=0) for film in films), strict=True):
            for source, frame in zip(sources, pair, strict=True):
                source.push(frame)
            sink.pull()
        for source in sources:
            source.push(None)
        del graph, sources, compare, sink, source
        return mean(float(found) for found in re.findall(r"All:([\d.]+)", notes.read_text()))


def measure(rounds: int = 3, scenes: tuple[str, ...] = SCENES) -> list[dict[str, Any]]:
    """Rows of the table: whole processes, start included, against Manim's in the same round."""
    runs: dict[tuple[str, str], list[dict[str, float]]] = {}

    def call(scene: str, way: str, folder: str) -> float:
        name = scene if way == "manim" else f"{FILE}:{scene}"
        words = [word.format(scene=name, folder=folder) for word in COMMANDS[way]]
        runs.setdefault((scene, way), []).append(process(*words))
        return 0.0

    with tempfile.TemporaryDirectory() as folder:
        contenders: dict[str, Callable[[], float]] = {
            f"{scene} {way}": partial(call, scene, way, folder) for scene in scenes for way in COMMANDS
        }
        alternate(contenders, rounds)

    def ratios(scene: str, way: str) -> list[float]:
        pairs = zip(runs[scene, way], runs[scene, "manim"], strict=True)
        return [theirs["whole"] / ours["whole"] for ours, theirs in pairs]

    def means(way: str) -> list[float]:
        turns = zip(*(ratios(scene, way) for scene in scenes), strict=True)
        return [prod(turn) ** (1 / len(turn)) for turn in turns]

    rows = [
        row(f"export {scene}, against Manim", ratios(scene, "export"), "times", "at least 1")
        for scene in scenes
    ]
    rows.append(row("export, ten scenes, geometric mean", means("export"), "times", "at least 2"))
    rows.append(row("by one process, geometric mean", means("one process"), "times"))
    memory = [
        max(ours["peak"] for ours in runs[scene, "export"])
        / max(theirs["peak"] for theirs in runs[scene, "manim"])
        for scene in scenes
    ]
    rows.append(row("memory of one of its processes, of Manim's", memory, "times", "at most 1.2"))
    found = [process(__file__, scene) for scene in scenes]
    rows.append(row("encoder, ten scenes: CPU against Manim's", [one["cpu"] for one in found], "times"))
    rows.append(row("encoder, ten scenes: size against Manim's", [one["size"] for one in found], "times"))
    rows.append(row("encoder, ten scenes: SSIM", [one["ssim"] for one in found], "", "at least 0.99"))
    theirs = mean(one["Manim's ssim"] for one in found)
    rows.append(row("Manim's encoder, ten scenes: mean SSIM", [theirs], ""))
    return rows


if __name__ == "__main__":
    print(json.dumps(quality(sys.argv[1])))
