"""The pictures on the page of mobjects: the last frame of each scene in `scenes/`, drawn by stock Manim."""

from pathlib import Path
from tempfile import TemporaryDirectory

from manim import tempconfig
from manim.utils.module_ops import get_module, get_scene_classes_from_module
from PIL import Image

SCENES = sorted((Path(__file__).parent / "scenes").glob("*.py"))
WIDTH, HEIGHT = 960, 540
"""Pixels."""


def draw(folder: Path) -> None:
    """Draw a picture for each file, named after it."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as media:
        quiet = {"dry_run": True, "progress_bar": "none", "verbosity": "ERROR", "media_dir": media}
        with tempconfig({"pixel_width": WIDTH, "pixel_height": HEIGHT, "disable_caching": True} | quiet):
            for file in SCENES:
                scene = get_scene_classes_from_module(get_module(file))[-1](skip_animations=True)
                scene.render()
                scene.renderer.update_frame(scene)
                Image.fromarray(scene.renderer.get_frame()[..., :3]).save(folder / f"{file.stem}.png")
