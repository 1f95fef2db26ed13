"""Call what reads a file, within a bound of memory and time: it returns, or refuses in one short sentence."""

import resource
import signal
from contextlib import contextmanager
from pathlib import Path

from tilesim.errors import TilesimError

MEMORY, SECONDS = 3 * 2**29, 60
LONGEST = 700
"""Characters of a sentence, its path left out."""


@contextmanager
def bounded():
    """Raise MemoryError beyond MEMORY more bytes than there are, and TimeoutError after SECONDS."""

    def late(*_):
        raise TimeoutError(f"this took more than {SECONDS} s")

    kept = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, late)
    here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + MEMORY, kept[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, kept)


def is_read_or_refused(call, kind, path, content):
    """Whether `call(path)` returns a `kind`; else it has raised one sentence."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    with bounded():
        try:
            assert isinstance(call(path), kind)
        except TilesimError as error:
            said = str(error).replace(str(path), "", 1)
            assert len(said) < LONGEST, said
            assert said.isprintable(), said
            return False
    return True
