"""The page in a real browser: clicks, scrubbing, keys, a narrow screen, paper, and nothing that leaves it."""

import re

import numpy as np
import pytest
from programs import NARROW, WIDE, data_in, measured, opening, race, split

from tilesim import Device, Problem, Trace, player, simulate, view
from tilesim.analysis.divergence import since_first_multiply


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page's text, which asks for nothing but itself."""
    file = tmp_path / "page.html"
    with opening(browser, file.as_uri()) as visit:

        def opened(text, viewport=WIDE, **options):
            file.write_text(text, "utf-8")
            page = visit(file.as_uri(), viewport, **options)
            page.wait_for_function("() => tilesim.player.frames.length > 0")
            return page

        opened.faults = visit.faults
        yield opened


def shown(page):
    return page.evaluate("JSON.parse(JSON.stringify(tilesim.player.shown))")


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def lanes(page, number=0):
    return page.locator(".panel").nth(number).locator(".lanes canvas").first


def live(page, number=0):
    return page.locator(".panel").nth(number).locator(".live dd").all_inner_texts()


def test_it_opens_at_the_end_and_scrubbing_shows_the_figures_of_view(opened):
    traces = race()
    page, whole = opened(player.page(traces)), max(trace.makespan for trace in traces)
    assert live(page)[0] == "18/18"
    assert shown(page)["t"] == whole
    for share in (0.0, 0.31, 0.77, 1.0):
        page.locator(".scrub").fill(str(share * whole))
        settle(page)
        at = shown(page)["t"]
        assert at == pytest.approx(share * whole, abs=1)
        for number, trace in enumerate(traces):
            blocks = len(np.unique(trace.spans["cta"]))
            assert live(page, number) == [
                f"{view.tiles_done(trace, at)}/18", f"{view.blocks_launched(trace, at)}/{blocks}",
                f"{view.busy_sms(trace, at)}/4",
            ]  # fmt: skip
    page.get_by_label("Speed").select_option(label="×0.1")
    settle(page)
    said = float(page.locator(".pace").inner_text().split()[0])
    assert said == pytest.approx(whole / 10 * 0.1 / 1000, rel=0.05)


def test_keys_step_by_events_play_pin_and_light_up(opened):
    traces = race()
    page = opened(player.page(traces))
    names = ("issue", "start", "drain", "ready", "fixup", "done")
    events = np.unique(np.concatenate([trace.spans[name] for trace in traces for name in names]))
    page.keyboard.press("Home")
    for expected in events[1:4]:
        page.keyboard.press("ArrowRight")
        assert shown(page)["t"] == expected
    page.keyboard.press("ArrowLeft")
    assert shown(page)["t"] == events[2]
    page.keyboard.press("Shift+ArrowRight")
    assert shown(page)["t"] == events[12]
    page.keyboard.press("End")
    assert shown(page)["t"] == max(trace.makespan for trace in traces)
    page.keyboard.press("Space")
    assert shown(page)["playing"]
    page.keyboard.press("Space")
    assert not shown(page)["playing"]
    lanes(page).focus()
    page.keyboard.press("ArrowDown")
    assert shown(page)["pinned"]
    page.keyboard.press("l")
    assert shown(page)["lit"]["kind"] == "sm"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert shown(page)["pinned"] is None
    assert shown(page)["lit"] is None


def middle_of(page, row, number=0):
    """Where on the lanes of a run the middle of a main loop is."""
    return page.evaluate(
        """([row, number]) => {
            const { runs, whole } = tilesim.player, run = runs[number];
            const canvas = document.querySelectorAll('.panel')[number].querySelector('.lanes canvas');
            const gutter = 56, width = canvas.clientWidth - gutter;
            const high = (canvas.clientHeight - 22) / run.lanes.length;
            const lane = run.lanes.indexOf(run.sm[row] * run.slotsPerSm + run.slot[row]);
            const t = (run.start[row] + run.drain[row]) / 2;
            return { x: gutter + (t / whole.to) * width, y: (lane + 0.4) * high };
        }""",
        [row, number],
    )


