"""Whatever is wrong gives one sentence on stderr, the right exit code and no change to any file."""

import shlex
from dataclasses import replace
from pathlib import Path

import others
import pytest
from command_line import said

from tilesim import Device, Problem, Trace, simulate
from tilesim.formats import save

OF_FILMS = ("--fps 30", "--size 4k", "--seconds 9", "--from 1", "--captions")
OF_ONE_FILM = (
    *("--from 3", "--to 3", "--seconds 20", "--trace a.npz", "--title x", "--next naive", "--poster a.png"),
    *("--sms 3", "--m 512", "--costs ideal", "--at 3", "--no-opening"),
)
WRONG_USAGE = {
    "simulate naive --m 0": "m is 0; it must be a whole number from 1",
    "simulate naive --n 1125899906842624": "n is 1125899906842624",
    "simulate naive --m 10000000 --n 10000000": "at most",
    "simulate naive --k 1099511627776 --tile 64x64x16": "K-steps",
    "simulate naive --m many": "'many' is not a valid integer",
    "simulate naive --tile 128x256": "'128x256' is not three sizes",
    "simulate naive --tile 0x256x64": "tile[0] is 0",
    "simulate naive --dtype bf61": "did you mean 'bf16'?",
    "simulate naive --device v100": "no bf16 rate",
    "simulate naive --device h20": "did you mean 'h200'?",
    "simulate naive --order hilbrt": "did you mean 'hilbert'?",
    "simulate naive --order grouped": "grouped:G",
    "simulate naive --sms 0": "sms is 0",
    "simulate naive --sms 4 --busy-sms 4": "at least one must be free",
    "simulate naive --seed -1": "the seed is -1",
    "simulate naive --gantt --width 1": "'--width'",
    "simulate naive --gantt --json": "--gantt and --json cannot be combined",
    "simulate naive --k 68719476736 --costs long": "the run could last",
    "simulate naive -o x.txt": "x.txt: a trace is written as .npz",
    "simulate naive --costs c -o ./c": "./c: it is read as c",
    "simulate naive:2": "'naive:2' has 1 parameter; write it",
    "simulate": "Missing argument 'SCHEDULE'",
    "simulat naive": "did you mean 'simulate'?",
    "plan naive --m 1000000 --n 1000000": "4194304",
    "plan persistant": "did you mean 'persistent'?",
    r"plan 'D:\nowhere\mine.py:snake'": r"D:\nowhere\mine.py: there is no such file",
    "list --jsn": "--jsn",
    "info plain.csv --map sm": "'sm' maps nothing; write NAME=COLUMN",
    "explain naive": "tilesim simulate naive -o naive.npz",
    "explain plain.csv --map sm=a --map sm=b": "sm is mapped twice; give it once",
    "view --no-browser": "Missing argument 'FILE...'",
    "view --no-browser good.npz --port 70000": "'--port'",
    "init film": ".py",
    "calibrate": "TRACE",
    "calibrate good.npz -o x.txt": "x.txt: costs are written as .json",
    "calibrate run.json -o run.json": "run.json: it is read as run.json",
    "record naive": "'-o'",
    "record naive --kernel cutlass -o x.npz": "'cutlass'",
    "record --suite -o none naive": "--suite records a fixed set of runs",
    "record --suite -o none --m 64": "--suite records a fixed set of runs",
    "choose --ctas-per-sm 2": "--ctas-per-sm",
    "compare": "Missing argument '[SIM] MEASURED",
    "compare good.npz measured.npz measured.npz": "compared with exactly one measured trace",
    "compare good.npz measured.npz --seed 1": "--costs and --seed apply only",
    "convert a.npz b.json --to perfeto": "'perfeto'",
    "convert a.npz b.txt": "b.txt has no extension of a known format",
    "convert a.npz b.NPZ --to csv": "b.NPZ would look like a native trace",
    "convert run.json folder/../run.json --to csv": "it is read as run.json",
    "convert good.npz measured.npz a.csv": "2 traces need a Perfetto file",
    "sweep --m many": "'many' is not a number or a range such as 128:8192:128",
    "sweep --n k": "'k' is not a number or a range such as 128:8192:128 or 'm'",
    "sweep --m 8:4": "the range '8:4' has no values; write it as from:to:step",
    "sweep --m 1:8:0": "the range '1:8:0' has no values",
    "sweep --m 1:999999999999999": "has 999999999999999 values; a sweep has at most 100000",
    "sweep --m 1:1000 --n 1:1000": "the sweep has 2000000 combinations; at most 100000 are",
    "sweep --m 1000000 --n 1000000": "the command line accepts at most 4194304",
    "sweep --schedule naive,persistant": "did you mean 'persistent'?",
    "sweep --dtype bf16,bf61": "did you mean 'bf16'?",
    "sweep --sms 0": "sms is 0",
    "sweep --jobs 0": "'--jobs'",
    "sweep -o t.json": "t.json: a table is written as .csv or .parquet",
    "sweep --picture t.jpg": "t.jpg: a picture is written as .png",
    "sweep --picture t.png --m 64": "a picture needs a size that varies; give several values of --m, --n or",
    f"sweep --picture t.png --tile {','.join(f'{m}x64x64' for m in range(64, 71))}": "a picture shows at",
    "sweep --costs c -o c": "c: it is read as c",
    "sweep -o new --picture ./new": "they are the same file",
    "bench -o x.csv": "x.csv: figures are written as .json",
    "bench turnarond": "did you mean 'turnaround'?",
    "bench --size 64x64x64 turnaround": "--size before turnaround has no effect",
    "bench -o a.json sm-order": "--output before sm-order has no effect",
    "bench turnaround --repeats 0": "'0' is not a whole number",
    "bench sm-order --launches 1": "'1' is not a whole number",
    "bench busy-sms --size 64x64": "is not three sizes",
    "bench reductions --size 0": "'0' is not a whole number",
    "export rase": "did you mean 'race'?",
    "export zzz": "there is no film 'zzz'; choose from one-tile, ",
    "export gemm.npz": "there is no file 'gemm.npz'",
    "export race -o a.mp5": "did you mean '.mp4'?",
    "export race -o a.mp4 --fragment": "--fragment is of a page",
    "export race -o a.mp4 --poster x.jpg": "x.jpg: a poster",
    "export race -o a.mp4 --format slides": "not as 'a.mp4'",
    "export race -o a.pptx --at 3": "--at is of a still",
    "export race -o a.pptx --transparent": "cannot be transparent",
    "export race -o a.pptx --captions": "--captions is of a film",
    "export race -o a.html --at 3": "such as 12.5us",
    "export coalescing -o a.html": "these films do: naive, ",
    "export good.npz --format html -o good.npz": "cannot write",
    "export naive -o a.mp4 --trace cut.npz": "cut.npz",
    "export naive -o a.mp4 --trace good.npz --m 64": "leave out m",
    "export naive -o good.npz --format png --trace good.npz": "cannot write",
    "export naive -o a.mp4 --theme drak": "'drak'",
    "export naive -o a.mp4 --seconds 601": "it must last from 3 to 600 s",
    "export naive -o a.mp4 --from nan": "'nan' is not a number of seconds",
    "export naive -o a.mp4 --fps 0": "'--fps'",
    "export naive -o a.mp4 --fps 29.97": "'29.97' is not a whole number from 1 to 120",
    "export naive -o a.mp4 --to 'the end'": "'the end' is not a number of seconds",
    "export naive -o a.mp4 --at 3": "--at is of a still",
    "export naive -o a.mp4 --films race": "--films is of a course",
    "export naive -o a.gif --fps 60": "at most 50",
    "export naive -o a.png --from 0": "give --at instead",
    "export naive -o a.png --captions": "--captions is of a film",
    "export naive -o a.png --json": "--json tells what a film finds",
    "export naive -o a.png --at nan": "'nan' is neither a second",
    "export naive -o a.png --poster ./folder/../a.png": "cannot write",
    "export course --films 'one-tile, naiv'": "there is no film 'naiv'; did you mean 'naive'?",
    "export course --films ''": "there is no film ''",
    "export course -o a.gif": "a course is written as .mp4, .webm, .mov, not as 'gif'",
    "export course -o a.pptx": "not as 'slides'; as slides, films are written by: tilesim present",
    "export course -t": "a film in mp4 cannot be transparent",
    **{f"export course {words}": f"{words.split()[0]} is of one film" for words in OF_ONE_FILM},
    **{f"export race -o a.html {words}": f"{words.split()[0]} is of a film" for words in OF_FILMS},
    "present talk.mp4 naive": ".html",
    "present talk.html": "FILM",
    "present talk.html naive.mp4": "'naive.mp4' is what `tilesim export` writes; give a film's name",
    "present talk.html naive --size 1x1": "size",
}
FAILURES = {
    "simulate naive --costs none.json": "there is no such file",
    "simulate naive --costs wrong": "wrong: there is no field of the costs 'k_steps'",
    "simulate naive --costs empty": "tilesim calibrate",
    "simulate naive -o no/a.npz": "the folder no does not exist",
    "simulate naive -o folder": "it is a folder",
    "convert none.npz a.csv": "none.npz: there is no such file",
    "convert cut.npz a.csv": "cut.npz: this is not a complete tilesim trace",
    "convert good.npz a.csv --m 256": "says everything; leave out m",
    "calibrate plain.csv": "plain.csv: ",
    "sweep -o no/t.csv": "the folder no does not exist",
    "sweep --device v100 -o t.csv --jobs 1": "none of 90 combinations can be simulated: ",
    "info none": "there is no such file",
    "info proton.json --tile-from tiles.csv": "no tiles from tiles.csv: there is no such file",
    "explain c": "c: ",
    "view --no-browser good.npz good.npz good.npz good.npz good.npz": "1 to 4 traces; 5 were given",
    "compare good.npz": "none of the traces is measured",
    "compare good.npz other.npz": "different problems",
    "choose --m 1099511627776 --n 1099511627776": "no kernel here computes 1099511627776x1099511627776x512",
    "choose --dtype int8": "no kernel here computes 4096x4096x512 int8 nn on NVIDIA H200",
    "choose --dtype fp8 --device a100": "datasheet has no fp8 rate",
    "choose --device mi300x": "how AMD MI300X shares an SM out",
    "bench choice --measured empty": "is not a measurement",
    "init nowhere/film.py": "nowhere",
    "init film.py": "film.py",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The files that the command lines name, in the folder where they are run."""
    monkeypatch.chdir(tmp_path)
    good = simulate("naive", Problem(512, 512, 128), Device(4))
    good.save("good.npz")
    replace(good, origin="measured").save("measured.npz")
    other = simulate("naive", Problem(64, 64, 64), Device(4))
    Trace(other.problem, other.device, "naive", other.spans, "measured").save("other.npz")
    save(good, "run.json", "json")
    for name in ("plain.csv", "proton.json"):
        others.write(tmp_path, name)
    Path("cut.npz").write_bytes(Path("good.npz").read_bytes()[:-100])
    costs = {"c": '{"k_step": 700}', "long": '{"k_step": 1e15}', "wrong": '{"k_steps": 3}', "empty": "{}"}
    for name, text in {**costs, "film.py": "mine", "course.mp4": "old"}.items():
        Path(name).write_text(text)
    Path("folder").mkdir()
    return tmp_path


def held(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("line", "code"), [*((line, 2) for line in WRONG_USAGE), *((line, 1) for line in FAILURES)]
)
def test_what_is_wrong_is_one_sentence(line, code, here):
    words, before = shlex.split(line), held(here)
    if words[0] in ("export", "present") or "--picture" in words:
        pytest.importorskip("manim")
    assert (WRONG_USAGE | FAILURES)[line] in said(*words, code=code)
    assert held(here) == before
