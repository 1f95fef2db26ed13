"""Deck: the slides of a talk as one HTML page with reveal.js, which needs no network."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from string import Template

from tilesim.player import hashed, part, policy
from tilesim.player.data import as_text

SPEAKERS_VIEW = "sha256-GzCveToXhSIzS3M5eQeRm3McVRB7cYneYKwTkzA3wDk="
"""Hash of the script that reveal.js writes into the notes window."""
POLICY = {"style-src": "'unsafe-inline'", "img-src": "data:", "media-src": "blob:", "frame-src": "'self'"}
"""Without network. reveal.js sets styles, and shows the page itself in the speaker view."""


@dataclass(frozen=True, slots=True)
class Slide:
    """An H.264 MP4 clip, its note in plain text, and whether it plays until the speaker moves on."""

    film: bytes
    note: str
    loops: bool = False


def deck(slides: Sequence[Slide], size: tuple[int, int], title: str, theme: str, lang: str) -> str:
    """HTML of a talk with slides of `size` pixels; notes and title are escaped."""
    program, style = part("deck.js"), part("deck.css")
    return Template(part("deck.html")).substitute(
        policy=escape(policy({"script-src": f"{hashed(program)} '{SPEAKERS_VIEW}'"} | POLICY)),
        lang=escape(lang),
        theme=escape(theme),
        title=escape(title),
        style=style,
        slides="\n".join(_section(slide) for slide in slides),
        data=as_text({"size": size, "films": [b64encode(slide.film).decode() for slide in slides]}),
        program=program,
    )


def _section(slide: Slide) -> str:
    lines = "<br>".join(map(escape, slide.note.splitlines()))
    label = escape(" ".join(slide.note.split()))
    loop = " loop" if slide.loops else ""
    film = f'<video data-autoplay muted playsinline{loop} preload="auto" aria-label="{label}"></video>'
    return f'<section>{film}<aside class="notes">{lines}</aside></section>'
