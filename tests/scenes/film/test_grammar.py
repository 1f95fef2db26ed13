"""Every film, in every shape of frame, keeps the rules by which people can read it."""

import pytest
from reading import faults
from watching import ASPECTS, watch

from tilesim.cli.packages import declared, scene_class
from tilesim_scenes.film.course import OURS
from tilesim_scenes.film.scene import Film

FILMS = [name for name in declared() if issubclass(scene_class(name), Film)]


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("name", FILMS)
def test_a_film_can_be_read(name: str, aspect: str) -> None:
    seen = watch(scene_class(name), aspect, moving=aspect == "wide")
    found = faults(seen)
    assert not found, "\n".join(found)
    if aspect == "wide":
        assert all(0 <= pause <= seen.scene.now for pause in seen.scene.pauses), "a talk stops at seconds"
        assert seen.scene.now == pytest.approx(OURS[name].seconds, abs=1.5), "FILM says how long it lasts"
        if OURS[name].part:
            assert seen.scene.card.sentence == OURS[name].finding, "FILM says what it finds"
