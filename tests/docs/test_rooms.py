"""The diagram of the packages on the design page matches the code and the import rules."""

from figures import rooms
from test_direction_rules import NOUNS

FLOOR = {room: at for at, floor in enumerate(rooms.FLOORS) for room in floor}


def test_every_arrow_goes_down() -> None:
    assert not sorted((a, b) for a, b in rooms.arrows() if FLOOR[a] >= FLOOR[b])


def test_every_package_is_drawn_and_every_module_is_in_a_package() -> None:
    rooms_of_code = {end for arrow in rooms.arrows() for end in arrow}
    assert rooms_of_code == set(FLOOR)
    modules = {path.stem for path in (rooms.ROOT / "tilesim").glob("[!_]*.py")}
    assert modules <= {module for found in rooms.FOUND_IN.values() for module in found}


def test_the_core_of_the_direction_rules_is_the_core() -> None:
    assert not {noun for noun in NOUNS if rooms.room_of(noun) != "core"}


def test_the_picture_shows_the_same_as_all_arrows() -> None:
    """Following the arrows that are drawn reaches what a package imports, and nothing else."""

    for room in FLOOR:
        assert rooms.reached(room, rooms.drawn()) == rooms.reached(room, rooms.arrows())


def test_scenes_and_kernels_do_not_meet_and_only_the_command_line_knows_the_command_line() -> None:
    arrows = rooms.arrows()
    assert not {("scenes", "kernels"), ("kernels", "scenes")} & arrows
    assert not [arrow for arrow in arrows if arrow[1] in ("cli", "scenes", "kernels")]
    assert ("schedules", "engine") not in arrows
    assert ("engine", "model") in arrows
