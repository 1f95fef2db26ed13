"""Players in a page of somebody else's: two of them, at the widths of a phone, a tablet and a screen."""

from itertools import pairwise

import pytest
from programs import opening, race, served, split

from tilesim import player

HEIGHT = 900
WIDTHS = (320, 768, 1440)
FINDING = "A persistent kernel launches a block per SM and saves a tenth"
STORY = player.Story("Naive or persistent?", FINDING, "−10 %")
EACH = [f'src="{name}.html" {how}' for name in ("race", "split") for how in ("", "compact")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages that another page may embed."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "race.html").write_text(player.page(race(), story=STORY), "utf-8")
    (folder / "split.html").write_text(player.page([split()]), "utf-8")
    (folder / "dark.html").write_text(player.page([split()], theme="dark"), "utf-8")
    return folder


@pytest.fixture
def opened(browser, folder):
    """Opens a page of its own with the elements that `post` names, in which nothing fails."""

    def opened(post, width=1440, style="", **options):
        script = player.fragment("race.html", "Race").splitlines()[0]
        head = f"<meta charset=utf-8><link rel=icon href=data:,><style>{style}</style>"
        body = f"<!doctype html><html>{head}<body>{script}{post}</body></html>"
        (folder / "post.html").write_text(body, "utf-8")
        return visit(f"{address}/post.html", {"width": width, "height": HEIGHT}, **options)

    with served(folder) as address, opening(browser, address, "about:", "blob:", "data:") as visit:
        opened.faults = visit.faults
        yield opened


def elements(*attributes):
    return "<p>Words.</p>".join(f"<tilesim-player {each}></tilesim-player>" for each in attributes)


def inside(page, number=0):
    """The page in a player, once it is drawn."""
    page.locator("tilesim-player").nth(number).scroll_into_view_if_needed()
    handle = page.locator("tilesim-player iframe").nth(number).element_handle()
    frame = handle.content_frame()
    until(frame, "globalThis.tilesim?.player?.frames.length > 0")
    return frame


def until(frame, condition):
    """Wait until a condition holds. A frame out of view draws nothing, so this asks by the clock."""
    frame.wait_for_function(f"() => {condition}", polling=50)


def rest(frame):
    """Chromium ignores clicks in a frame that has moved or grown within the last half second."""
    frame.wait_for_timeout(600)


def shown(frame):
    return frame.evaluate("JSON.parse(JSON.stringify(tilesim.player.shown))")


@pytest.mark.parametrize("width", WIDTHS)
def test_play_is_seen_without_scrolling_in_560_pixels(opened, width):
    page = opened(elements(*EACH), width)
    for number in range(len(EACH)):
        frame = inside(page, number)
        needed, wide, room, foot, top = frame.evaluate(
            """[
                document.documentElement.offsetHeight, document.documentElement.scrollWidth, innerWidth,
                document.querySelector('.play').getBoundingClientRect().bottom,
                document.querySelector('.lanes canvas').getBoundingClientRect().top,
            ]"""
        )
        height = page.locator("tilesim-player iframe").nth(number).bounding_box()["height"]
        assert foot <= height == min(560, needed)
        assert top < foot - 100, "lanes are seen too"
        assert wide <= room
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_two_players_do_not_disturb_each_other(opened):
    page = opened(elements('src="race.html"', 'src="race.html"'))
    one, other = inside(page, 0), inside(page, 1)
    before = shown(other)
    inside(page, 0)
    one.get_by_role("searchbox").fill("tile 7")
    rest(one)
    one.get_by_role("button", name="Play", exact=True).click()
    until(one, "tilesim.player.shown.t < tilesim.player.whole.to")
    assert shown(one)["playing"]
    assert shown(one)["lit"] == {"kind": "tile", "id": 7}
    assert shown(other) == before
    inside(page, 1)
    other.locator(".lanes canvas").first.focus()
    page.keyboard.press("Home")
    assert shown(other)["t"] == 0
    assert shown(one)["playing"]


def test_a_player_that_goes_leaves_no_listener_behind(opened):
    page = opened(elements('src="race.html"'))
    inside(page)
    devtools = page.context.new_cdp_session(page)

    def listeners():
        found = 0
        for target in ("window", "document", "matchMedia('(prefers-color-scheme: dark)')"):
            made = devtools.send("Runtime.evaluate", {"expression": target})["result"]["objectId"]
            found += len(devtools.send("DOMDebugger.getEventListeners", {"objectId": made})["listeners"])
        return found

    before = listeners()
    page.evaluate("document.body.append(document.querySelector('tilesim-player'))")
    inside(page)
    assert listeners() == before, "moved"
    page.evaluate("document.querySelector('tilesim-player').remove()")
    assert listeners() < before
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<tilesim-player src=race.html>')")
    assert listeners() == before


def test_attributes_say_how_it_plays(opened):
    frame = inside(opened(elements('src="race.html" compact loop start="5" end="6.5" speed="4" at="6us"')))
    seen = shown(frame)
    assert seen["range"] == seen["view"] == {"from": 5000, "to": 6500}
    assert (seen["t"], seen["loop"]) == (6000, True)
    assert frame.get_by_label("Speed").locator("option:checked").inner_text() == "×4"
    assert not frame.get_by_role("searchbox").is_visible()
    rest(frame)
    frame.get_by_role("button", name="Play", exact=True).click()
    times = [shown(frame)["t"] for _ in range(40) if frame.wait_for_timeout(15) is None]
    assert all(5000 <= t <= 6500 for t in times)
    assert any(later < earlier for earlier, later in pairwise(times)), "it loops"


def test_a_page_that_is_not_there_is_said_in_a_line(opened):
    page = opened(elements('src="none.html"'))
    page.get_by_text("No player was found at none.html").wait_for()
    assert page.locator("tilesim-player").bounding_box()["height"] < 60
    assert len(opened.faults) == 1 and "404" in opened.faults.pop()


def test_its_theme_follows_the_page(opened):
    style = "body { background: white } .night body { background: rgb(20 20 30) }"
    post = elements('src="race.html"', 'src="race.html" theme="light"', 'src="dark.html"')
    page = opened(post, style=style)
    frames = [inside(page, number) for number in (0, 1, 2)]

    def grounds():
        ground = "getComputedStyle(document.documentElement).backgroundColor"
        white = [frame.evaluate(ground) == "rgb(255, 255, 255)" for frame in frames]
        return ["light" if each else "dark" for each in white]

    until(frames[0], "document.documentElement.dataset.theme === 'light'")
    assert grounds() == ["light", "light", "dark"]
    page.evaluate("document.documentElement.classList.add('night')")
    until(frames[0], "document.documentElement.dataset.theme === 'dark'")
    assert grounds() == ["dark", "light", "dark"]


def test_autoplay_plays_what_is_seen_until_its_reader_acts(opened):
    page = opened(elements('src="race.html" autoplay loop') + '<p style="height: 3000px">')
    frame = inside(page)
    until(frame, "tilesim.player.shown.playing")
    page.evaluate("scrollTo(0, 2000)")
    until(frame, "!tilesim.player.shown.playing")
    page.evaluate("scrollTo(0, 0)")
    until(frame, "tilesim.player.shown.playing")
    rest(frame)
    frame.get_by_role("button", name="Pause").click()
    page.evaluate("scrollTo(0, 2000)")
    page.wait_for_timeout(200)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(200)
    assert not shown(frame)["playing"]


def test_nothing_moves_by_itself_for_whom_that_disturbs(opened):
    frame = inside(opened(elements('src="race.html" autoplay loop'), reduced_motion="reduce"))
    rest(frame)
    assert not shown(frame)["playing"]
    assert shown(frame)["t"] == max(trace.makespan for trace in race())
    frame.get_by_role("button", name="Play", exact=True).click()
    assert shown(frame)["playing"]


def test_a_link_opens_what_the_frame_shows_on_a_page_of_its_own(opened):
    page = opened(elements('src="race.html" compact'))
    frame = inside(page)
    lanes = frame.locator(".lanes canvas").first
    lanes.focus()
    for key in ("Home", "ArrowDown", "ArrowRight", "w", "i", "l", "]"):
        page.keyboard.press(key)
    rest(frame)
    with page.context.expect_page() as found:
        frame.get_by_role("link", name="Link").click()
    full = found.value
    until(full, "globalThis.tilesim?.player.frames.length > 0")
    here, there = shown(frame), shown(full)
    for name in ("t", "range", "lit", "pinned", "speed"):
        assert there[name] == here[name], name
    assert there["view"] == pytest.approx(here["view"], abs=1)
    assert full.get_by_role("searchbox").is_visible()


def test_where_scripts_do_not_run_a_link_is_left(browser, tmp_path):
    lines = player.fragment("a race.html", "Race").splitlines()
    assert len(lines) == 3
    (tmp_path / "post.html").write_text("\n".join(lines), "utf-8")
    with opening(browser, "file:") as visit:
        page = visit((tmp_path / "post.html").as_uri(), java_script_enabled=False)
        assert "a%20race.html" in page.get_by_role("link", name="Race").get_attribute("href")
