"""A page and a deck are one file each: small, without a network, and what they are told stays text."""

import re
import subprocess
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from player_sentences import PAGE, PROGRAM, SENTENCES
from programs import PLAYER, data_in, measured, race, split

from tilesim import Costs, Device, Problem, Trace, WorkItems, player, simulate
from tilesim.errors import TilesimError
from tilesim.player import figures
from tilesim.player.deck import Slide, deck

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&quot;"


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attributes)))

    def handle_data(self, text):
        if text.strip():
            self.texts.setdefault(self.tags[-1], []).append(text)


def policy_of(elements):
    policy = next(a["content"] for _, a in elements.attributes if "http-equiv" in a)
    return dict(rule.split(" ", 1) for rule in policy.split("; "))


def test_two_runs_of_1024_tiles_on_132_sms_take_less_than_400_kb():
    problem = Problem(4096, 8192, 512, order="grouped:8")
    traces = [simulate(name, problem, Device.named("h200")) for name in ("naive", "persistent")]
    assert problem.tiles == 1024
    assert len(player.page(traces).encode()) <= 400_000


def test_a_page_asks_for_nothing_lets_only_its_own_program_in_and_holds_the_figures_of_each_run():
    traces = race()
    text = player.page(traces)
    found = Elements(text)
    addresses = [value for _, attributes in found.attributes for name, value in attributes.items()
                 if name in ("src", "href", "action", "data")]  # fmt: skip
    assert addresses == ["data:,"]
    assert not re.search(r"https?:|//cdn|@import|url\(", text)
    rules = policy_of(found)
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    for directive, tag in (("script-src", "script"), ("style-src", "style")):
        own = found.texts[tag][-1]
        assert rules[directive] == f"'sha256-{b64encode(sha256(own.encode()).digest()).decode()}'"
    for trace in traces:
        assert f"{trace.makespan / 1000:,.2f} µs" in found.texts["td"]
        assert f"{trace.utilization:.1%}" in found.texts["td"]


def test_text_of_a_trace_stays_text():
    trace = measured(race()[0], {"gpu": HOSTILE, "kernel": HOSTILE, "driver": HOSTILE})
    trace = Trace(trace.problem, trace.device, HOSTILE, trace.spans, "measured", 1, trace.meta)
    story = player.Story(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    plain, hostile = player.page([race()[0]]), player.page([trace], [HOSTILE], story)
    assert Elements(hostile).tags.count("script") == Elements(plain).tags.count("script") == 2
    assert "img" not in Elements(hostile).tags
    assert not [name for _, a in Elements(hostile).attributes for name in a if name.startswith("on")]
    assert data_in(hostile)["runs"][0]["name"] == HOSTILE


def test_runs_of_one_product_may_have_other_tiles():
    tiles = (128, 128, 64), (128, 256, 64)
    traces = [simulate("naive", Problem(512, 512, 64, tile=tile), Device(4)) for tile in tiles]
    page = player.page(traces)
    assert "512 × 512 × 64; bf16, tile 128 × 128 × 64; bf16, tile 128 × 256 × 64" in page
    assert [run["grid"] for run in data_in(page)["runs"]] == [[4, 4], [4, 2]]


def test_runs_of_one_schedule_are_told_apart_by_origin_or_else_by_number():
    naive, persistent = race()
    assert figures.names([naive, persistent]) == ["naive", "persistent"]
    assert figures.names([naive, naive]) == ["naive 1", "naive 2"]
    assert figures.names([naive, measured(naive)]) == ["naive, simulated", "naive, measured"]
    assert figures.names([naive, naive, measured(naive)])[::2] == ["naive, simulated 1", "naive, measured 3"]


@pytest.mark.parametrize(
    ("traces", "options", "words"),
    [
        (lambda: [], {}, "1 to 4 traces; 0 were given"),
        (lambda: race() * 3, {}, "1 to 4 traces; 6 were given"),
        (lambda: [race()[0], split()], {}, "runs of one product"),
        (race, {"at": 10**9}, "the time 1e\\+06 µs is outside"),
        (race, {"at": -1}, "is outside the runs"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(traces, options, words):
    with pytest.raises(TilesimError, match=words):
        player.page(traces(), **options)


def test_a_page_and_its_program_say_everything_in_another_language():
    marked = {sentence: f"<{number}> {sentence}" for number, sentence in enumerate(SENTENCES)}
    recorded = {"kernel": "k", "driver": "d", "date": "d"}
    costs = [Costs(), Costs(5), Costs(5, device="h200"), Costs(5, device="h200", scaled_to="a100")]
    product, items = Problem(256, 256, 64), WorkItems(("a", "b"))
    traces = [simulate("naive", product, Device.named("t4", 2), each) for each in costs]
    simulated = Trace(items, Device(2), "naive", traces[0].spans[:2], "simulated", 1, {"costs": "none"})
    pages = [player.page([trace], words=marked)
             for trace in [*traces, simulated, measured(split(), recorded)]]  # fmt: skip
    text = " ".join(page.partition('<script type="application/json"')[0] for page in pages)
    assert {sentence for sentence in PAGE if f"&lt;{SENTENCES.index(sentence)}&gt;" in text} == set(PAGE)
    assert data_in(pages[0])["words"] == {sentence: marked[sentence] for sentence in PROGRAM}


def test_each_slide_of_a_deck_has_its_film_and_its_note_which_stays_text():
    slides = [Slide(b"\x00one", "A note\nof lines"), Slide(b"two", HOSTILE)]
    made = deck(slides, (640, 360), HOSTILE, "light", "pt")
    elements = Elements(made)
    assert elements.tags.count("section") == elements.tags.count("video") == 2
    labels = [attributes["aria-label"] for tag, attributes in elements.attributes if tag == "video"]
    assert labels == ["A note of lines", " ".join(HOSTILE.split())]
    data = data_in(made)
    assert [b64decode(film) for film in data["films"]] == [b"\x00one", b"two"]
    assert data["size"] == [640, 360]
    plain = Elements(deck([Slide(b"", "")] * 2, (640, 360), "", "dark", "en")).tags
    assert [tag for tag in elements.tags if tag != "br"] == plain
    assert not [name for _, a in elements.attributes for name in a if name.startswith("on")]
    rules = policy_of(elements)
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert "unsafe" not in rules["script-src"]
    assert rules["media-src"] == "blob:"


ESBUILD = PLAYER / "node_modules" / ".bin" / "esbuild"


@pytest.mark.skipif(not ESBUILD.exists(), reason="needs esbuild, which `make player` installs")
@pytest.mark.parametrize("name", ["player.js", "component.js", "deck.js", "deck.css"])
def test_the_program_is_what_its_sources_build(name, tmp_path):
    """Anybody builds the same bytes from `source/`."""
    words = re.search(r'"build": "esbuild (.*?)"', (PLAYER / "package.json").read_text("utf-8"))[1].split()
    words = [f"--outdir={tmp_path}" if word.startswith("--outdir") else word for word in words]
    subprocess.run([ESBUILD, *words], cwd=PLAYER, check=True, capture_output=True)
    assert (tmp_path / name).read_bytes() == (PLAYER / name).read_bytes()
