"""Encode the films of a folder anew, slower and smaller than an export does: `python docs/shrink.py media`.

A film for a talk is encoded fast and without visible loss. One that a page shows should be small.
"""

import sys
from pathlib import Path

import av

OPTIONS = {"crf": "30", "preset": "slow"}


def shrink(path: Path) -> None:
    """Replace an MP4 by a smaller one with the same frames and captions, unless it would be larger."""
    small = path.with_suffix(".small.mp4")
    with av.open(str(path)) as film, av.open(str(small), "w", options={"movflags": "faststart"}) as output:
        source = film.streams.video[0]
        stream = output.add_stream("libx264", rate=source.average_rate, options=OPTIONS)
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
    if small.stat().st_size < path.stat().st_size:
        small.replace(path)
    else:
        small.unlink()


if __name__ == "__main__":
    for name in sorted(Path(sys.argv[1]).glob("*.mp4")):
        shrink(name)