def test_hover_says_all_of_a_segment_and_how_long_it_is_beside_the_median(opened):
    trace = race()[1]
    page = opened(player.page(race()))
    card, lengths = page.locator(".card"), trace.spans["done"] - trace.spans["issue"]
    for row in (0, 7, 17):
        lanes(page, 1).hover(position=middle_of(page, row, 1))
        card.get_by_text(f"{row + 1} of 18").wait_for()
        names, values = card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts()
        said, span = dict(zip(names, values, strict=True)), trace.spans[row]
        assert said["Tile"] == f"{span['tile']} (row {span['tile'] // 6}, column {span['tile'] % 6})"
        assert said["SM"] == str(span["sm"])
        assert said["Thread block"] == str(span["cta"])
        assert said["Wave"] == str(row // 4 + 1)
        assert said["Multiply"] == f"{span['drain'] - span['start']:,} ns"
        assert said["Write"] == f"{span['done'] - span['fixup']:,} ns"
        assert said["From, to"] == f"{span['issue']:,} ns, {span['done']:,} ns"
        more = 100 * (lengths[row] / np.median(lengths) - 1)
        assert values[-1] == f"{lengths[row]:,} ns, median {'−' if more < 0 else '+'}{abs(more):.1f} %"


def test_a_click_pins_and_lights_up_in_every_panel(opened):
    page = opened(player.page(race()))
    grid = page.locator(".panel").first.locator(".pictures > canvas")
    box = grid.bounding_box()
    grid.click(position={"x": box["width"] * 2.5 / 6, "y": box["height"] * 1.5 / 3})
    pinned = shown(page)["pinned"]
    assert race()[pinned["run"]].spans["tile"][pinned["row"]] == 8
    lanes(page).click(position=middle_of(page, 5))
    page.mouse.move(2, 2)
    assert shown(page)["pinned"] == {"run": 0, "row": 5}
    sm = race()[0].spans["sm"][5]
    before = [colourful(page, number) for number in (0, 1)]
    page.get_by_role("button", name=f"Light up SM {sm} in all panels").click()
    settle(page)
    assert shown(page)["lit"] == {"kind": "sm", "id": sm}
    assert all(colourful(page, number) < was for number, was in enumerate(before))
    page.get_by_role("searchbox").fill("")
    settle(page)
    assert [colourful(page, number) for number in (0, 1)] == before


def colourful(page, number):
    """How many pixels of a run's lanes have a strong colour."""
    return lanes(page, number).evaluate(
        """(canvas) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let n = 0; n < data.length; n += 4) {
                const rgb = [data[n], data[n + 1], data[n + 2]];
                found += Math.max(...rgb) - Math.min(...rgb) > 90;
            }
            return found;
        }"""
    )


def test_the_wheel_zooms_around_the_pointer_a_drag_moves_and_the_axis_scrubs(opened):
    page = opened(player.page(race()))
    place = middle_of(page, 7)
    lanes(page).hover(position=place)
    page.mouse.wheel(0, -600)
    assert shown(page)["view"]["from"] == 0, "a plain wheel scrolls the page"
    lanes(page).focus()
    t = race()[0].spans[7]
    middle = (t["start"] + t["drain"]) / 2
    page.mouse.wheel(0, -600)
    settle(page)
    zoomed, whole = shown(page)["view"], page.evaluate("tilesim.player.whole")
    assert zoomed["to"] - zoomed["from"] < 0.5 * (whole["to"] - whole["from"])
    shares = [(middle - v["from"]) / (v["to"] - v["from"]) for v in (zoomed, whole)]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)
    page.keyboard.press("0")
    assert shown(page)["view"] == whole
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    before = shown(page)["view"]
    box = lanes(page).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 20
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 200, y, steps=4)
    page.mouse.up()
    assert shown(page)["view"]["from"] < before["from"]
    page.mouse.move(x, box["y"] + box["height"] - 6)
    page.mouse.down()
    page.mouse.up()
    seen = shown(page)
    assert seen["view"]["from"] < seen["t"] < seen["view"]["to"]
    assert seen["pinned"] is None


