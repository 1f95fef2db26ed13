"""Every command and snippet on every page runs: a page's from top to bottom, in a folder of its own."""

import doctest
import re
import runpy
import shlex
import shutil
import tomllib
from pathlib import Path

import click
import others
import pytest
from pages import PAGES, ROOT, Block, blocks, commands, run, there

from tilesim.cli import main

SHOWN_ONLY = {
    *("", "html", "text", "{toctree}", "{image}", "{literalinclude}", "{glossary}", "{eval-rst}"),
    "{command-output}",
}
RUNS = {"sh", "pycon", "python", "toml"}
NEEDS_GPU = ("record", "bench", "tune")
FILM = re.compile(r"tilesim (?:export|present) ")
PAGE_OR_VECTORS = re.compile(r"(?!.*slides).*\.(?:html|svg)")
KINDS = {
    **dict.fromkeys(("--m", "--n", "--k", "--sms", "--device", "--tile", "--order", "--schedule"), "problem"),
    **dict.fromkeys(("--theme", "--size", "--fps"), "look"),
    **dict.fromkeys(("--from", "--to"), "part"),
}
"""Options of which one is tried for all of its kind."""
BESIDE = {"--captions", "--finding"}
SMALL = ("--size", "256x144", "--fps", "2", "--jobs", "1")
WHOLE = re.compile(r"tilesim export (?!course)(?!.*--(?:from|to) ).*\.(mp4|gif)")
SHORT = ("--to", "4")
"""Seconds of a film from its beginning; that films are played to their ends is tried elsewhere."""
WRITTEN = re.compile(r"-o (\S+\.\w+)|convert \S+ (\S+)")


def tried(command: str) -> set[tuple[str, str]]:
    """What an export tries: a kind of film in a kind of file, and kinds of options for such a film."""
    _, name, scene, *words = shlex.split(command)
    if name == "present":
        return {(name, ".html")}
    film = "course" if scene == "course" else Path(scene.partition(":")[0]).suffix
    options = {word for word in words if word.startswith("--")} - BESIDE
    return {(film, Path(words[words.index("-o") + 1]).suffix)} | {
        (film, KINDS.get(one, one)) for one in options
    }


def rendered() -> set[tuple[Path, str]]:
    """The exports, each with its page, that try something that none before them does."""
    found, before = set(), set()
    for page in PAGES:
        every = [command for block in blocks(page) if block.language == "sh" for command in commands(block)]
        for command in filter(FILM.match, every):
            if not tried(command) <= before:
                found.add((page, command))
                before |= tried(command)
    return found


RENDERED = rendered()


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder that knows where the scenes are, as a clone does, and holds the files of users' kernels."""
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    (tmp_path / "tests").mkdir()
    for name in ("tests/own_kernel.csv", "own-kernel.csv"):
        shutil.copy(ROOT / "tests" / "own_kernel.csv", tmp_path / name)
    for name in (*others.FILES, "tasks.csv"):
        others.write(tmp_path, name)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_runs_from_top_to_bottom(page: Path, workplace: Path) -> None:
    for block in blocks(page):
        assert block.language in RUNS | SHOWN_ONLY, f"nothing tries the block of {block.language}"
        if block.role == "file":
            _place(block, workplace)
        elif block.language == "sh":
            for command in commands(block):
                _run(command, page, workplace)
        elif block.language == "python":
            _execute(block.text, workplace)
        elif block.language == "toml":
            assert tomllib.loads(block.text)
    examples = "\n".join(block.text for block in blocks(page) if block.language == "pycon")
    if examples:
        _converse(examples, workplace)


def _place(block: Block, workplace: Path) -> None:
    """A file that is shown is the repository's or, where that has none, one that the reader writes, of small
    films.
    """
    if (ROOT / block.what).is_file():
        assert block.text == (ROOT / block.what).read_text("utf-8")
    else:
        text = re.sub("^fps = .*\n", "", block.text, flags=re.MULTILINE)
        text = re.sub("^size = .*$", 'size = "256x144"\nfps = 2\nto = 4', text, flags=re.MULTILINE)
        (workplace / block.what).write_text(text, "utf-8")


