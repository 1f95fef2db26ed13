"""What the benches of ideas ask for and make of their stamps, and the host that is timed beside them."""

from contextlib import nullcontext
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from on_device import inputs, jobs, torch

from tilesim import Device
from tilesim.ideas.divergence import alternating
from tilesim_kernels import KernelError
from tilesim_kernels.bench import divergence, execution_model, strided_sum
from tilesim_kernels.bench import latency_hiding as axpy
from tilesim_kernels.bench.strided_sum import BLOCK, launch
from tilesim_kernels.measure import host


class TestAxpy:
    ENDS = np.array([[[sm, 0, 100 + w, 900 + 10 * w] for w in range(3)] for sm in (4, 7)])
    """Of two blocks of three warps: SM, rounds left, begin, end."""

    def test_a_block_takes_from_its_first_warps_begin_to_its_last_warps_end(self):
        assert axpy.cycles(self.ENDS).tolist() == [820, 820]

    @pytest.mark.parametrize(
        ("where", "value", "says"),
        [
            ((1, 2, 1), 5, "1 of 6 warps did not finish"),
            ((slice(None), slice(None), 0), 4, "2 thread blocks need an SM each, but had 1"),
            ((0, 1, 0), 5, "2 thread blocks need an SM each, but had 3"),
            ((0, 0, 3), 100, "a clock of this GPU stopped"),
        ],
    )
    def test_stamps_that_contradict_themselves_are_refused(self, where, value, says):
        ends = self.ENDS.copy()
        ends[where] = value
        with pytest.raises(KernelError, match=says):
            axpy.cycles(ends)

    def test_vectors_have_exact_sums(self):
        x, y = axpy.vectors(2, 3, 4, torch.Generator().manual_seed(0))
        assert x.shape == (4, 2, 3, axpy.VALUES) and x.dtype == torch.float32
        assert torch.equal((1.5 * x + y).double(), 1.5 * x.double() + y.double())
        assert len(x.unique()) > 10

    def test_a_gpu_gets_it_right_with_any_number_of_warps(self, gpu):
        random = gpu.torch.Generator("cuda").manual_seed(1)
        for blocks, warps, stamped in ((1, 1, True), (3, 5, False), (2, 32, True)):
            x, y = axpy.vectors(blocks, warps, 6, random)
            right = 1.5 * x.double() + y.double()
            left, stamps = axpy.launch(x, y, 1.5, stamped)
            assert gpu.torch.equal(y.double(), right)
            assert axpy.cycles(left.cpu().numpy()).shape == (blocks,)
            asked, came = np.moveaxis(stamps.cpu().numpy(), -1, 0)
            assert not stamped or (came > asked).all()


class TestHeldSMs:
    @pytest.fixture
    def busy(self, monkeypatch):
        """The bench on 5 SMs that the interpreter stands for, with what it holds and lets go in `seen`."""
        bench, busy = (import_module(f"tilesim_kernels.bench.{name}") for name in ("bench", "busy_sms"))
        seen = []

        def sample(rotations, warmup, samples, mhz):
            for name, rotation in rotations.items():
                mhz[name] = np.full(samples, 1500.0)
                rotation.before()
                seen.append(name)
                rotation.after()
            return {name: np.full(samples, 10.0) for name in rotations}

        def held(count, us):
            return SimpleNamespace(hold=lambda: seen.append(count), check=lambda: seen.append(-count))

        fakes = {
            "device": lambda ctas: Device(5), "gpu_memory": lambda product: nullcontext(),
            "HeldSMs": held, "hold_us": lambda us, count: us, "sample": sample,
            "job": lambda config, product, device: jobs.job(config, product, device, "cpu"),
            "matrices": lambda product, device, seed: inputs.matrices(product, "cpu", seed),
            "sets_beyond_l2": lambda product: 2, "capture": lambda launches: [one() for one in launches],
        }  # fmt: skip
        for module in (bench, busy):
            for name in fakes.keys() & vars(module).keys():
                monkeypatch.setattr(module, name, fakes[name])
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
        return SimpleNamespace(run=busy.busy_sms.__wrapped__, seen=seen)

    def test_are_held_while_a_kernel_is_checked_and_while_it_is_timed_and_for_no_other(self, busy):
        rows = busy.run((256, 256, 64), counts=(0, 2), samples=3)["rows"]
        blocks = {(row["kernel"], row["busy_sms"]): row["blocks"] for row in rows}
        assert len(rows) == 8 and all(row["us"] == 10 and row["relative_error"] < 5e-3 for row in rows)
        assert (blocks["persistent", 2], blocks["persistent-told", 2]) == (5, 3)
        expected = ["naive", 2, 2, 2, 2]
        for kernel in dict.fromkeys(row["kernel"] for row in rows):
            expected += [f"{kernel} 0", 2, f"{kernel} 2", -2]
        assert busy.seen == expected


