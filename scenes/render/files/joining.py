"""Joining: segments to a film, without encoding again, with its captions, chapters and sound; and WebVTT."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import av

from tilesim.storage import files
from tilesim_scenes.render.files.formats import Format

TEXT_CODECS = {"mp4": "mov_text", "mov": "mov_text", "webm": "webvtt"}
SOUND_CODECS = {"mp4": ("aac", 44100), "mov": ("aac", 44100), "webm": ("libopus", 48000)}
"""With the rate of samples that the codec takes, Hz."""
NO_STYLES = (
    b"[Script Info]\r\nScriptType: v4.00+\r\n\r\n"
    b"[V4+ Styles]\r\nFormat: Name\r\n\r\n[Events]\r\nFormat: Text\r\n"
)
"""FFmpeg opens no encoder of subtitles without the head of a file in its own format, ASS."""
MILLISECOND = Fraction(1, 1000)


class Cue(NamedTuple):
    """A caption, from `start` to `end` in seconds of the film."""

    start: float
    end: float
    text: str


class Chapter(NamedTuple):
    """A part of the film that has a name, from `start`, in seconds, to the next one's."""

    start: float
    title: str


@dataclass(frozen=True, slots=True)
class Extras:
    """What a film has beside its pictures: captions, chapters, a file of sound, and when a talk stops."""

    cues: Sequence[Cue] = ()
    chapters: Sequence[Chapter] = ()
    sound: Path | None = None
    pauses: Sequence[float] = ()

    def cut(self, start: float, end: float) -> "Extras":
        """Those of the film from `start` to `end`, in its own seconds; the sound stays whole."""
        cues = [
            Cue(max(0.0, cue.start - start), min(cue.end, end) - start, cue.text)
            for cue in self.cues
            if cue.start < end and cue.end > start
        ]
        ends = [*(chapter.start for chapter in self.chapters[1:]), inf]
        chapters = [
            Chapter(max(0.0, chapter.start - start), chapter.title)
            for chapter, until in zip(self.chapters, ends, strict=False)
            if chapter.start < end and until > start
        ]
        pauses = [pause - start for pause in self.pauses if start < pause < end]
        return Extras(cues, chapters, self.sound, pauses)


def join(segments: Sequence[Path], form: Format, target: Path, extras: Extras, start: float = 0.0) -> None:
    """Write segments, in order, into one film.

    `start`: the second of the scene at which the film begins, so that its sound begins there as well.
    """
    container, codec, fps = form.container, form.codec, form.rate
    # Bit by bit the same each time: else a WebM is given two random numbers.
    options = {"fflags": "+bitexact"}
    if container in ("mp4", "mov"):
        # A browser starts to play before it has the whole file if the index comes first.
        options["movflags"] = "faststart"
    frames = 0
    with av.open(target, "w", format=container, options=options) as out:
        video = None
        for path in segments:
            with av.open(path) as part:
                source = part.streams.video[0]
                if video is None:
                    video = out.add_stream_from_template(source)
                    if codec.pixels.startswith("yuva"):
                        video.pix_fmt = codec.pixels
                        video.metadata["alpha_mode"] = "1"
                    captions, sound = _prepared(out, container, extras)
                frame, count = 1 / fps / source.time_base, 0
                for packet in part.demux(source):
                    if packet.dts is not None:
                        # Each caption lies beside its picture, where players of a long film look for it.
                        _mux_until(float((frames + count) / fps), captions, out)
                        # A segment of few frames says nothing of how far decoding runs ahead.
                        packet.dts = round((frames + count - codec.ahead) * frame)
                        packet.pts, packet.stream = packet.pts + round(frames * frame), video
                        out.mux(packet)
                        count += 1
                frames += count
        seconds = float(frames / fps)
        _mux_until(inf, captions, out)
        if sound is not None:
            for packet in _sound(extras.sound, sound, start, seconds):
                out.mux(packet)
        if extras.chapters:
            out.set_chapters(_chapters(extras.chapters, seconds))


def _prepared(out: Any, container: str, extras: Extras) -> tuple[deque[av.Packet], Any]:
    """Add the streams of what a film carries; its captions, and the stream of its sound."""
    captions, sound = deque(), None
    if extras.cues:
        stream = out.add_stream(TEXT_CODECS[container])
        stream.codec_context.subtitle_header = NO_STYLES
        stream.time_base = MILLISECOND
        # Those of `mov_text` begin with their length in bytes.
        counted = stream.codec_context.name == "mov_text"
        for cue in sorted(extras.cues):
            text = cue.text.encode("utf-8")
            packet = av.Packet(len(text).to_bytes(2, "big") + text if counted else text)
            packet.stream, packet.time_base = stream, MILLISECOND
            packet.pts = packet.dts = round(cue.start * 1000)
            packet.duration = round((cue.end - cue.start) * 1000)
            captions.append(packet)
    if extras.sound:
        name, rate = SOUND_CODECS[container]
        sound = out.add_stream(name, rate=rate)
        sound.layout = "stereo"
    return captions, sound


def _mux_until(second: float, captions: deque[av.Packet], out: Any) -> None:
    """Write those captions that begin until then."""
    while captions and captions[0].pts <= 1000 * second:
        out.mux(captions.popleft())


def _sound(path: Path, stream: Any, start: float, seconds: float) -> Iterator[av.Packet]:
    """The sound from `start` on, for so many seconds."""
    context = stream.codec_context
    resampler = av.AudioResampler(context.format, context.layout, context.rate, context.frame_size or 1024)
    first, last = round(start * context.rate), round((start + seconds) * context.rate)
    with av.open(path) as source:
        for decoded in source.decode(audio=0):
            for frame in resampler.resample(decoded):
                if first <= frame.pts < last:
                    frame.pts -= first
                    yield from stream.encode(frame)
        yield from stream.encode(None)


def _chapters(chapters: Sequence[Chapter], seconds: float) -> list[dict[str, Any]]:
    ends = [chapter.start for chapter in chapters[1:]] + [seconds]
    return [
        {
            "id": number,
            "start": round(chapter.start * 1000),
            "end": round(end * 1000),
            "time_base": MILLISECOND,
            "metadata": {"title": chapter.title},
        }
        for number, (chapter, end) in enumerate(zip(chapters, ends, strict=True), 1)
    ]


def web_vtt(cues: Sequence[Cue]) -> str:
    """Captions as WebVTT has them.

    >>> print(web_vtt([Cue(1.0, 2.5, "a < b")]))
    WEBVTT
    <BLANKLINE>
    00:00:01.000 --> 00:00:02.500
    a &lt; b
    <BLANKLINE>
    """
    blocks = [f"{_timestamp(cue.start)} --> {_timestamp(cue.end)}\n{_escaped(cue.text)}\n" for cue in cues]
    return "\n".join(["WEBVTT\n", *blocks])


def _timestamp(seconds: float) -> str:
    whole, ms = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{ms:03}"


def _escaped(text: str) -> str:
    """In one block: an empty line would end it."""
    return "\n".join(escape(line, quote=False) for line in text.splitlines() if line.strip())


def save_captions(cues: Sequence[Cue], path: str | PathLike[str]) -> None:
    """Write captions as WebVTT."""
    files.write(path, lambda target: target.write(web_vtt(cues).encode("utf-8")))
