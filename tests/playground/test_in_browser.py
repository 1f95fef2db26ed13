"""The playground in a real browser; where `make playground` has not brought Pyodide, what it says then."""

import re

import playground
import pytest
from programs import NARROW, WIDE, opening, served

from tilesim.player.playground import DEFAULT, answer

needs_pyodide = pytest.mark.skipif(
    not (playground.PYODIDE / "pyodide.mjs").is_file(), reason="needs `make playground`"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a folder with a playground that runs, `full`, and one without Python, `bare`."""
    folder = tmp_path_factory.mktemp("site")
    playground.build(folder / "full")
    playground.build(folder / "bare", pyodide=folder / "nothing")
    with served(folder) as address:
        yield address


@pytest.fixture
def opened(browser, site):
    """Opens the playground, which asks nobody else for anything, and waits for its first answer."""

    def opened(hash="", viewport=WIDE):
        page = visit(f"{site}/full/index.html#{hash}", viewport)
        wait(page, 1, 60_000)
        return page

    with opening(browser, site, "about:", "data:", "blob:") as visit:
        yield opened


def wait(page, number, timeout=20_000):
    """Until the page has that many answers."""
    page.wait_for_function("(n) => Number(document.body.dataset.answered) >= n", arg=number, timeout=timeout)


def runs(page):
    """The panels of the player in the frame."""
    frame = page.frame_locator("#player")
    frame.locator(".panel").first.wait_for()
    return frame.locator(".panel h2").all_inner_texts()


def shown(page):
    return page.evaluate("() => document.getElementById('player').srcdoc")


@needs_pyodide
def test_it_shows_what_python_computes_elsewhere(opened):
    page = opened("m=1024&n=1024&k=2048&schedules=naive+stream-k")
    fields = {"m": "1024", "n": "1024", "k": "2048", "schedules": "naive stream-k"}
    assert shown(page) == answer(fields)["page"]
    assert runs(page) == ["naive", "stream-k"]
    assert page.locator("#figures tbody tr").count() == len(answer(fields)["figures"])
    assert page.locator("#command").inner_text() == answer(fields)["command"]


@needs_pyodide
def test_a_field_is_answered_and_stands_in_the_address(opened):
    page = opened()
    page.get_by_label("M", exact=True).fill("8192")
    wait(page, 2)
    assert page.evaluate("() => location.hash") == "#m=8192"
    assert shown(page) == answer({"m": "8192"})["page"]
    page.get_by_role("button", name="stream-k", exact=True).click()
    wait(page, 3)
    assert runs(page) == ["naive", "persistent", "stream-k"]
    page.get_by_role("link", name="four SMs").click()
    wait(page, 4)
    assert page.get_by_label("SMs").input_value() == "4"
    assert page.get_by_label("Schedules, up to four").input_value() == "naive persistent"
    page.evaluate("() => history.back()")
    wait(page, 5)
    assert page.get_by_label("M", exact=True).input_value() == "8192"


@needs_pyodide
def test_what_is_wrong_is_said_beside_the_field_and_the_picture_stays(opened):
    page = opened()
    before = shown(page)
    page.get_by_label("Tile, M×N×K").fill("nope")
    wait(page, 2)
    assert page.locator("#tile-error").inner_text() == answer({"tile": "nope"})["errors"]["tile"]
    assert page.get_by_label("Tile, M×N×K").get_attribute("aria-invalid") == "true"
    assert shown(page) == before
    page.get_by_label("Tile, M×N×K").fill("64x64x64")
    wait(page, 3)
    assert page.locator("#tile-error").inner_text() == ""
    assert shown(page) != before


@needs_pyodide
def test_a_hostile_address_stays_text(opened):
    hostile = "%3Cimg%20src=x%20onerror=alert(1)%3E"
    page = opened(f"order={hostile}&m={hostile}&constructor={hostile}")
    assert page.locator("#status").inner_text().startswith("A field is not right")
    assert "<img" in page.locator("#m-error, #order-error").all_inner_texts()[0]
    assert page.locator("img").count() == 0


@needs_pyodide
def test_a_narrow_screen_holds_all_of_it_and_the_keyboard_reaches_it(opened):
    page = opened(viewport=NARROW)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    reached = []
    while not reached or reached[-1] != "player":
        assert len(reached) < 40
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.id"))
    fields = [name for name in reached if name in DEFAULT]
    assert fields == ["m", "n", "k", "tile", "dtype", "order", "device", "sms", "schedules"]


@needs_pyodide
def test_the_page_that_is_saved_is_the_players(opened):
    page = opened()
    save = page.get_by_role("link", name="Save this page")
    save.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # a click in the same moment still falls onto the frame that was there
    with page.expect_download() as saved:
        save.click()
    assert saved.value.path().read_text("utf-8") == answer({})["page"]


def test_without_python_it_says_how_to_get_it(browser, site):
    page = browser.new_page()
    page.goto(f"{site}/bare/index.html")
    page.get_by_text(re.compile("make playground")).wait_for()
    assert page.get_by_label("M", exact=True).input_value() == "4096"
    page.close()
