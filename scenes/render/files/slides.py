"""Slides: a film cut where a talk stops. Each slide is a film of its own, with what is said at its end."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import av
from av.video.frame import PictureType

from tilesim_scenes.render.files.coding import CODECS, SegmentEncoder
from tilesim_scenes.render.files.joining import Extras


class Slide(NamedTuple):
    """The frames of a film from `first` on and before `end`, and the speaker's note to them."""

    first: int
    end: int
    note: str


def slides(extras: Extras, frames: int, fps: int, finding: Sequence[str] = ()) -> list[Slide]:
    """The slides of a film of so many frames, from one pause to the next; the last one's note is the finding.

    >>> from tilesim_scenes.render.files.joining import Chapter, Cue
    >>> said = Extras([Cue(1.2, 2.0, "Once")], [Chapter(0.0, "Title")], pauses=[1.0])
    >>> slides(said, 20, 10, ["It moved"])
    [Slide(first=0, end=10, note='Title'), Slide(first=10, end=20, note='Once\\nIt moved')]
    """
    inside = {round(pause * fps) for pause in extras.pauses} - {0, frames}
    edges = [0, *sorted(edge for edge in inside if edge < frames), frames]
    notes = [_said(extras, (end - 0.5) / fps) for end in edges[1:]]
    # A finding's chapter is called by its sentence.
    notes[-1] = "\n".join(dict.fromkeys(filter(None, (notes[-1], *finding))))
    return [Slide(*ends, note) for ends, note in zip(pairwise(edges), notes, strict=True)]


def cut(film: Path, slides: Sequence[Slide], fps: Fraction, folder: Path) -> list[Path]:
    """Write each slide of a film without losses as an MP4, encoded once, into `folder`."""
    made = [folder / f"slide-{number:03}.mp4" for number in range(1, len(slides) + 1)]
    with av.open(film) as source:
        video = source.streams.video[0]
        video.thread_type = "AUTO"
        shown = source.decode(video)
        for path, slide in zip(made, slides, strict=True):
            encoder = SegmentEncoder(path, CODECS["h264"], video.width, video.height, fps)
            try:
                for _, frame in zip(range(slide.first, slide.end), shown, strict=False):
                    # The encoder chooses anew which frames are whole.
                    frame.pict_type = PictureType.NONE
                    encoder.write(frame)
            finally:
                encoder.close()
    return made


def _said(extras: Extras, second: float) -> str:
    """The caption that stands at a second, or the name of the chapter there."""
    standing = [cue.text for cue in extras.cues if cue.start <= second < cue.end]
    begun = [chapter.title for chapter in extras.chapters if chapter.start <= second]
    return (standing or begun or [""])[-1]
