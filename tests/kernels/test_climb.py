"""The ladder's kernels without stamps: right by the interpreter, and as Triton compiles them for sm_90."""

import re
from dataclasses import replace

import pytest
from hopper_code import compiled
from on_device import ON_GPU, inputs, jobs, multiplied

from tilesim import Device, Problem
from tilesim.gemm import warp_specialized as of_roles
from tilesim.gemm.fit import limits_of, why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim_kernels import KernelError
from tilesim_kernels.bench import counters, l2_order, ladder
from tilesim_kernels.gemm import stages
from tilesim_kernels.launch.named import named

RAGGED = [(1, 1, 1), (33, 40, 16), (33, 67, 35)]
"""One element; and with tiles of 16 x 32 x 32, ragged on each side, several tiles and K-steps each way."""
FEW = [(1, 1, 1), (2, 7, 65), (3, 2, 33)]
"""Of few elements, as each is a program of the kernel `element`: up to three K-steps, the last ragged."""
KINDS = [("fp16", "grouped:2"), ("bf16", "column-major"), ("fp32", "hilbert")]
TILES = {name: [(16, 32, 32)] for name in ("element", "uncoalesced", "skinny")}
"""The kernels that cannot be stamped and run here, each with tiles that it can do."""
if ON_GPU:
    RAGGED = FEW = [(1, 8, 8), (300, 520, 200), (1000, 776, 1344), (16, 2048, 4096), (3000, 2504, 72)]
    KINDS = [(dtype, order) for dtype in ("bf16", "fp16") for order in ("row-major", "grouped:3", "hilbert")]
    TILES = {
        "element": [(16, 16, 64), (16, 16, 256)],
        "uncoalesced": [(64, 64, 32), (128, 128, 32)],
        "skinny": [(16, 64, 256), (32, 128, 64)],
        "warp-specialized": [(128, 256, 64), (128, 64, 64), (256, 128, 32)],
        "ping-pong": [(128, 128, 64), (64, 128, 64), (64, 64, 128)],
    }
SHARED_BYTES = limits_of("h200").shared_bytes()
GPU = Device(132)


@pytest.mark.on_device
@pytest.mark.parametrize(("name", "tile"), [(name, tile) for name, tiles in TILES.items() for tile in tiles])
@pytest.mark.parametrize(("dtype", "order"), KINDS)
def test_any_size_in_any_dtype(name, tile, dtype, order):
    for size in FEW if name == "element" else RAGGED:
        problem = Problem(*size, tile=tile, dtype=dtype, order=order)
        multiplied(problem, named(name, problem))


@pytest.mark.parametrize("tile", [(64, 128, 64), (64, 64, 128)])
def test_warp_specialized_with_one_group_of_consumers(gpu, tile):
    for m, n, k in [(1024, 1024, 1024), (300, 520, 200)]:
        problem = Problem(m, n, k, tile=tile)
        multiplied(problem, KernelConfig("warp-specialized", "persistent", tile, warps=4, stages=4))


@pytest.mark.parametrize("layout", ["nt", "tn", "tt"])
def test_skinny_takes_any_layout_and_the_others_say_that_they_do_not(layout):
    problem = Problem(40, 72, 48, tile=(16, 32, 32), dtype="fp32")
    multiplied(problem, named("skinny", problem), layout=layout)
    for name in ("element", "uncoalesced"):
        with pytest.raises(KernelError, match=f"{name} takes dense, row-major A and B"):
            multiplied(problem, named(name, problem), layout=layout)