def test_two_fingers_zoom_and_a_tap_pins(opened):
    page = opened(player.page(race()), viewport=NARROW, has_touch=True)
    box = lanes(page).bounding_box()
    lanes(page).evaluate("(canvas) => canvas.setPointerCapture = () => {}")
    for kind, id, share in (
        ("down", 1, 0.45), ("down", 2, 0.55),
        ("move", 2, 0.75), ("move", 1, 0.3),
        ("up", 1, 0.3), ("up", 2, 0.75),
    ):  # fmt: skip
        at = {"clientX": box["x"] + share * box["width"], "clientY": box["y"] + 20}
        lanes(page).dispatch_event(
            f"pointer{kind}", {"pointerId": id, "pointerType": "touch", "button": 0} | at
        )
    seen, whole = shown(page)["view"], page.evaluate("tilesim.player.whole")
    assert seen["to"] - seen["from"] < 0.5 * (whole["to"] - whole["from"])
    assert shown(page)["pinned"] is None
    page.keyboard.press("0")
    lanes(page).tap(position=middle_of(page, 5))
    assert shown(page)["pinned"] == {"run": 0, "row": 5}
    page.locator(".card").wait_for()


@pytest.mark.parametrize("sms", [4, 132])
def test_a_narrow_screen_holds_all_of_it(opened, sms):
    traces = [
        simulate(name, Problem(4096, 4096, 512), Device.named("h200", sms))
        for name in ("naive", "persistent")
    ]
    page = opened(player.page(traces, story=player.Story("A title " * 8, "A finding " * 8)), viewport=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for control in page.locator(".controls :is(button, select, input[type=search], a):visible").all():
        box = control.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["height"] >= 36


def test_simulated_beside_measured_says_the_error_live(opened):
    simulated = race()[1]
    pair = [since_first_multiply(trace) for trace in (simulated, measured(simulated))]
    page = opened(player.page(pair))
    whole = page.locator(".error").inner_text()
    assert whole.startswith("Error now −9.1 %: the silicon is")
    page.locator(".scrub").fill(str(pair[0].makespan / 3))
    settle(page)
    assert page.locator(".error").inner_text() != whole


@pytest.mark.parametrize("width", [320, 480, 720, 768, 1440])
def test_the_controls_leave_the_axis_in_sight(opened, width):
    page = opened(player.page(race(132)), viewport={"width": width, "height": 800})
    lanes(page).evaluate("(canvas) => canvas.scrollIntoView({ block: 'center' })")
    seen = lanes(page).bounding_box()
    assert seen["y"] >= 0
    assert seen["y"] + seen["height"] <= page.locator(".controls").bounding_box()["y"]
    assert width < 720 or page.locator(".controls").bounding_box()["height"] < 110
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_speaks_the_language_of_its_words(opened):
    words = {
        "Play": "播放",
        "SMs busy": "忙碌的 SM",
        "Figures": "数据",
        "{rate} µs a second": "每秒 {rate} µs",
    }
    page = opened(player.page(race(), words=words | {"no sentence of it": "x"}, lang="zh"))
    assert page.get_by_role("button", name="播放").is_visible()
    assert "忙碌的 SM" in page.locator(".live dt").all_inner_texts()
    assert page.locator(".pace").inner_text().startswith("每秒 ")
    assert page.get_by_text("数据", exact=True).is_visible()
    assert page.get_by_role("button", name="Zoom in").is_visible()


def test_hostile_text_stays_text_and_the_policy_stops_what_should_get_in(opened):
    hostile = "</script><script>console.log('in')</script><img src=x onerror=alert(1)>"
    trace = measured(race()[0], {"gpu": hostile, "kernel": hostile})
    trace = Trace(trace.problem, trace.device, hostile, trace.spans, "measured", 1, trace.meta)
    page = opened(player.page([trace], [hostile], player.Story(hostile, hostile, hostile, hostile)))
    lanes(page).click(position=middle_of(page, 5))
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    assert page.locator("h2").inner_text() == hostile
    assert page.locator(".card h3").inner_text() == hostile
    assert page.title() == hostile
    blocked = page.evaluate(
        """async () => {
            const script = document.createElement('script');
            script.textContent = 'window.in = true';
            let seen = 0;
            addEventListener('securitypolicyviolation', () => seen++);
            document.body.append(script);
            await new Promise((done) => setTimeout(done, 50));
            return [window.in === undefined, seen];
        }"""
    )
    assert blocked == [True, 1]
    assert "Content Security Policy" in opened.faults.pop()


def test_colours_follow_the_reader(opened):
    page = opened(player.page(race()), color_scheme="light")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    idle = "document.querySelector('.lanes canvas').getContext('2d').getImageData(60, 2, 1, 1).data[0]"
    page.keyboard.press("Home")
    settle(page)
    light = page.evaluate(idle)
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert page.evaluate(ground) == "rgb(13, 17, 23)"
    assert page.evaluate(idle) < light
    light_in_dark = opened(player.page(race(), theme="light"), color_scheme="dark")
    assert light_in_dark.evaluate(ground) == "rgb(255, 255, 255)"


def test_paper_shows_the_end_and_a_screen_reader_hears_the_instant_and_finds_the_figures(opened):
    page = opened(player.page(race(), story=player.Story("Question?", "The finding")), color_scheme="dark")
    page.keyboard.press("Home")
    page.emulate_media(media="print")
    settle(page)
    assert live(page)[0] == "18/18"
    assert not page.locator(".controls").is_visible()
    assert page.locator(".sentence").inner_text() == "The finding"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(20, 24, 30)"
    page.emulate_media(media="screen")
    settle(page)
    assert live(page)[0] == "0/18"
    heard = page.get_by_role("status").inner_text()
    assert re.match(r"0\.00\d* microseconds\. naive: 0 of 18 tiles done", heard)
    page.get_by_text("Figures", exact=True).click()
    assert page.get_by_role("row").count() > 8
    assert page.get_by_role("columnheader", name="persistent").count() == 1
    for canvas in page.locator("canvas").all():
        assert canvas.get_attribute("aria-label")


def test_four_runs_with_tiles_in_several_segments_are_drawn_and_a_legend_names_their_phases(opened):
    page = opened(player.page([split()] * 4))
    assert {"Fix up", "Hand over"} <= set(page.locator(".legend li").all_inner_texts())
    page.locator(".scrub").fill(str(split().makespan / 2))
    settle(page)
    assert page.locator(".panel").count() == 4
    for number in range(4):
        assert colourful(page, number) > 1000
    phases = opened(player.page([race()[0]])).locator(".legend li").all_inner_texts()
    assert phases == ["Launch", "First load", "Multiply, a colour an SM", "Write", "Idle"]


def test_a_window_says_what_it_is_of(opened, monkeypatch):
    monkeypatch.setattr("tilesim.player.data.MOST", 64)
    trace = simulate("naive", Problem(2048, 2048, 512), Device.named("h200", 4))
    page = opened(player.page([trace], at=trace.makespan / 2))
    note = page.locator(".note").inner_text()
    assert f"64 of {trace.problem.tiles} segments" in note
    assert "tilesim view shows them all" in note
    assert page.get_by_role("button", name="The window after").count() == 0
    window = data_in(player.page([trace], at=trace.makespan / 2))["runs"][0]["window"]
    page.keyboard.press("End")
    assert shown(page)["t"] == window["until"]


def test_more_slots_than_pixels_are_a_choice_of_them(opened):
    page = opened(player.page([simulate("naive", Problem(8192, 25600, 64), Device(2100))]))
    assert page.locator(".note").inner_text() == "One of 3 slots has a lane; there are 2,100."
    assert lanes(page).bounding_box()["height"] < 800


def test_a_notebook_shows_a_trace_in_the_player(browser, tmp_path):
    (tmp_path / "cell.html").write_text(f"<!doctype html>{race()[0]._repr_html_()}", "utf-8")
    with opening(browser, "file:", "about:") as visit:
        inside = visit((tmp_path / "cell.html").as_uri()).frame_locator("iframe")
        inside.get_by_role("button", name="To the beginning").click()
        inside.get_by_text("0/18").first.wait_for()


def test_a_search_lights_and_pins_and_a_drag_with_shift_selects_a_range(opened):
    page = opened(player.page(race()))
    field = page.get_by_role("searchbox")
    field.fill("tile 7")
    settle(page)
    pinned = shown(page)["pinned"]
    assert race()[pinned["run"]].spans["tile"][pinned["row"]] == 7
    field.fill("SM 99")
    assert page.get_by_text("not found").is_visible()
    assert shown(page)["lit"] is None
    field.fill("SM 2")
    assert shown(page)["lit"] == {"kind": "sm", "id": 2}
    assert not page.get_by_text("not found").is_visible()
    box = lanes(page).bounding_box()
    width = box["width"] - 56
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 56 + 0.75 * width, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 56 + 0.25 * width, box["y"] + 20, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    settle(page)
    whole, found = page.evaluate("tilesim.player.whole")["to"], shown(page)["range"]
    assert [found["from"] / whole, found["to"] / whole] == pytest.approx([0.25, 0.75], abs=0.01)
    box = page.locator(".range").bounding_box()
    assert box["y"] + box["height"] <= WIDE["height"], "it is seen without scrolling"
    said = page.locator(".range").inner_text()
    for trace in race():
        done = sum(found["from"] < end <= found["to"] for end in trace.spans["done"])
        assert f"{trace.schedule}: busy" in said
        assert f"{done} tiles done" in said
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function("(from) => tilesim.player.shown.t > from", arg=found["from"])
    assert shown(page)["t"] <= found["to"]
    page.get_by_role("button", name="Select nothing").click()
    settle(page)
    assert not page.locator(".range").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_a_contrast_of_4_5_to_1(opened, scheme):
    contrast = pytest.importorskip("tilesim_scenes.look.theme").contrast
    simulated = race()[1]
    pair = [since_first_multiply(trace) for trace in (simulated, measured(simulated))]
    page = opened(player.page(pair, story=player.Story("Q", "F", "1 %", "aside")), color_scheme=scheme)
    lanes(page).click(position=middle_of(page, 5))
    page.keyboard.press("l")
    page.get_by_text("Keys and gestures").click()
    page.get_by_text("Figures", exact=True).click()
    settle(page)
    texts = page.evaluate(
        """() => {
            const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
            const rgb = (element, ...properties) => {
                context.clearRect(0, 0, 1, 1);
                const above = [];
                for (let at = element; at; at = at.parentElement) above.unshift(at);
                for (const at of above) paint(getComputedStyle(at).backgroundColor);
                for (const property of properties) paint(getComputedStyle(element)[property]);
                return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
            };
            const paint = (colour) => {
                context.fillStyle = colour;
                context.fillRect(0, 0, 1, 1);
            };
            return [...document.querySelectorAll('body *')]
                .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
                .filter((e) => e.checkVisibility() && !['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName))
                .map((e) => [e.textContent, rgb(e, 'color'), rgb(e)]);
        }"""
    )
    assert len(texts) > 60
    assert [(text, ratio) for text, *both in texts if (ratio := contrast(*both)) < 4.5] == []
