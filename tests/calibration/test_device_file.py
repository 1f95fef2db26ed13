"""A device file from runs: a suite that was simulated on a made-up GPU gives its constants and costs back."""

import json
import sys
from dataclasses import replace

import pytest
from command_line import said
from recordings import DATA

from tilesim import Costs, Device, Problem, simulate
from tilesim.calibration.device_file import device_entry
from tilesim.calibration.suite import suite
from tilesim.devices.facts import published, values
from tilesim.devices.presets import adding, discard, facts, presets
from tilesim.errors import DeviceError, TilesimError
from tilesim.kernel_config import KernelConfig
from tilesim.kernel_costs.default import default_costs, shipped
from tilesim.traces import Trace

SPEC = {
    "source": "made up", "sms": 78, "max_sm_mhz": 1500, "tensor_mhz": 1500, "l2_mb": 40,
    "memory_gb_per_s": 2000, "peak_tflops": {"bf16": 400},
}  # fmt: skip
BLANK = {"title": "My GPU", "short": "My GPU", "architecture": "hopper", "facts": [SPEC]}
TRUE = {
    "l2_latency": 240, "dram_latency": 600, "l2_gb_per_s": 5000, "l2_apart_gb_per_s": 4500,
    "l2_merged_gb_per_s": 9000, "dram_read_gb_per_s": 1800,
}  # fmt: skip
REAL = BLANK | {"facts": [SPEC, {"source": "made up"} | TRUE]}
NEAR = {"l2_apart_gb_per_s": 0.05, "l2_merged_gb_per_s": 0.08}
"""How near constants come back, where not within 2 %: calibration sees main loops at the pace that they had,
the engine plans their loads at that of tensor cores, and what is merged depends on which loads meet."""