@pytest.mark.parametrize(
    ("kernel", "changed", "problem", "sentence"),
    [
        ("warp-specialized", {}, {"dtype": "fp32"}, "multiplies fp16, bf16, fp8; the dtype is fp32"),
        ("warp-specialized", {}, {"tile": (64, 256, 64)}, "tile_m must be a multiple of 128"),
        ("warp-specialized", {}, {"tile": (256, 256, 64)}, "a tile has at most 32768 elements"),
        ("warp-specialized", {}, {"tile": (192, 128, 64)}, "three groups of 4 warps"),
        ("ping-pong", {}, {"tile": (192, 128, 64)}, "must be powers of two"),
        ("ping-pong", {}, {"tile": (128, 96, 64)}, "tile_n is 96; the sides of"),
        ("warp-specialized", {"schedule": "stream-k"}, {"tile": (128, 192, 64)}, "has under persistent"),
        ("warp-specialized", {"warps": 4}, {"tile": (32, 192, 64)}, "in tiles of 64 rows or more"),
        ("warp-specialized", {"schedule": "split-k:2"}, {}, "the schedule is split-k:2"),
        ("warp-specialized", {"warps": 16}, {}, "has 16 multiplying warps; it must be 4 or 8"),
        ("ping-pong", {}, {"tile": (128, 256, 64)}, "a tile has at most 16384 elements"),
        ("ping-pong", {}, {"tile": (128, 32, 64)}, "tile_n 64 to 256"),
        ("ping-pong", {"warps": 4}, {}, "it must be 8, four in each group"),
        ("ping-pong", {}, {"tile": (128, 128, 64)}, "which Triton's interpreter cannot run"),
    ],
)
def test_what_the_hopper_kernels_refuse(kernel, changed, problem, sentence):
    problem = replace(Problem(512, 512, 512), **problem)
    with pytest.raises(KernelError, match=sentence):
        jobs.job(replace(named(kernel, problem), **changed), Product.of(problem, "nt"), GPU)


@pytest.fixture
def launch_of(monkeypatch):
    """Makes the launch of a kernel as on an H200: launch_of(kernel, warps, problem, layout)."""
    monkeypatch.setattr(stages, "shared_bytes_here", lambda config, product: SHARED_BYTES)

    def launch_of(kernel, warps, problem, layout="nn"):
        product = Product.of(problem, layout)
        work = jobs.job(replace(named(kernel, problem), warps=warps), product, GPU)
        return work.launcher(inputs.matrices(product, "cpu", 1))

    return launch_of


