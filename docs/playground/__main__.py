"""`python docs/playground NUMPY` puts Python for the browser together; see `take_runtime`."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from playground import PYODIDE, take_runtime  # noqa: E402

if len(sys.argv) != 2:
    sys.exit("error: give the wheel of Pyodide's NumPy, or an archive that holds it")
try:
    take_runtime(HERE / "node_modules" / "pyodide", Path(sys.argv[1]))
except (OSError, ValueError) as error:
    sys.exit(f"error: {error}")
print(f"Python for the browser is in {PYODIDE.relative_to(HERE.parents[1])}")
