"""Small kernels, and the host beside them: what they leave is read with care, and a GPU gets it right."""

import numpy as np
import pytest
from on_device import torch

from tilesim_kernels import KernelError
from tilesim_kernels.bench import latency_hiding as axpy
from tilesim_kernels.measure import host


def ends(change=lambda made: None):
    """Of two blocks of three warps: SM, rounds left, begin, end."""
    made = np.array([[[sm, 0, 100 + w, 900 + 10 * w] for w in range(3)] for sm in (4, 7)])
    change(made)
    return made


def test_a_block_takes_from_its_first_warps_begin_to_its_last_warps_end():
    assert axpy.cycles(ends()).tolist() == [820, 820]


@pytest.mark.parametrize(
    "where, value, says",
    [
        ((1, 2, 1), 5, "1 of 6 warps did not finish"),
        ((slice(None), slice(None), 0), 4, "2 thread blocks need an SM each, but had 1"),
        ((0, 1, 0), 5, "2 thread blocks need an SM each, but had 3"),
        ((0, 0, 3), 100, "a clock of this GPU stopped"),
    ],
)
def test_stamps_that_contradict_themselves_are_refused(where, value, says):
    with pytest.raises(KernelError, match=says):
        axpy.cycles(ends(lambda made: made.__setitem__(where, value)))


def test_vectors_have_exact_sums():
    x, y = axpy.vectors(2, 3, 4, torch.Generator().manual_seed(0))
    assert x.shape == (4, 2, 3, axpy.VALUES) and x.dtype == torch.float32
    assert torch.equal((1.5 * x + y).double(), 1.5 * x.double() + y.double())
    assert len(x.unique()) > 10


def test_the_host_is_timed_by_ever_more_threads(monkeypatch):
    monkeypatch.setattr(host, "VALUES", 2**12)
    monkeypatch.setattr(host, "PLACES", 2**10)
    monkeypatch.setattr(host, "HOPS", 100)
    before = torch.get_num_threads()
    found = host.axpy_by_threads(2)
    threads = [row["threads"] for row in found["rows"]]
    assert threads[0] == 1 and threads[-1] == found["cores"] and threads == sorted(set(threads))
    assert torch.get_num_threads() == before
    for row in found["rows"]:
        assert row["gb_per_s"] == pytest.approx(12 / row["ns"]["p50"], rel=0.01)


def test_a_chase_goes_through_all_places(monkeypatch):
    monkeypatch.setattr(host, "HOPS", 64)
    seen = []

    class Ring(list):
        def __getitem__(self, at):
            seen.append(at)
            return super().__getitem__(at)

    monkeypatch.setattr(host, "memoryview", lambda array: Ring(array.tolist()), raising=False)
    host._chase(64)()
    assert sorted(seen) == list(range(64))


def test_a_cores_caches_are_those_for_data_that_it_does_not_share(tmp_path):
    for number, (level, kind, size) in enumerate(
        [(1, "Data", "48K"), (1, "Instruction", "32K"), (2, "Unified", "2048K"), (3, "Unified", "307200K")]
    ):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    assert host.cache_bytes(tmp_path) == 1024 * (48 + 2048)
    assert host.cache_bytes(tmp_path / "none") == 0


def test_a_gpu_gets_it_right_with_any_number_of_warps(gpu):
    random = gpu.torch.Generator("cuda").manual_seed(1)
    for blocks, warps, stamped in ((1, 1, True), (3, 5, False), (2, 32, True)):
        x, y = axpy.vectors(blocks, warps, 6, random)
        right = 1.5 * x.double() + y.double()
        left, stamps = axpy.launch(x, y, 1.5, stamped)
        assert gpu.torch.equal(y.double(), right)
        assert axpy.cycles(left.cpu().numpy()).shape == (blocks,)
        asked, came = np.moveaxis(stamps.cpu().numpy(), -1, 0)
        assert not stamped or (came > asked).all()
