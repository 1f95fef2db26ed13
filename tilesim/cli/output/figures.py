"""What commands say: a trace's figures as a table, times and sizes with units, and what was written."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import click

from tilesim import metrics
from tilesim.storage import files
from tilesim.text import plural
from tilesim.traces import Trace


def table(trace: Trace) -> str:
    figures = metrics.summary(trace)
    sms = f" ({plural(trace.device.sms, 'SM')})" if trace.device.name else ""
    lines = [
        f"{trace.schedule} on {trace.gpu or trace.device.title}{sms}, {trace.origin}",
        trace.problem.parts,
    ]
    idle = time(figures["tail_idle_slot_ns"])
    rows = {
        "makespan": time(figures["makespan_ns"]),
        "utilization": f"{figures['utilization']:.1%}",
        "busy share": f"{figures['busy_share']:.1%}",
        "waves": str(figures["waves"]),
        "launches": str(figures["launches"]),
        "launch time": f"{time(figures['launch_time_ns'])}, all thread blocks together",
        "tail": f"{time(figures['tail_ns'])}; {idle} idle, all SMs together",
        "imbalance": f"{figures['imbalance']:.3f}",
        "costs": trace.meta.get("costs", {}).get("source", ""),
    }
    return "\n".join(lines + [f"  {name:12} {value}" for name, value in rows.items() if value])


def time(ns: int) -> str:
    """A time with the unit that fits it.

    >>> time(31_250), time(640)
    ('31.250 µs', '640 ns')
    """
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns} ns"


def size(count: int) -> str:
    """A number of bytes with the decimal unit that fits it.

    >>> size(640), size(12_345), size(1_234_567)
    ('640 B', '12 kB', '1.2 MB')
    """
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= scale:
            return f"{count / scale:.{0 if count >= 10 * scale else 1}f} {unit}"
    return f"{count} B"


def save_text(path: str | PathLike[str], text: str, about: str = "") -> None:
    files.write(path, lambda file: file.write(text.encode()))
    wrote(path, about)


def wrote(path: str | PathLike[str], about: str = "") -> None:
    """Say on stderr what was written, such as "wrote race.mp4 (15 s, 1.2 MB)"; `about` is the "15 s".
    Standard output is for figures and data alone. Nothing is said of a device or a pipe, such as
    /dev/stdout."""
    if Path(path).is_file():
        words = ", ".join(filter(None, (about, size(Path(path).stat().st_size))))
        click.echo(f"wrote {path} ({words})", err=True)


@contextmanager
def counter(label: str, what: str) -> Iterator[Callable[[int], None]]:
    """What to call with how many more of something are done, where nobody knows how many there will be."""
    done = 0

    def update(more: int) -> None:
        nonlocal done
        done += more
        if sys.stderr.isatty():
            click.echo(f"\r{label}  {done} {what}", err=True, nl=False)

    try:
        yield update
    finally:
        if done and sys.stderr.isatty():
            click.echo(err=True)


@contextmanager
def progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """What to call with how many more of `length` are done. A slow start would make a time left absurd."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=length, label=label, show_eta=False, file=sys.stderr, hidden=hidden) as bar:
        yield bar.update
