"""Remote: segments drawn by machines that have the scene's file; each runs the scene from its start."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path

from manim import Scene, config, tempconfig

from tilesim.errors import TilesimError
from tilesim.storage import scratch
from tilesim_scenes.render import scene_files
from tilesim_scenes.render.running import RenderRequest, played, ran
from tilesim_scenes.render.scene_files import SceneError
from tilesim_scenes.render.segments import SegmentRenderer
from tilesim_scenes.render.take import Encoded, Part, Take

SEED = 0
"""Of a scene's random numbers, which must be the same each time, where Manim's configuration names none."""


@dataclass(frozen=True, slots=True)
class Task:
    """A segment of a request, as any machine can read it: the scene by name, and the segment's frames."""

    request: RenderRequest
    module: str
    """Of our films; empty for a scene of the request's file."""
    scene: str
    part: Part
    seed: int


def drawn(
    request: RenderRequest, folder: Path, workers: Executor, progress: Callable[[int], object]
) -> Scene:
    """Have the segments of `request` drawn by `workers` and put into `folder`; the scene, run but not drawn.

    Raises SceneError where the scene fails, or a worker's run of it has other frames.
    """
    seed = SEED if config.seed is None else config.seed
    with tempconfig({"seed": seed}):
        scene = played(request, folder)
    whole = replace(request.part, end=min(request.part.end, scene.renderer.frames))
    module = request.scene.__module__
    module = module if request.is_ours and "tilesim_scenes" in module else ""
    plain = replace(request, scene=Scene, file=request.file.resolve())
    tasks = [
        (part, workers.submit(segment, Task(plain, module, request.scene.__name__, part, seed)))
        for part in whole.segments()
    ]
    try:
        for number, (part, task) in enumerate(tasks):
            (folder / f"segment-{number:06}{request.format.codec.suffix}").write_bytes(task.result())
            progress(part.end - part.first)
    finally:
        for _, task in tasks:
            task.cancel()
    return scene


def segment(task: Task) -> bytes:
    """Draw and encode a segment, in a process of its own: a worker's threads share Manim's configuration."""
    with scratch.folder() as folder:
        (folder / "task").write_bytes(pickle.dumps(task))
        command = [sys.executable, "-m", segment.__module__, str(folder)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if (failed := folder / "error").is_file():
            raise SceneError(failed.read_text("utf-8"))
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise SceneError(f"a process that drew a segment failed ({' '.join(said)[:200]})")
        return (folder / "segment").read_bytes()


def draw(folder: Path) -> None:
    """Draw the segment of the task in `folder` into a file there."""
    task: Task = pickle.loads((folder / "task").read_bytes())
    try:
        if task.module:
            scene = getattr(import_module(task.module), task.scene)
        else:
            scene = scene_files.load(task.request.file, task.scene)
        take = Take(task.part, lambda number: Encoded(folder / "segment", task.request.format))
        with tempconfig({"seed": task.seed}):
            ran(replace(task.request, scene=scene), folder, partial(SegmentRenderer, take))
        take.close()
        if take.shown != task.part.end - task.part.first:
            raise SceneError(f"{task.scene} is not the same each time it runs; leave out --cluster")
    except TilesimError as error:
        (folder / "error").write_text(str(error), "utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
