"""Warps, stages and epilogue subtiles that nobody gave: as many as fit, the same for compared kernels."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from on_device import torch

from tilesim import Problem
from tilesim.devices.gpus import features_of
from tilesim.gemm.fit import BARRIER_BYTES, RESERVED_BYTES, Limits, limits_of, stages_that_fit
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim_kernels import KernelError
from tilesim_kernels.launch import here as of_this_machine
from tilesim_kernels.launch import named as suiting
from tilesim_kernels.launch import operands as inputs

SIDES = st.sampled_from([16, 32, 64, 128, 256])


def pipeline(tile, *more, dtype="bf16", **options):
    return suiting.pipeline(Product(4096, 4096, 4096, dtype), tile, *more, **options)


@pytest.mark.parametrize(
    ("tile", "ctas_per_sm", "given", "expected"),
    [
        ((128, 256, 64), 1, {}, (8, 3, 1)),
        ((128, 128, 64), 1, {}, (4, 6, 1)),
        ((128, 128, 64), 2, {}, (4, 3, 2)),  # beside all of C only two stages fit
        ((128, 128, 64), 2, {"dtype": "fp8"}, (4, 5, 1)),
        ((256, 256, 128), 1, {"dtype": "fp32"}, (8, 1, 2)),  # which fits no GPU, and Triton says so
        ((128, 128, 64), 2, {"warps": 8, "stages": 2}, (8, 2, 1)),
        ((128, 128, 64), 2, {"stages": 3}, (4, 3, 2)),
        ((128, 128, 64), 2, {"epilogue_subtiles": 1}, (4, 2, 1)),
        ((128, 256, 64), 1, {"epilogue_subtiles": 2}, (8, 4, 2)),
    ],
)
def test_what_suits_a_tile_and_what_is_given(tile, ctas_per_sm, given, expected):
    assert pipeline(tile, ctas_per_sm, **given) == expected


@given(SIDES, SIDES, SIDES, st.sampled_from(sorted(inputs.DTYPES)), st.integers(1, 4))
def test_it_fits_as_often_as_was_asked_for(m, n, k, dtype, ctas_per_sm):
    warps, stages, subtiles = pipeline((m, n, k), ctas_per_sm, dtype=dtype)
    limits = limits_of("h200")
    available = limits.shared_bytes(ctas_per_sm)

    def fit(subtiles):
        one = KernelConfig("persistent", "persistent", (m, n, k), epilogue_subtiles=subtiles)
        return stages_that_fit(one, Product(4096, 4096, 4096, dtype), available)

    assert 1 <= stages <= suiting.MAX_STAGES and warps in (4, 8) and subtiles in (1, 2)
    assert stages == 1 or stages <= fit(subtiles)
    assert subtiles == 1 or fit(1) < suiting.MIN_STAGES
    assert ctas_per_sm * (available + BARRIER_BYTES + RESERVED_BYTES) <= limits.sm_bytes
    if stages < suiting.MAX_STAGES and subtiles == 1:
        assert fit(subtiles) in (stages, 0)


def test_another_gpu_has_other_shared_memory(monkeypatch):
    here = SimpleNamespace(shared_memory_per_block_optin=101376, shared_memory_per_multiprocessor=102400)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: here)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 9))
    monkeypatch.setattr(of_this_machine, "INTERPRETED", False)
    assert pipeline((128, 256, 64)) == (8, 1, 2)
    assert pipeline((64, 64, 64)) == (4, 5, 1)
    assert of_this_machine.limits() == Limits(101376, 102400, features_of("8.9"))
    why = "has no TMA, which came with sm_90"
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some GPU")
    assert of_this_machine.no_tma(Product(64, 64, 64)) == f"Some GPU {why}"
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    assert of_this_machine.no_tma(Product(64, 64, 64)) == ""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert of_this_machine.limits() is None


PROBLEM = Problem(1024, 1024, 1024, (128, 256, 64), order="grouped:4")


@pytest.mark.parametrize(
    ("name", "given", "made"),
    [
        ("naive-ptr", {}, "naive naive, 8 warps 3 stages ptr"),
        ("naive-tma", {"warps": 4, "stages": 2}, "naive naive, 4 warps 2 stages tma"),
        (
            "persistent-tma-overlap-split",
            {},
            "persistent persistent, 8 warps 4 stages tma overlap 2 subtiles",
        ),
        ("table:stream-k", {}, "table stream-k, 8 warps 3 stages tma overlap"),
        ("table:stream-k", {"ctas_per_sm": 2}, "table stream-k, 8 warps 1 stages tma overlap 2 subtiles"),
        ("skinny", {"warps": 8, "stages": 2}, "skinny naive, 8 warps 2 stages tma"),
        ("ping-pong", {}, "ping-pong persistent, 8 warps 6 stages tma overlap"),
    ],
)
def test_what_names_of_kernels_stand_for(name, given, made):
    assert str(suiting.named(name, PROBLEM, **given)) == made.replace(",", " 128x256x64 grouped:4")


def test_what_is_no_kernel_s_name():
    with pytest.raises(KernelError, match="no kernel 'naive'; did you mean 'naive-tma'"):
        suiting.named("naive", PROBLEM)
    with pytest.raises(KernelError, match=r"table:SCHEDULE$"):
        suiting.named("other", PROBLEM)
    with pytest.raises(KernelError, match="the kernel is 'own'; it must be 'dedicated' or 'table'"):
        suiting.recordable("own", "naive", PROBLEM)
    for schedule in ("stream-k", "table", "ping-pong"):
        with pytest.raises(KernelError, match=f"no dedicated kernel for the schedule '{schedule}'"):
            suiting.recordable("dedicated", schedule, PROBLEM)
