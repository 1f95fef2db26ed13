"""Inline films: a poster that links to its film, `[![title](x.png)](x.mp4)`, is the film itself in a browser.

It plays without sound while it is in view, and is not loaded before. In print, and without JavaScript, the
poster stands in its place.
"""

import re
from html import escape

FILM = re.compile(
    r"^\[!\[([^\]]*)\]\((?:\.\./)+media/([\w.-]+)\)\]\((?:\.\./)+media/([\w.-]+\.mp4)\)$", re.MULTILINE
)


def inlined(text: str, up: str) -> str:
    """A page's Markdown with its films in place of their posters; `up` leads from the page to the root.

    >>> "<video" in inlined("[![Race](../media/race.png)](../media/race.mp4)", "")
    True
    """

    def film(found: re.Match[str]) -> str:
        title, poster, video = (escape(part) for part in found.groups())
        return (
            f'```{{raw}} html\n<p class="film"><video muted loop playsinline controls preload="none"'
            f' aria-label="{title}" poster="{up}_static/{poster}" data-src="{up}_static/{video}"></video>'
            f'<img src="{up}_static/{poster}" alt="{title}" loading="lazy"></p>\n```'
        )

    return FILM.sub(film, text)