def _run(command: str, page: Path, workplace: Path) -> None:
    """Run a command as it stands, but films small, and no export that tries what others do.

    Of a command that needs a GPU, take what it wrote on one.
    """
    words = shlex.split(command)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    elif words[:2] == ["pip", "install"]:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        assert set(re.findall(r"\[(\w+)\]", command)) <= set(project["optional-dependencies"])
    elif words[0] == "tilesim" and words[1] in NEEDS_GPU:
        _parse(words[1:])
        _stand_in(words, workplace)
    elif FILM.match(command) and (page, command) not in RENDERED:
        with there(workplace):
            _parse(words[1:])
    else:
        if "export" in words or "manim" in words or "--picture" in words or "doctor" in words:
            pytest.importorskip("manim")
        if words[0] == "tilesim":
            drawn = FILM.match(command) and not (words[1] == "export" and PAGE_OR_VECTORS.match(command))
            _call([*words[1:], *SMALL * bool(drawn), *SHORT * bool(WHOLE.match(command))], workplace)
        elif "manim" in words:
            _manim(words, workplace)
        else:
            done = run("bash", "-c", command, cwd=workplace)
            assert done.returncode == 0, f"{command}\n{done.stderr}"
        written = [one or other for one, other in WRITTEN.findall(command)]
        assert all((workplace / path).stat().st_size > 100 for path in written), command


def _call(words: list[str], workplace: Path) -> None:
    """Run a command of tilesim."""
    with there(workplace), pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code, words


def _manim(words: list[str], workplace: Path) -> None:
    """Run Manim's own command, with the variables that are set before it."""
    from manim import __main__, tempconfig

    with there(workplace) as patch, tempconfig({}):
        *variables, _ = words[: words.index("manim") + 1]
        for variable in variables:
            patch.setenv(*variable.split("="))
        __main__.main(words[len(variables) + 1 :], standalone_mode=False)


def _parse(words: list[str]) -> None:
    """See that a command takes these words; a usage that is wrong is an error here."""
    group, context = main, click.Context(main)
    while isinstance(group, click.Group) and words and (command := group.get_command(context, words[0])):
        group, words = command, words[1:]
    group.make_context(group.name, list(words))


def _stand_in(words: list[str], workplace: Path) -> None:
    """What the command would have written: a file that it, or one much like it, did write on a GPU."""
    if "-o" not in words:
        return
    path = Path(words[words.index("-o") + 1])
    if "--suite" in words:
        few = shutil.ignore_patterns("*long*")
        shutil.copytree(ROOT / "benchmarks" / "suite", workplace / path, ignore=few)
        return
    schedule = "persistent" if "persistent" in words else "naive"
    k = 4096 if "--k" in words else 512
    shipped = {
        "record": f"traces/h200-{schedule}-4096x4096x{k}-grouped8.npz",
        "bench": "ladder/h200.json",
        "tune": "tuned/h200.json",
    }
    if "--busy-sms" in words:
        shipped["record"] = f"busy_sms/h200-{words[2]}-busy1-4224x4096x4096-grouped8.npz"
    own = ROOT / "tilesim" / "data" / words[2].replace("-", "_") / "h200.json"
    shutil.copy(own if own.is_file() else ROOT / "tilesim" / "data" / shipped[words[1]], workplace / path)


def _execute(code: str, workplace: Path) -> None:
    """Run a snippet; one of a GPU runs in Triton's interpreter, with small matrices."""
    script = workplace / "snippet.py"
    if "torch" in code:
        pytest.importorskip("torch")
        pytest.importorskip("triton")
        code = re.sub(r"randn\((\d+), (\d+)", lambda m: f"randn({int(m[1]) // 8}, {int(m[2]) // 8}", code)
        script.write_text(code.replace('"cuda"', '"cpu"'), "utf-8")
        done = run("python", script, cwd=workplace, TRITON_INTERPRET="1")
        assert done.returncode == 0, done.stderr
        return
    if "film" in code:
        pytest.importorskip("manim")
    script.write_text(code.replace('size="480p"', 'size="256x144"'), "utf-8")
    with there(workplace):
        runpy.run_path(str(script), run_name="__main__")


def _converse(examples: str, workplace: Path) -> None:
    """Try a page's interactive examples, in which a name that one defines is known to the next."""
    script = workplace / "examples.txt"
    script.write_text(examples, "utf-8")
    with there(workplace):
        found = doctest.testfile(str(script), module_relative=False)
    assert found.attempted and not found.failed


def test_commands_and_examples_are_found() -> None:
    every = [block for page in PAGES for block in blocks(page)]
    assert sum(len(commands(block)) for block in every if block.language == "sh") > 40
    assert sum(block.text.count(">>> ") for block in every if block.language == "pycon") > 20
