"""The diagram of the packages on the design page matches the code and the import rules."""

from figures import packages
from test_direction_rules import CORE_MODULES

FLOOR = {package: at for at, floor in enumerate(packages.FLOORS) for package in floor}


def test_every_arrow_goes_down() -> None:
    assert not sorted((a, b) for a, b in packages.arrows() if FLOOR[a] >= FLOOR[b])


def test_every_package_is_drawn_and_every_module_is_in_a_package() -> None:
    packages_of_code = {end for arrow in packages.arrows() for end in arrow}
    assert packages_of_code == set(FLOOR)
    modules = {path.stem for path in (packages.ROOT / "tilesim").glob("[!_]*.py")}
    assert modules <= {module for found in packages.FOUND_IN.values() for module in found}


def test_the_core_of_the_direction_rules_is_the_core() -> None:
    assert not {module for module in CORE_MODULES if packages.package_of(module) != "core"}


def test_the_picture_shows_the_same_as_all_arrows() -> None:
    """Following the arrows that are drawn reaches what a package imports, and nothing else."""

    for package in FLOOR:
        assert packages.reached(package, packages.drawn()) == packages.reached(package, packages.arrows())


def test_scenes_and_kernels_do_not_meet_and_only_the_command_line_knows_the_command_line() -> None:
    arrows = packages.arrows()
    assert not {("scenes", "kernels"), ("kernels", "scenes")} & arrows
    assert not [arrow for arrow in arrows if arrow[1] in ("cli", "scenes", "kernels")]
    assert ("schedules", "engine") not in arrows
    assert ("engine", "model") in arrows