class TestTheHost:
    def test_is_timed_by_ever_more_threads(self, monkeypatch):
        for name, value in {"VALUES": 2**12, "PLACES": 2**10, "HOPS": 100}.items():
            monkeypatch.setattr(host, name, value)
        before = torch.get_num_threads()
        found = host.axpy_by_threads(2)
        threads = [row["threads"] for row in found["rows"]]
        assert threads[0] == 1 and threads[-1] == found["cores"] and threads == sorted(set(threads))
        assert torch.get_num_threads() == before
        for row in found["rows"]:
            assert row["gb_per_s"] == pytest.approx(12 / row["ns"]["p50"], rel=0.01)

    def test_is_chased_through_all_places(self, monkeypatch):
        monkeypatch.setattr(host, "HOPS", 64)
        seen = []

        class Ring(list):
            def __getitem__(self, at):
                seen.append(at)
                return super().__getitem__(at)

        monkeypatch.setattr(host, "memoryview", lambda array: Ring(array.tolist()), raising=False)
        host._chase(64)()
        assert sorted(seen) == list(range(64))


class TestDivergence:
    def test_one_warp_and_many_take_every_number_of_ways(self):
        one, many = divergence.cases()
        ways = range(1, divergence.WAYS + 1)
        assert {case[:2] for case in one} == {(code, count) for code in ("branch", "loop") for count in ways}
        assert {case[2:] for case in one} == {("lanes", 1)}
        assert {case[2:] for case in many} == {("lanes", 32), ("warps", 32)}
        assert len({*one, *many}) == len(one + many)

    def test_warps_that_agree_are_asked_for_one_thing_and_each_way_is_taken(self):
        for code, count, split, warps in divergence.cases()[1]:
            asked = divergence.asked_of(code, count, split, warps).reshape(32, 32)
            assert split == "lanes" or (asked == asked[:, :1]).all()
            assert len(np.unique(asked)) == count
            least, most = (0, divergence.WAYS - 1) if code == "branch" else (1, divergence.TURNS)
            assert asked.min() >= least and asked.max() <= most <= divergence.MOST_TURNS

    def test_neighbouring_lanes_take_the_ways_in_turn_as_the_model_has_it(self):
        assert (divergence.asked_of("branch", 5, "lanes", 1) == alternating(5)).all()

    @given(st.sampled_from(["branch", "loop"]), st.integers(1, divergence.WAYS))
    def test_what_lanes_are_left_with_tells_what_each_did(self, code, count):
        asked = divergence.asked_of(code, count, "lanes", 1)
        sums = divergence.expected(code, asked)
        own = sums - np.arange(32)
        assert len(np.unique(own)) == len(np.unique(asked)) and sums.max() < 2**24  # exact in fp32
        assert code == "branch" or (np.diff(own[np.argsort(asked)]) % divergence.TURN == 0).all()

    def test_the_spans_of_a_branch_are_its_lanes(self):
        stamps, odd = np.zeros(32, divergence.STAMPS), np.arange(32) % 2
        stamps["begin"], stamps["came"], stamps["went"] = 100, 110 + 50 * odd, 150 + 50 * odd
        stamps["joined"], stamps["end"] = 210, 250
        slow, apart = stamps.copy(), stamps.copy()
        slow["joined"] += 99
        apart["joined"][3] += 1
        assert divergence.spans(2, [slow, stamps, stamps]) == [[10, 50], [60, 100]]
        assert divergence.figures("branch", [stamps])["cycles"] == 110
        assert divergence.figures("branch", [stamps, apart])["joined"] == 0.5


class TestStridedSum:
    CELLS = 4096

    @pytest.mark.parametrize("loads", [1, 4])
    @pytest.mark.parametrize("columns", [1, 2, 64, 1024])
    def test_each_block_sums_the_cells_of_its_threads(self, columns, loads):
        x = torch.randint(8, (self.CELLS,), generator=torch.Generator().manual_seed(0)).float()
        sums = torch.full((self.CELLS // BLOCK,), float("nan"))
        launch(x, sums, columns, loads)
        down = x.numpy().reshape(-1, columns).T.reshape(columns, loads, -1)  # [columns, loads, rows / loads]
        taken = down.sum(axis=1).reshape(-1, BLOCK).sum(axis=1)
        assert sums[: len(taken)].tolist() == taken.tolist()
        assert strided_sum.checked_sum(x, sums, columns, loads) == x.sum()

    def test_a_sum_that_leaves_out_a_cell_is_refused(self, monkeypatch):
        def forgetful(x, sums, columns, loads):
            launch(x, sums, columns, loads)
            sums[0] -= 1

        monkeypatch.setattr(strided_sum, "launch", forgetful)
        x, sums = torch.ones(self.CELLS), torch.empty(self.CELLS // BLOCK)
        with pytest.raises(KernelError, match="with 2 columns and 1 loads, the sum is 4095 instead of 4096"):
            strided_sum.checked_sum(x, sums, 2)

    def test_sums_of_a_block_are_exact_in_fp32(self):
        assert (strided_sum.MOST - 1) * BLOCK * max(strided_sum.LOADS) < 2**24
        cases = [BLOCK * loads * columns for columns in strided_sum.COLUMNS for loads in strided_sum.LOADS]
        assert strided_sum.CELLS % np.lcm.reduce(cases) == 0


class TestTheExecutionModel:
    def test_the_sweep_has_pairs_of_which_the_second_needs_a_byte_too_much(self):
        sweep = execution_model.sweep()
        kb = [one for _, registers, one in sweep if not registers and one]
        assert {37, 38, 56, 57, 113, 114} <= set(kb)
        assert all(registers * threads <= 65536 for threads, registers, _ in sweep)
