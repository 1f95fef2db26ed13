"""What the pages are built with lies beside them, and what their tests share lies here."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "docs")]

collect_ignore = ["pages.py"]
