"""What launches a kernel: through Triton once, and then straight, with the same arguments in their order."""

import inspect
from types import SimpleNamespace

import pytest
from interpreter import torch

from tilesim import Problem
from tilesim_kernels import KernelError
from tilesim_kernels.launch import launcher


def kernel(a, b, c, room, M, BM, TRANS=False, EXTRA="usual"):
    """The signature of one."""


class Made:
    """What Triton makes of it."""

    def __init__(self):
        self.launched = []

    def __getitem__(self, grid):
        return lambda *arguments: self.launched.append((grid, arguments))


class Kernel:
    def __init__(self, made):
        self.made, self.signature = made, inspect.signature(kernel)
        self.arg_names, self.called = list(self.signature.parameters), []

    def __getitem__(self, grid):
        return lambda *arguments, **constants: self.called.append((grid, arguments, constants)) or self.made


class Descriptor:
    def __init__(self, base, box):
        self.base, self.box = base, box


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(launcher, "CompiledKernel", Made)
    a, b, c, room = torch.zeros(4).split(1)
    return launcher.Run(
        SimpleNamespace(name="naive", stages=3), Problem(8, 8, 8), Kernel(Made()), 7,
        (Descriptor(a, [2, 2]), b, c, room, 8), {"BM": 16, "TRANS": True, "num_warps": 4},
    )  # fmt: skip


def test_later_calls_pass_what_the_first_did(run):
    run()
    assert run.kernel.called == [((7,), run.arguments, run.constants)] and not run.kernel.made.launched
    run()
    assert len(run.kernel.called) == 1
    assert run.kernel.made.launched == [((7, 1, 1), (*run.arguments, 16, True, "usual"))]


def test_other_matrices_and_other_room_take_the_first_ones_places(run):
    others, room = torch.ones(3).split(1), torch.ones(1)
    run()
    for again in (lambda: run.again(others, {"room": room}), run.on(others, {"room": room})):
        run.kernel.made.launched.clear()
        again()
        ((_, (a, b, c, own, *rest)),) = run.kernel.made.launched
        assert a.base is others[0] and a.box == [2, 2] and isinstance(a, Descriptor)
        assert b is others[1] and c is others[2] and own is room and rest == [8, 16, True, "usual"]
    assert run.arguments[0].base is not others[0] and len(run.kernel.called) == 1


def test_what_is_run_again_first_is_compiled_for_all(run):
    run.again(torch.ones(3).split(1), {})
    run()
    assert len(run.kernel.called) == 1 and len(run.kernel.made.launched) == 1


def test_where_triton_interprets_every_call_goes_through_it(run):
    run.kernel.made = None
    run()
    run()
    assert len(run.kernel.called) == 2


def test_what_triton_cannot_compile_is_one_sentence(run, monkeypatch):
    def fail(*arguments, **constants):
        raise RuntimeError("PassManager::run failed")

    monkeypatch.setattr(Kernel, "__getitem__", lambda self, grid: fail)
    with pytest.raises(KernelError, match=r"Triton \S+ cannot compile naive for Problem.* on this GPU"):
        run()
