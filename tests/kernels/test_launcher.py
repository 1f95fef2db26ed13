"""What launches a kernel: through Triton once, and then straight, with the same arguments in their order."""

import inspect

import pytest
from on_device import torch

from tilesim.kernel_config import KernelConfig
from tilesim_kernels import KernelError
from tilesim_kernels.launch import job as launcher
from tilesim_kernels.launch.plan_table import PlanTable


def kernel(a, b, c, workspace, M, BM, TRANS=False, EXTRA="usual"):
    """The signature of one."""


class Launched:
    """A kernel, which `makes` the compiled one, or that: what it was called with on which grid."""

    signature = inspect.signature(kernel)
    arg_names = tuple(signature.parameters)

    def __init__(self, makes=None):
        self.makes, self.calls = makes, []

    def __getitem__(self, grid):
        return lambda *arguments, **constants: self.calls.append((grid, arguments, constants)) or self.makes


class Descriptor:
    def __init__(self, base, box):
        self.base, self.box = base, box


@pytest.fixture
def launch(monkeypatch):
    monkeypatch.setattr(launcher, "CompiledKernel", Launched)
    a, b, c, workspace = torch.zeros(4).split(1)
    return launcher.KernelLaunch(
        KernelConfig("naive", "naive", (8, 8, 8)), Launched(makes=Launched()), 7,
        (Descriptor(a, [2, 2]), b, c, workspace, 8), {"BM": 16, "TRANS": True, "num_warps": 4},
    )  # fmt: skip


def test_later_calls_pass_what_the_first_did(launch):
    launch()
    assert launch.kernel.calls == [((7,), launch.arguments, launch.constants)]
    assert not launch.kernel.makes.calls
    launch()
    assert len(launch.kernel.calls) == 1
    assert launch.kernel.makes.calls == [((7, 1, 1), (*launch.arguments, 16, True, "usual"), {})]


def test_other_matrices_and_another_workspace_take_the_first_ones_places(launch):
    others, workspace = torch.ones(3).split(1), {"workspace": torch.ones(1)}
    launch()
    for other in (lambda: launch.launch_with(others, workspace), launch.bound_to(others, workspace)):
        launch.kernel.makes.calls.clear()
        other()
        ((_, (a, b, c, own, *rest), _),) = launch.kernel.makes.calls
        assert a.base is others[0] and a.box == [2, 2] and isinstance(a, Descriptor)
        assert b is others[1] and c is others[2] and own is workspace["workspace"]
        assert rest == [8, 16, True, "usual"]
    assert launch.arguments[0].base is not others[0] and len(launch.kernel.calls) == 1


def test_only_where_triton_interprets_every_call_goes_through_it(launch):
    launch.launch_with(torch.ones(3).split(1), {})
    launch()
    assert len(launch.kernel.calls) == 1 and len(launch.kernel.makes.calls) == 1
    launch.compiled.clear()
    launch.kernel.makes = None
    launch()
    launch()
    assert len(launch.kernel.calls) == 3


def test_what_triton_cannot_compile_is_one_sentence(launch, monkeypatch):
    def fail(*arguments, **constants):
        raise RuntimeError("PassManager::run failed")

    monkeypatch.setattr(Launched, "__getitem__", lambda self, grid: fail)
    with pytest.raises(KernelError, match=r"Triton \S+ cannot compile naive .* on this GPU"):
        launch()


@pytest.mark.parametrize("kind", [launcher.Job, launcher.KernelLaunch, PlanTable])
def test_what_launches_stays_as_it_was_made_and_equals_itself_alone(kind):
    assert kind.__dataclass_params__.frozen and "__slots__" in vars(kind)
    assert kind.__eq__ is object.__eq__
