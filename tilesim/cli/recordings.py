"""Folders of recordings, as `tilesim record --suite` fills them: runs, device.json and memory.json."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tilesim.errors import TraceError

DEVICE, MEMORY, RUN = "device.json", "memory.json", ".npz"


class Recordings(NamedTuple):
    """Files of traces, and those of the GPU's facts and of its memory's figures, where there are any."""

    runs: tuple[str, ...]
    device: str | None = None
    memory: str | None = None


def found(paths: Iterable[str]) -> Recordings:
    """What lies in `paths`: files of traces, and folders.

    Raises TraceError where a folder has no trace, or two folders say what GPU it is.
    """
    runs: list[str] = []
    beside: dict[str, str] = {}
    for path in map(Path, paths):
        if not path.is_dir():
            runs.append(str(path))
            continue
        inside = sorted(str(each) for each in path.iterdir() if each.suffix == RUN)
        if not inside:
            raise TraceError(
                f"{path}: there is no {RUN} in this folder; `tilesim record --suite` records some"
            )
        runs += inside
        for name in (DEVICE, MEMORY):
            if (path / name).is_file():
                if name in beside:
                    raise TraceError(f"{beside[name]} and {path / name}: give the folder of one GPU")
                beside[name] = str(path / name)
    return Recordings(tuple(runs), beside.get(DEVICE), beside.get(MEMORY))
