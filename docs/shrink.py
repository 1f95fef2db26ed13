"""Make the films and posters of a folder smaller than an export does: `python docs/shrink.py media`.

A film for a talk is encoded without visible loss. One that a page shows should be small.
"""

import sys
from pathlib import Path

import av
from PIL import Image

MOST = 1_000_000
"""Bytes of a film on a page."""
QUALITIES = range(30, 40, 2)
"""Of x264 (crf), the best first; the last is taken even where it gives more than MOST."""
PRESET = "veryfast"
"""Slower ones give larger files of our flat pictures at these qualities."""
HUES = 128
"""Colours of a poster."""


def shrink(path: Path) -> None:
    """Replace an MP4 by one of at most MOST bytes with the same frames and captions."""
    small = path.with_suffix(".small.mp4")
    for quality in QUALITIES:
        encode(path, small, quality)
        if small.stat().st_size <= MOST:
            break
    if small.stat().st_size < path.stat().st_size:
        small.replace(path)
    else:
        small.unlink()


def encode(path: Path, small: Path, quality: int) -> None:
    """Write the film at `path` to `small`."""
    options = {"crf": str(quality), "preset": PRESET}
    with av.open(str(path)) as film, av.open(str(small), "w", options={"movflags": "faststart"}) as output:
        source = film.streams.video[0]
        stream = output.add_stream("libx264", rate=source.average_rate, options=options)
        stream.width, stream.height, stream.pix_fmt = source.width, source.height, "yuv420p"
        captions = {one.index: output.add_stream_from_template(one) for one in film.streams.subtitles}
        for packet in film.demux(source, *film.streams.subtitles):
            if packet.stream.index in captions and packet.dts is not None:
                packet.stream = captions[packet.stream.index]
                output.mux(packet)
            elif packet.stream is source:
                for frame in packet.decode():
                    output.mux(stream.encode(frame))
        output.mux(stream.encode())


if __name__ == "__main__":
    for name in sorted(Path(sys.argv[1]).glob("*.mp4")):
        shrink(name)
        if (poster := name.with_suffix(".png")).exists():
            picture = Image.open(poster).convert("RGB").quantize(HUES, dither=Image.Dither.NONE)
            picture.save(poster, optimize=True)