def played(run, device):
    """A run of the suite as a recorder notes it, and the costs that it had."""
    on = Device.named(device, ctas_per_sm=run.ctas_per_sm)
    costs = default_costs(run.schedule, run.problem, on)
    costs = replace(costs, stages=run.stages or costs.stages)
    made = simulate(run.schedule, run.problem, on, costs)
    kernel = "table" if run.kernel == "table" else run.schedule
    config = KernelConfig(kernel, run.schedule, (1, 1, 1), overlap=run.schedule != "naive")
    meta = {**made.meta, "kernel": config.name, "warps": 8, "stages": costs.stages}
    meta["date"] = f"2026-07-0{1 + len(run.name) % 3}"
    nameless = replace(made.device, name="")
    return replace(made, device=nameless, meta=meta), costs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What `tilesim record --suite` leaves on such a GPU."""
    path = tmp_path_factory.mktemp("suite") / "my-gpu"
    path.mkdir()
    with adding("real", REAL):
        for run in suite(values(facts("real"))):
            played(run, "real")[0].save(path / f"{run.name}.npz")
    (path / "device.json").write_text(json.dumps(BLANK))
    return path


@pytest.fixture(scope="module")
def fitted(folder, tmp_path_factory):
    """(the device file from that folder, what the command says that writes it)."""
    own = tmp_path_factory.mktemp("fitted") / "mine.json"
    return own, said("calibrate", folder, "--device-file", own)


@pytest.fixture(scope="module")
def made(fitted):
    """The entry in that file."""
    return json.loads(fitted[0].read_text())


def test_without_scipy_the_error_names_the_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    traces = {path.stem: Trace.load(path) for path in sorted(folder.glob("naive*.npz"))}
    with pytest.raises(DeviceError, match=r"needs SciPy"):
        device_entry("mine", BLANK, traces, {})


@pytest.mark.parametrize("name", [name for name in TRUE if name != "l2_gb_per_s"])
def test_constants_come_back(made, name):
    found = published(made)[name]
    assert found.source == "tilesim calibrate"
    assert found.note == "fitted to 24 runs on 78 SMs, 2026-07-01 to 2026-07-03"
    assert found.value == pytest.approx(TRUE[name], rel=NEAR.get(name, 0.02))


def test_stage_times_come_back(made):
    with adding("real", REAL), adding("mine", made):
        fitted = {}
        for one in shipped("mine"):
            config = one.kernel.config
            fitted[config.schedule or "stream-k", config.tile, one.kernel.ctas_per_sm] = one.costs
        for one in suite(values(facts("real")))[:19]:
            true, found = played(one, "real")[1], fitted[one.schedule, one.problem.tile, one.ctas_per_sm]
            assert found.overlap == true.overlap and found.stages == true.stages
            for name in ("epilogue", "tile_gap" if one.schedule != "naive" else "prologue"):
                assert getattr(found, name) == pytest.approx(getattr(true, name), rel=0.1, abs=40), name


def test_runs_that_wait_for_their_loads_give_no_costs_to_others(made):
    assert 2 not in {one["stages"] for one in made["costs"]} and len(made["costs"]) == 9


def test_runs_that_show_no_constant_leave_all_as_they_were(folder):
    traces = {"one": Trace.load(folder / "naive-wide-long.npz")}
    entry, fitted, _ = device_entry("mine", BLANK, traces, {})
    assert entry["facts"] == BLANK["facts"] and len(fitted) == 1


def test_commands_take_the_costs_of_the_file(fitted, tmp_path):
    own, text = fitted
    assert text.startswith("My GPU\n") and "fitted to 24 runs" in text
    assert "costs of 9 kernels\n" in said("info", own)
    assert len(json.loads(said("info", own, "--json"))["calibrations"]) == 9
    trace = tmp_path / "run.npz"
    told = json.loads(said("simulate", "persistent", "--device", own, "--json", "-o", trace))
    assert told["costs"]["device"] == "mine" and "persistent" in told["costs"]["source"]
    assert told["badge"] == "My GPU timings"
    assert "bound by" in said("explain", trace)
    discard("mine")  # which the trace has told to this process


def test_a_kernel_that_the_file_lacks_has_the_h200_s_overheads(made):
    few = made | {"costs": [one for one in made["costs"] if one["schedule"] == "naive"]}
    with adding("few", few):
        assert len(shipped("few")) == 3
        costs = default_costs("persistent", Problem(512, 512, 128), Device.named("few"))
        assert (costs.device, costs.scaled_to) == ("h200", "few")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"costs": [5]}, "a calibration is 5; it must be an object"),
        ({"costs": {}}, "costs is {}; it must be a list"),
        ({"costs": [{"schedule": "naive"}]}, "a calibration lacks dtype, tile, ctas_per_sm and costs"),
        ({"costs": [{"colour": 1}]}, "there is no field of a calibration 'colour'"),
    ],
)
def test_costs_that_are_none_are_refused(changes, words, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(BLANK | changes))
    sentence = said("plan", "naive", "--device", path, code=2)
    assert sentence.startswith(f"error: {path}: ") and words in sentence and "mine" not in presets()


def test_an_unknown_cost_is_refused(made, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(made | {"costs": [made["costs"][0] | {"costs": {"epilog": 5}}]}))
    sentence = said("plan", "naive", "--device", path, code=2)
    assert "there is no field of the costs 'epilog'; did you mean 'epilogue'?" in sentence


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--memory", "x.json"), "--device and --memory need --device-file"),
        (("--device-file", "a.json", "-o", "b.json"), "give one of the two"),
        (("--device-file", "a b.json"), "a device is called as its file is"),
        (("--device-file", "mine.npz"), "a device is written as .json"),
    ],
)
def test_wrong_usage(args, words, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in said("calibrate", folder, *args, code=2)
    assert not list(tmp_path.iterdir())


def test_runs_of_two_devices_are_refused(folder, tmp_path):
    other = tmp_path / "other.npz"
    simulate("naive", Problem(512, 512, 128), Device.named("a100")).save(other)
    first = folder / "dram.npz"
    for extra in ((), ("--device-file", tmp_path / "mine.json")):
        expected = "of NVIDIA A100 SXM with 108 SMs; fit the runs of one GPU at a time"
        assert expected in said("calibrate", first, other, *extra, code=1)
    assert not (tmp_path / "mine.json").exists()


@pytest.mark.parametrize("text", ["{", '{"latency": []}'])
def test_figures_of_a_memory_that_are_none_are_refused(text, folder, tmp_path):
    path = tmp_path / "memory.json"
    path.write_text(text)
    words = "calibrate", folder, "--device-file", tmp_path / "mine.json", "--memory", path
    assert said(*words, code=1).startswith(f"error: {path}: ")
    assert not (tmp_path / "mine.json").exists()


def test_what_bench_memory_left_in_the_folder_is_taken(folder, tmp_path):
    beside = tmp_path / "runs"
    beside.mkdir()
    for name in ("device.json", "naive-wide-long.npz"):
        (beside / name).write_bytes((folder / name).read_bytes())
    (beside / "memory.json").write_text((DATA / "memory/h200.json").read_text("utf-8"))
    own = tmp_path / "mine.json"
    base = BLANK | {"facts": [SPEC | {"memory_gb_per_s": 4800}]}
    (beside / "device.json").write_text(json.dumps(base))
    said("calibrate", beside, "--device-file", own)
    known = published(json.loads(own.read_text()))
    assert known["l2_latency"].source == "tilesim bench memory"
    assert {name for name, fact in known.items() if fact.source == "tilesim bench memory"} >= set(TRUE)


def test_a_device_of_other_sms_is_refused(folder):
    traces = {"dram.npz": Trace.load(folder / "dram.npz")}
    with pytest.raises(DeviceError, match=r"dram.npz ran on 78 SMs, and the device has 80"):
        device_entry("mine", BLANK | {"facts": [SPEC | {"sms": 80}]}, traces, {})


def test_runs_of_an_unknown_gpu_need_its_facts(tmp_path):
    path = tmp_path / "run.npz"
    simulate("naive", Problem(512, 512, 128), Device(4), Costs()).save(path)
    words = "calibrate", path, "--device-file", tmp_path / "mine.json"
    assert "does not say on which GPU it ran; give --device" in said(*words, code=1)


@pytest.mark.parametrize("change", [{"l2_gb_per_s": 1000}, {"colour": 5}, {"sms": None}])
def test_facts_that_cannot_be_are_refused(change, folder):
    traces = {"dram.npz": Trace.load(folder / "dram.npz")}
    with pytest.raises(TilesimError):
        device_entry("mine", BLANK | {"facts": [SPEC | change]}, traces, {})


def test_an_empty_folder_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "there is no .npz in this folder" in said("calibrate", tmp_path / "empty", code=2)
