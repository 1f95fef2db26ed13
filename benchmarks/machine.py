"""What a benchmark ran on."""

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tilesim.parallel import cores


def machine(*packages: str) -> dict[str, str]:
    """Processor, cores, system, Python, and the versions of `packages`."""
    cpu = Path("/proc/cpuinfo")
    named = [line for line in cpu.read_text().splitlines() if "model name" in line] if cpu.exists() else []
    return {
        "cpu": named[0].partition(":")[2].strip() if named else platform.processor() or platform.machine(),
        "cores": str(cores()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "date": datetime.now(UTC).date().isoformat(),
    }