@pytest.mark.parametrize("layout", ["nn", "nt", "tn"])
@pytest.mark.parametrize(
    ("kernel", "warps"), [("warp-specialized", 8), ("warp-specialized", 4), ("ping-pong", 8)]
)
def test_the_hopper_kernels_are_called_with_all_that_they_take(launch_of, kernel, warps, layout):
    tile = (64, 128, 64) if warps == 4 else (128, 128, 64)
    problem = Problem(1000, 512, 256, tile=tile, order="grouped:4")
    launch = launch_of(kernel, warps, problem, layout)
    assert launch.ctas == min(132, problem.tiles)
    names, options = launch.kernel.arg_names, dict(launch.constants)
    given = dict(zip(names, launch.arguments, strict=False)) | options
    assert options.pop("launch_pdl") and options.pop("num_stages") == launch.config.stages
    assert options.keys() <= {*names, "num_warps"}
    assert [options.pop(name, False) for name in ("TRANS_A", "TRANS_B")] == [way == "t" for way in layout]
    assert set(names) == given.keys() - {"num_warps", "num_stages", "launch_pdl"} | {"TRANS_A", "TRANS_B"}
    assert (given["M"], given["N"], given["K"], given["tile_order"]) == (1000, 512, 256, None)
    assert (given["BM"], given["BN"], given["BK"], given["ORDER"], given["GROUP_M"]) == (*tile, "grouped", 4)
    assert options["num_warps"] == (4 if kernel == "ping-pong" else warps)
    subtiles = of_roles.subtiles(launch.config, Product.of(problem), SHARED_BYTES)
    share = 4 if kernel == "ping-pong" else subtiles
    boxes = [given[name].block_shape for name in "abc"]
    wanted = [[tile[0], 64], [64, tile[1]], [tile[0], tile[1] // share]]
    assert boxes == [box[::-1] if way == "t" else box for box, way in zip(wanted, layout + "n", strict=True)]


@pytest.mark.parametrize(("k", "dependent_launch"), [(4416, False), (256, True)])
def test_kernels_whose_neighbours_share_much_are_launched_in_order(launch_of, k, dependent_launch):
    problem = Problem(144, 3904, k, tile=(64, 128, 64), order="grouped:8")
    assert launch_of("warp-specialized", 4, problem).constants["launch_pdl"] is dependent_launch


@pytest.mark.parametrize("layout", ["nn", "nt"])
def test_tiles_between_powers_of_two_are_loaded_in_two_boxes(launch_of, layout):
    problem = Problem(1024, 512, 256, tile=(192, 160, 64), order="grouped:4")
    launch = launch_of("warp-specialized", 4, problem, layout)
    a, b, c, rest = launch.arguments[:4]
    assert [a.block_shape, c.block_shape] == [[64, 64], [64, 32]]
    wanted = [[64, 128], [64, 32]]
    assert [b.block_shape, rest.block_shape] == [box[::-1] if layout == "nt" else box for box in wanted]
    assert (launch.constants["REST"], launch.constants["GROUPS"], launch.constants["BN"]) == (32, 3, 160)
    other = inputs.matrices(Product.of(problem, layout), "cpu", 2)
    bound = launch.bound_to(other, {}).arguments[:4]
    assert [x.base.data_ptr() for x in bound] == [x.data_ptr() for x in (*other, other[1])]


def test_every_step_can_be_what_it_says():
    names = [step.name for step in ladder.STEPS]
    assert len(set(names)) == len(names)
    for step in ladder.STEPS:
        assert step.change and step.why.endswith(".")
        assert not why_not(step.config, Product(4096, 4096, 4096), limits_of("h200"))


def said(counts: list[dict[str, int]], metrics: dict[str, str] = counters.METRICS) -> str:
    """What Nsight Compute says of launches with these counters."""
    lines = ["==PROF== Connected", '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    for i, launch in enumerate(counts):
        lines += [f'"{i}","k","{metrics[name]}","byte","{n:,}"' for name, n in launch.items()]
    return "\n".join(lines)


@pytest.mark.parametrize("metrics", [counters.METRICS, counters.TRAFFIC])
def test_counters_are_read_per_kernel_and_what_is_left_over_is_the_library_s(metrics):
    counts = [dict.fromkeys(metrics, n) for n in (1000, 2, 3)]
    assert counters.totals(said(counts, metrics), 3, metrics) == counts
    assert counters.totals(said(counts, metrics), 2, metrics) == [counts[0], dict.fromkeys(metrics, 5)]


@pytest.mark.parametrize(
    "text",
    ["", "==ERROR== ERR_NVGPUCTRPERM", said([{"dram_bytes": 1}]),
     said([dict.fromkeys(counters.METRICS, 1)]).replace('"1"', '"n/a"'),
     said([dict.fromkeys(counters.TRAFFIC, 1)], counters.TRAFFIC)],
)  # fmt: skip
def test_without_counters_there_are_none(text):
    assert counters.totals(text, 1) is None


def test_traffic_is_the_median_of_launches_and_nothing_without_counters(monkeypatch):
    launches = [dict.fromkeys(counters.TRAFFIC, count) for count in (40, 10, 20, 1, 3, 2)]
    launches[2]["l2_hit_sectors"] = 15
    monkeypatch.setattr(l2_order, "counted", lambda contenders, metrics: launches[: len(contenders)])
    contender = Product(256, 256, 64), named("naive-tma", Problem(256, 256, 64))
    first, second = l2_order.traffic([contender, contender])
    assert (first["dram_read_bytes"], first["l2_hit_sectors"], second["dram_read_bytes"]) == (20, 15, 2)
    assert (first["l2_bytes"], first["l2_hit_rate"], second["l2_hit_rate"]) == (640, 0.75, 1.0)
    monkeypatch.setattr(l2_order, "counted", lambda contenders, metrics: [{} for _ in contenders])
    assert l2_order.traffic([contender]) == [{}]


COMPILE = """
from tilesim_kernels.gemm import ping_pong, uncoalesced, warp_specialized as roles

name = sys.argv[1]
def specialized(tile, stages, subtiles, warps, boxes, **values):
    BM, BN, BK = tile
    usual = dict(BM=BM, BN=BN, BK=BK, STAGES=stages, EPILOGUE_SUBTILES=subtiles, SPLIT=False, SWAP=False)
    return roles.warp_specialized, boxes, usual | values, warps

wide = (128, 256, 64), 4, 2, 8, dict(a=(128, 64), b=(64, 256), c=(128, 128))
three = (192, 128, 64), 4, 1, 4, dict(a=(64, 64), b=(64, 128), c=(64, 128))
two_parts = (192, 192, 64), 4, 6, 4, dict(a=(64, 64), b=(64, 128), b_rest=(64, 64), c=(64, 32))
swapped = (16, 64, 128), 5, 1, 4, dict(a=(16, 128), b=(128, 64), c=(16, 64))
kernel, boxes, values, warps = {
    "warp-specialized": specialized(*wide),
    "warp-specialized-split": specialized(*wide, SPLIT=True),
    "warp-specialized-three": specialized(*three, SPLIT=True, GROUPS=3),
    "warp-specialized-two-parts": specialized(*two_parts, GROUPS=3, REST=64),
    "warp-specialized-swapped": specialized(*swapped, SPLIT=True, SWAP=True),
    "ping-pong": (ping_pong.ping_pong, dict(a=(128, 64), b=(64, 128), c=(128, 32)),
                  dict(BM=128, BN=128, BK=64, STAGES=6), 4),
    "uncoalesced": (uncoalesced.uncoalesced, {}, dict(BM=128, BN=128, BK=32, PRECISION="ieee"), 8),
}[name]
usual = dict(ORDER="grouped", GROUP_M=8, TRANS_A=False, TRANS_B=False, GROUPS=1, REST=0)
values = usual | dict(stamps=None, RECORD=False) | values
if "b_rest" not in boxes:
    values["b_rest"] = None
types, constants, hints = {}, {}, {}
for i, argument in enumerate(kernel.arg_names):
    if argument in values:
        types[argument], constants[i,] = "constexpr", values[argument]
    elif argument in boxes:
        layout = gl.NVMMASharedLayout.get_default_for(list(boxes[argument]), gl.bfloat16)
        types[argument] = f"tensordesc<bf16{list(boxes[argument])},{layout!r}>"
    else:
        pointers = dict(tile_order="*i32", flags="*i32", partials="*fp32") | dict.fromkeys("abc", "*bf16")
        types[argument] = pointers.get(argument, "i32")
        if argument != "stride":
            hints[i,] = [["tt.divisibility", 16]]
source = (GluonASTSource if boxes else ASTSource)(kernel, types, constants, hints)
made = compile(source, target=HOPPER, options=dict(num_warps=warps, num_stages=1))
print(made.asm[sys.argv[2]])
"""


@pytest.mark.parametrize(
    ("name", "products"),
    [
        ("warp-specialized", 4),
        ("warp-specialized-split", 4),
        ("warp-specialized-swapped", 8),
        ("warp-specialized-three", 12),
        ("warp-specialized-two-parts", 24),
        ("ping-pong", 16),
    ],
)
def test_warps_part_and_wait_for_the_predecessor_before_they_load(name, products):
    ptx = compiled(COMPILE, name, "ptx")
    assert ptx.count("wgmma.mma_async") == products
    assert re.search(r"setmaxnreg\.dec\.sync\.aligned\.u32\s+24", ptx)
    load = ptx.index("cp.async.bulk.tensor.2d.shared")
    assert ptx.index("griddepcontrol.launch_dependents") < load
    assert "griddepcontrol.wait" in ptx[:load]


def test_uncoalesced_loads_go_down_columns():
    ttgir = compiled(COMPILE, "uncoalesced", "ttgir")
    layouts = dict(re.findall(r"^(#blocked\d*) = (.*)$", ttgir, re.MULTILINE))
    a, b = re.findall(r"tt\.load.*tensor<(\d+x\d+)x!tt\.ptr<bf16>, (#blocked\d*)>", ttgir)
    # along which dimension the rows of A's block lie
    way = {"128x32": "threadsPerWarp = [32, 1]", "32x128": "threadsPerWarp = [1, 32]"}[a[0]]
    assert way in layouts[a[1]] and way in layouts[b[1]]
