"""What execution_model may be asked for; anything else is refused in a sentence."""

import pytest

from tilesim.cli.packages import scene_class
from tilesim.errors import TilesimError

EXECUTION = scene_class("execution-model")


@pytest.mark.parametrize(
    "film, asked",
    [
        (EXECUTION, {"device": "A100", "tile": "64x64x64"}),
        (EXECUTION, {"tile": [128, 256, 64]}),
    ],
)
def test_what_makes_sense_is_taken(film, asked):
    film.checked(asked)


@pytest.mark.parametrize(
    "film, asked, says",
    [
        (EXECUTION, {"device": "h2000"}, "no device 'h2000'"),
        (EXECUTION, {"tile": "64x64"}, "tile is '64x64'; it must be three sizes"),
        (EXECUTION, {"device": "t4", "tile": "128x256x64"}, "no SM of NVIDIA T4 can run"),
        (EXECUTION, {"stride": 4}, "stride"),
    ],
)
def test_what_makes_none_is_refused_in_a_sentence(film, asked, says):
    with pytest.raises(TilesimError) as refused:
        film.checked(asked)
    assert says in str(refused.value) and "\n" not in str(refused.value)
