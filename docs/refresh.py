"""Write anew what README.md shows of data and of outputs: `python docs/refresh.py`. The tests compare.

A table of `figures` stands between the comments `table: NAME` and `end`, a figure in a sentence between
`figure: NAME` and `end`, and under `output: COMMAND` what a command prints.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
FIGURE = re.compile(r"(<!-- figure: (\w+) -->).*?(<!-- end -->)")
OUTPUT = re.compile(r"(<!-- output: tilesim (.+?) -->\n```\n).*?(^```$)", re.DOTALL | re.MULTILINE)


def refreshed(text: str, figures: dict[str, str]) -> str:
    """`text` with its tables, figures and outputs as they are now."""
    text = TABLE.sub(lambda found: f"{found[1]}\n{figures[found[2]]}\n\n{found[3]}", text)
    text = FIGURE.sub(lambda found: f"{found[1]}{figures[found[2]]}{found[3]}", text)
    return OUTPUT.sub(lambda found: f"{found[1]}{_output(found[2])}{found[3]}", text)


def _output(words: str) -> str:
    command = [sys.executable, "-m", "tilesim", *words.split()]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE.parent).stdout


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "benchmarks")]
    from figures import figures

    README.write_text(refreshed(README.read_text("utf-8"), figures()), "utf-8")
