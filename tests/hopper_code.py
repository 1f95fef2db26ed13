"""What Triton compiles for a Hopper GPU, which takes no GPU: in one child process for all tests of a process.

Tests run kernels by Triton's interpreter, and a process in which Triton interprets cannot compile.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

IMPORTS = """
import json
import sys
from triton import compile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from tilesim.cli.packages import load
load("kernels")
HOPPER = GPUTarget("cuda", 90, 32)
"""
"""What every script begins with."""

SERVER = """
import contextlib, io, json, runpy, sys, traceback
for line in sys.stdin:
    sys.argv, printed, failed = json.loads(line), io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(sys.argv[0])
    except Exception:
        failed = traceback.format_exc()
    print(json.dumps([printed.getvalue(), failed]), flush=True)
"""


@cache
def _child() -> tuple[subprocess.Popen[str], tempfile.TemporaryDirectory[str]]:
    """The process that compiles, which ends with this one, and the folder of its scripts and its cache."""
    folder = tempfile.TemporaryDirectory()
    env = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    env |= {"TRITON_CACHE_DIR": folder.name, "TRITON_DEFAULT_FP_FUSION": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    root = Path(__file__).parents[1]
    return subprocess.Popen([sys.executable, "-c", SERVER], env=env, cwd=root, text=True, **pipes), folder


@cache
def compiled(script: str, *words: str) -> str:
    """What `script` prints after IMPORTS, with these words as its arguments."""
    if not (find_spec("torch") and find_spec("triton")):
        pytest.skip("needs torch and Triton")
    child, folder = _child()
    assert child.stdin and child.stdout
    file = Path(folder.name, f"{sha256(script.encode()).hexdigest()[:16]}.py")
    file.write_text(IMPORTS + script, "utf-8")
    child.stdin.write(json.dumps([str(file), *words]) + "\n")
    child.stdin.flush()
    printed, failed = json.loads(child.stdout.readline())
    assert not failed, failed[-2000:]
    return printed
