"""Every scene of the page on mobjects is rendered by stock Manim; and every public name is on that page."""

import re
from pathlib import Path

import pytest
import stills
from manim import Scene, tempconfig
from manim.utils.module_ops import get_module, get_scene_classes_from_module
from PIL import Image
from stills import SCENES

import tilesim_scenes

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("file", SCENES, ids=lambda file: file.stem)
def test_a_scene_of_the_docs_renders_under_stock_manim(file: Path, tmp_path: Path) -> None:
    small = {"pixel_width": 160, "pixel_height": 90, "frame_rate": 5, "dry_run": True, "progress_bar": "none"}
    with tempconfig(small | {"media_dir": str(tmp_path), "disable_caching": True}):
        scenes = get_scene_classes_from_module(get_module(file))
        assert scenes, f"{file.name} has no scene"
        for one in scenes:
            scene: Scene = one()
            scene.render()


def test_a_scene_of_the_docs_has_a_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stills, "WIDTH", 160)
    monkeypatch.setattr(stills, "HEIGHT", 90)
    stills.draw(tmp_path)
    for file in SCENES:
        with Image.open(tmp_path / f"{file.stem}.png") as still:
            assert len(still.getcolors(160 * 90)) > 1, f"{file.name} ends on an empty frame"


def test_the_page_shows_every_scene_and_every_public_name() -> None:
    page = (DOCS / "mobjects.md").read_text("utf-8")
    shown = re.findall(r"literalinclude} scenes/(\w+)\.py", page)
    assert sorted(shown) == [file.stem for file in SCENES]
    imported = " ".join(file.read_text("utf-8") for file in SCENES)
    missing = [name for name in tilesim_scenes.__all__ if not re.search(rf"\b{name}\b", imported)]
    assert not missing
