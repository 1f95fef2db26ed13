"""The player: a single HTML page that plays runs of one product, with scrubbing and pinning."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from tilesim.errors import TilesimError
from tilesim.player import figures
from tilesim.player.data import as_text, of_runs
from tilesim.traces import Trace

MOST_TRACES = 4
FRAME = 560
"""Maximum height of a page in a frame, in CSS pixels, as `source/room.ts` has it."""


@dataclass(frozen=True, slots=True)
class Story:
    """What a film says about the runs: its question, finding, number and an aside."""

    title: str = ""
    finding: str = ""
    number: str = ""
    aside: str = ""


def page(
    traces: Sequence[Trace],
    names: Sequence[str] | None = None,
    story: Story = Story(),
    theme: str = "",
    lang: str = "en",
    at: float | None = None,
    version: str = "",
    words: Mapping[str, str] = MappingProxyType({}),
    report: str = "",
) -> str:
    """HTML that plays 1 to 4 runs of one product on a common clock, without other files or network.

    `names` default to the schedules. Without a story, the page says how long the runs take. `theme`: "dark",
    "light", or "" for the reader's own. `at`: the time to open at, in ns, by default the end. `lang`: of the
    story and of `words`, translations by their English. With a `version`, the page asks its server whether
    that is current, and reloads if not. `report`: lines of text below the player, in equal widths.

    Raises TilesimError for no or more than 4 traces, different products, or a time outside the runs.
    """
    _check(traces, at)
    called = list(names or figures.names(traces))
    program = part("player.js")
    needed = {english: word for english, word in words.items() if f'"{english}"' in program}

    def said(sentence: str, **fields: str) -> str:
        return words.get(sentence, sentence).format(**fields)

    return _filled(
        "page.html",
        of_runs(traces, called, at, version) | {"words": needed},
        reload=bool(version),
        lang=escape(lang),
        theme=f' data-theme="{escape(theme)}"' if theme else "",
        title=escape(figures.short(story.title or " or ".join(dict.fromkeys(called)))),
        product=escape("; ".join(dict.fromkeys([figures.product(traces[0]), *map(figures.details, traces)]))),
        badges="".join(
            f'<span class="badge {kind}">{escape(origin)}</span>'
            for origin, kind in dict.fromkeys((figures.origin(trace, said), trace.origin) for trace in traces)
        ),
        number=f'<p class="number">{escape(story.number)}</p>' if story.number else "",
        finding=escape(story.finding or figures.headline(traces, called, said)),
        aside=f'<p class="aside">{escape(story.aside)}</p>' if story.aside else "",
        finding_label=escape(said("Finding")),
        no_script=escape(said("To play the runs, this page needs JavaScript; their figures stand below.")),
        figures_label=escape(said("Figures")),
        caption=escape(said("Figures of each run")),
        figures=_table(traces, called, said),
        report=f'<pre class="report">{escape(report)}</pre>' if report else "",
    )


def framed(trace: Trace) -> str:
    """HTML of an iframe with the page of a run, for notebooks."""
    title, source = escape(figures.short(trace)), escape(page([trace]))
    style = f"width:100%;height:{FRAME}px;border:0"
    return f'<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{source}"></iframe>'


def error_page(error: str, version: str) -> str:
    """HTML that shows an error until its server has another page."""
    return _filled("error_page.html", {"runs": [], "version": version}, reload=True, error=escape(error))


def _filled(template: str, data: Mapping[str, Any], reload: bool, **words: str) -> str:
    """A template with its data and the program, which may do nothing else; with `reload`, ask its server."""
    program, style = part("player.js"), part("player.css")
    allowed = {"script-src": hashed(program), "style-src": hashed(style), "img-src": "data:"}
    allowed |= {"connect-src": "'self'"} if reload else {}
    return Template(part(template)).substitute(
        policy=escape(policy(allowed)), style=style, data=as_text(data), program=program, **words
    )


def fragment(address: str, title: str) -> str:
    """Three lines of HTML that embed a page, as a web component that takes its height and gives it a theme.

    Where scripts do not run, such as in a feed, they are a link.

    >>> print("\\n".join(fragment("a race.html", "A < B").splitlines()[1:]))
    <tilesim-player src="a%20race.html" title="A &lt; B">
    <a href="a%20race.html">A &lt; B</a></tilesim-player>
    """
    source, words, component = escape(quote(address)), escape(title), part("component.js").strip()
    text = Template(part("fragment.html")).substitute(source=source, title=words, component=component)
    return text.rstrip()


def _check(traces: Sequence[Trace], at: float | None) -> None:
    if not 1 <= len(traces) <= MOST_TRACES:
        raise TilesimError(f"the player shows 1 to {MOST_TRACES} traces; {len(traces)} were given")
    products = list(dict.fromkeys(map(figures.product, traces)))
    if len(products) > 1:
        raise TilesimError(f"the player shows runs of one product; these are of {' and of '.join(products)}")
    longest = max(trace.makespan for trace in traces)
    if at is not None and not 0 <= at <= longest:
        raise TilesimError(f"the time {at / 1000:g} µs is outside the runs, which last {longest / 1000:g} µs")


def _table(traces: Sequence[Trace], names: Sequence[str], said: figures.Said) -> str:
    tables = [figures.table(trace, said) for trace in traces]
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    lines = [f"<thead><tr><td></td>{heads}</tr></thead>"]
    for name in dict.fromkeys(name for rows in tables for name in rows):
        cells = "".join(f"<td>{escape(figures.get(name, ''))}</td>" for figures in tables)
        lines.append(f'<tr><th scope="row">{escape(said(name))}</th>{cells}</tr>')
    return "\n".join(lines)


def policy(directives: Mapping[str, str]) -> str:
    """A content security policy of these directives, which allows nothing else, and no network."""
    every = {"default-src": "'none'", **directives, "base-uri": "'none'", "form-action": "'none'"}
    return "; ".join(f"{name} {allowed}" for name, allowed in every.items())


def hashed(text: str) -> str:
    """How a policy names a script or style that is part of the page."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def part(name: str) -> str:
    """The text of a file in this folder."""
    return files(__name__).joinpath(name).read_text("utf-8")
