"""What the kernels cannot do, each in one sentence."""

import doctest
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from types import SimpleNamespace

import pytest
from on_device import config_named, inputs, jobs, stamps, torch

import tilesim_kernels
from tilesim import Device, Problem
from tilesim.cli.commands.bench import command as commands
from tilesim.errors import KernelConfigError
from tilesim.gemm.fit import why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim_kernels import KernelError, bench, record
from tilesim_kernels.gemm import naive
from tilesim_kernels.launch import here

NAIVE = KernelConfig("naive", "naive", (32, 32, 32))
SMALL = Problem(64, 64, 64, tile=(32, 32, 32))


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (Problem(64, 64, 64, tile=(32, 32, 32), dtype="int8"), "the dtype is int8"),
        (Problem(64, 64, 64, tile=(96, 32, 32)), "tile_m is 96; the sides of naive's tiles must be powers"),
        (Problem(64, 64, 64, tile=(32, 32, 8)), "tile_k is 8"),
        (Problem(2**31, 64, 64, tile=(32, 32, 32)), "M is 2147483648"),
        (Problem(64, 2**28, 64, tile=(32, 32, 32)), "32 rows of B have 8589934592 elements"),
    ],
)
def test_problems_out_of_reach(problem, sentence):
    for measure in (lambda: record("naive", problem), lambda: bench(problem)):
        with pytest.raises(KernelError, match=sentence):
            measure()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"kernel": "naiv"}, "there is no kernel 'naiv'; did you mean 'naive'"),
        ({"loads": "cp.async"}, "loads is 'cp.async'; choose from tma, ptr"),
        ({"warps": 6}, "warps is 6"),
        ({"stages": -1}, "stages is -1"),
        ({"tile": (64, 64)}, r"tile is \(64, 64\); it must be a list of 3"),
        ({"overlap": "yes"}, "overlap is 'yes'; it must be true or false"),
    ],
)
def test_configurations_that_do_not_exist(changed, sentence):
    with pytest.raises(KernelConfigError, match=sentence):
        why_not(replace(KernelConfig("naive", "naive", (64, 64, 64)), **changed), Product(64, 64, 64))


def test_a_schedule_without_a_dedicated_kernel():
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


def test_a_kernel_that_takes_row_major_operands_alone(monkeypatch):
    monkeypatch.setattr(naive, "naive", SimpleNamespace(arg_names=["a", "b", "c", "K", "lda"]))
    work = jobs.job(config_named("naive-ptr", SMALL), Product.of(SMALL), Device(2), "cpu")
    a, b, c = inputs.matrices(Product.of(SMALL), "cpu", seed=1)
    work.launcher((a, b, c))
    work.launcher((torch.zeros(64, 80).bfloat16()[:, :64], b, c))
    with pytest.raises(
        KernelError, match="naive-ptr takes dense, row-major A and B and no tf32; it has no TRANS_B"
    ):
        work.launcher((a, b.T, c))


def test_a_kernel_that_does_not_exist():
    with pytest.raises(KernelError, match="no kernel 'cublass'; did you mean 'cublas'"):
        bench(SMALL, kernels=["cublass"])


def measured(name, *sizes, **options):
    """What `tilesim bench NAME` calls."""
    return getattr(import_module(f"tilesim_kernels.bench.{name}"), name)(*sizes, **options)


MEASURES = {
    name: partial(measured, name.replace("-", "_"))
    for name in commands.list_commands(None)
    if name != "choice"
} | {"record": partial(record, "naive", SMALL), "bench": partial(bench, SMALL)}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_measuring_needs_a_gpu_and_no_interpreter(measure):
    needs = "TRITON_INTERPRET is set" if torch.cuda.is_available() else "finds no NVIDIA GPU"
    with pytest.raises(KernelError, match=needs):
        measure()


def test_the_examples_of_all_kernels_hold():
    attempted = 0
    for found in walk_packages(tilesim_kernels.__path__, "tilesim_kernels."):
        done = doctest.testmod(import_module(found.name), extraglobs={"torch": torch})
        assert done.failed == 0, found.name
        attempted += done.attempted
    assert attempted > 5


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (torch.int64, (-1, stamps.WORDS)),
        (torch.int64, (0, stamps.WORDS // 2)),
        (torch.int32, (0, stamps.WORDS)),
    ],
)
@pytest.mark.parametrize("name", ["naive-tma", "persistent-ptr", "table:stream-k:3", "table:naive"])
def test_a_place_for_stamps_in_which_they_would_not_fit(name, kind, shape):
    work = jobs.job(config_named(name, SMALL), Product.of(SMALL), Device(2), "cpu")
    operands = inputs.matrices(Product.of(SMALL), "cpu", seed=1)
    few = torch.zeros(len(work.rows) + shape[0], shape[1], dtype=kind)
    with pytest.raises(KernelError, match=rf"a plan of {len(work.rows)} segments needs a dense torch.int64"):
        work.launcher(operands, few)
    every_other = torch.zeros(2 * len(work.rows), stamps.WORDS, dtype=torch.int64)[::2]
    with pytest.raises(KernelError, match="dense"):
        work.launcher(operands, every_other)
    assert operands[2].isnan().all()
