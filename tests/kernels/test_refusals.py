"""What the kernels cannot do, each in one sentence."""

import doctest
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages

import pytest
from on_device import torch

import tilesim_kernels
from tilesim import Problem
from tilesim.cli.commands.bench import command as commands
from tilesim.errors import KernelConfigError
from tilesim.gemm.fit import why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim_kernels import KernelError, bench, record
from tilesim_kernels.launch import here

NAIVE = KernelConfig("naive", "naive", (32, 32, 32))
SMALL = Problem(64, 64, 64, tile=(32, 32, 32))
PRODUCT = Product.of(SMALL)


def test_problems_out_of_reach():
    problem = replace(SMALL, tile=(96, 32, 32))
    for measure in (lambda: record("naive", problem), lambda: bench(problem)):
        with pytest.raises(KernelError, match="tile_m is 96; the sides of naive's tiles must be powers"):
            measure()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"kernel": "naiv"}, "there is no kernel 'naiv'; did you mean 'naive'"),
        ({"loads": "cp.async"}, "loads is 'cp.async'; choose from tma, ptr"),
        ({"warps": 6}, "warps is 6"),
        ({"overlap": "yes"}, "overlap is 'yes'; it must be true or false"),
    ],
)
def test_configurations_that_do_not_exist(changed, sentence):
    with pytest.raises(KernelConfigError, match=sentence):
        why_not(replace(NAIVE, **changed), PRODUCT)


def test_a_kernel_that_does_not_exist():
    with pytest.raises(KernelError, match="no kernel 'cublass'; did you mean 'cublas'"):
        bench(SMALL, kernels=["cublass"])
    with pytest.raises(KernelError, match=r"'persistant'; did you mean 'persistent'.* 'table' runs any"):
        record("persistant", SMALL)


@pytest.mark.parametrize(("capability", "refused"), [((8, 0), True), ((8, 9), False), ((9, 0), False)])
def test_fp8_needs_tensor_cores_that_know_it(monkeypatch, capability, refused):
    monkeypatch.setattr(here, "INTERPRETED", False)
    monkeypatch.setattr(here, "limits", lambda: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some GPU")
    with pytest.raises(KernelError, match="Some GPU is sm_80, which") if refused else nullcontext():
        here.check(NAIVE, Product(64, 64, 64, "fp8"))
    here.check(NAIVE, Product(64, 64, 64))


def test_measuring_needs_a_gpu_and_no_interpreter():
    needs = "TRITON_INTERPRET is set" if torch.cuda.is_available() else "finds no NVIDIA GPU"
    measures = [lambda: record("naive", SMALL), lambda: bench(SMALL)]
    for command in set(commands.list_commands(None)) - {"choice"}:
        name = command.replace("-", "_")
        measures.append(getattr(import_module(f"tilesim_kernels.bench.{name}"), name))
    for measure in measures:
        with pytest.raises(KernelError, match=needs):
            measure()


def test_the_examples_of_all_kernels_hold():
    attempted = 0
    for found in walk_packages(tilesim_kernels.__path__, "tilesim_kernels."):
        done = doctest.testmod(import_module(found.name), extraglobs={"torch": torch})
        assert done.failed == 0, found.name
        attempted += done.attempted
    assert attempted > 5
