"""The benches of `tilesim bench NAME`, as data: each is measured by kernels/bench/NAME.py."""

import click

from tilesim.cli.arguments.options import count_option, samples_option, sizes_option
from tilesim.cli.arguments.parameter_types import TILE_SHAPE, Whole
from tilesim.cli.output import bench_rows as rows
from tilesim.cli.output.reports import Bench, Table, derived, product_times
from tilesim.cli.output.tables import NOT_COUNTED

CLOCKS = "clock {sm_mhz} MHz, global timer steps by {tick_ns} ns"
MEDIANS = "median of each repeat, ns {low_ns:.1f} to {high_ns:.1f}"
KERNEL = "kernel | times | with host | error"
IN_FLIGHT = " | ".join(f"{i} {{stages_{i}:.0f}}" for i in range(1, rows.MOST_STAGES + 1))

BENCHES = [
    Bench(
        "bank-conflicts",
        """What sums do to the banks of shared memory, counted.

        Nsight Compute must be there, and allowed to read the GPU's counters.""",
        Table(
            "of a thread block {name} | load wavefronts {load_wavefronts:.2f}"
            " | store wavefronts {store_wavefronts:.2f}"
            " | instructions {instructions:.1f} | at work {at_work:.1f}/32",
            derived(rows.per_block),
        ),
    ),
    Bench(
        "busy-sms",
        """Kernel times while another kernel holds some of the SMs.

        By naive, persistent and dynamic persistent kernels, and by a persistent one that is told how many SMs
        are free, so that it launches no thread block too many.""",
        Table(
            "product {m}x{n}x{k} | kernel | SMs held {busy_sms} | blocks | times | times {over_free:.2f}",
            rows.over_free,
        ),
        options=[
            sizes_option("M, N and K; repeat it for several.  [4224x4096x4096]", TILE_SHAPE),
            click.option(
                *("--busy-sms", "counts"),
                type=Whole(0),
                multiple=True,
                metavar="COUNT",
                help="SMs to hold; repeat it for several.  [0, 1, 4, 10, 20, 40, 66]",
            ),
            samples_option("kernel", 50),
        ],
    ),
    Bench(
        "coalescing",
        """What it costs to load down columns, in fp32 and tf32.

        An article's product, 8192x6144x4096 in tiles of 64, by loads down columns and along rows.""",
        Table(
            "kernel {kernel} {dtype} | ms {us:.3f/1000} | p20 {p20:.3f/1000} | p80 {p80:.3f/1000}"
            " | TFLOP/s {tflops:.2f} | bound | limit {limit_tflops:.1f} | DRAM MB {dram_bytes:.1f/1e6}"
            " | sectors a load {sectors_per_request} | spilled GB {spilled_bytes:.2f/1e9}",
            rows.article_first,
        ),
        options=[samples_option("kernel", 20)],
    ),
    Bench(
        "divergence",
        """What it costs when lanes of a warp take different ways.

        A branch and a loop that a warp's lanes, or whole warps, take in 1 to 32 ways.""",
        Table(
            "code | ways | by {split} | warps | cycles {cycles:.0f} | p20 {p20:.0f} | p80 {p80:.0f}"
            " | tail {tail_cycles:.0f} | joined {joined:.0%} | issued | active lanes {active:.2f}",
            derived(lambda row: {"active": row["of_threads"] / row["issued"]} if row["issued"] else {}),
        ),
        options=[count_option("launches", "Launches of each case.", 20)],
    ),
    Bench(
        "execution-model",
        """How many thread blocks an SM holds at once, and of which kernels.

        By stamps and by the driver, over threads, registers and shared memory, and of compiled products.""",
        rows.residents_seen,
        Table("kernel {name} | threads | registers | shared {shared_bytes} | driver | seen", rows.resources),
    ),
    Bench(
        "fusion",
        """A chain of functions, as one kernel each and as one for all.

        By PyTorch's kernels one by one, by torch.compile's and by tilesim's, beyond the L2, within it and on
        next to nothing; then a product with bias and relu after it or in its epilogue.""",
        Table(
            f"elements | functions | {KERNEL} | DRAM MB {{dram_bytes:.1f/1e6}}", derived(rows.dram_traffic)
        ),
        Table(f"product {{m}}x{{n}}x{{k}} {{dtype}} | {KERNEL}", "products"),
        lambda report: report["left_out"].values(),
        options=[samples_option("kernel", 50)],
    ),
    Bench(
        "l2-order",
        """One kernel, tiles row by row, in groups, and along a Hilbert curve.

        It multiplies 8192x8192x8192 and 8192x8192x512 in bf16, and the larger one without a pause, too.""",
        Table("size | order | times | traffic"),
        Table(
            "order | µs without a pause {us:.1f} | J {joules:.3f} | W {watts:.0f} | MHz {sm_mhz:.0f}",
            "without_pause",
        ),
        options=[samples_option("order", 50)],
    ),
    Bench(
        "ladder",
        "Every step from one program per element to the fastest kernels, cuBLAS beside them.",
        "a large torch.mm: {peak_tflops[measured]} TFLOP/s;"
        " a large copy: {bandwidth_gb_per_s[measured]} GB/s",
        Table(
            "size | step | name | times | TFLOP/s | of peak {of_peak:.1f} % | MHz | error"
            " | DRAM MB {dram_bytes:.1f/1e6}{model}",
            rows.shares_of_peak,
        ),
        lambda report: [f"left out: {what}: {why}" for what, why in report["left_out"].items()],
        options=[
            sizes_option("M, N and K; repeat it for several.", TILE_SHAPE),
            click.option(
                "--dtype", type=click.Choice(["bf16", "fp16"]), default="bf16", help="Of A, B and C.  [bf16]"
            ),
            samples_option("kernel", 50),
        ],
    ),
    Bench(
        "latency-hiding",
        """y = a * x + y by 1 to 32 warps of an SM.

        On one SM and on all, each warp waits for its own loads. Beside it: the same by threads of the host,
        and a product's K-steps by one and two thread blocks an SM.""",
        Table(
            "SMs {sms} | warps | cycles an element {cycles[*]:.4f} | bytes a clock {bytes_per_clock:.2f}"
            " | wait {wait[*]:.0f}"
        ),
        "\nhost: {host[name]}, {host[cores]} cores, a load {host[latency_ns]} ns",
        Table(
            "threads | ns an element {ns[*]:.4f} | GB/s {gb_per_s:.1f}", lambda report: report["host"]["rows"]
        ),
        Table(
            "thread blocks an SM {blocks} | stages | a K-step takes each, ns {k_step_ns}"
            " | cycles {k_step_cycles}",
            "blocks",
        ),
        options=[count_option("repeats", "Repeats of each case.", 9)],
    ),
    Bench(
        "launch-latency",
        """What a launch takes the host, a stream, a graph and an SM.

        The caller's thread; from one kernel to the next in a stream, and in a CUDA graph; and from a thread
        block to its successor. Then 30 products, called one by one, queued, and as a CUDA graph.""",
        CLOCKS,
        Table(
            f"launch | of {{what}} | blocks | ns {{ns[*]:.1f}} | mean {{mean_ns:.1f}} | count | {MEDIANS}",
            derived(rows.median_range),
        ),
        Table("products | M, N, K {size} | how | µs {us[*]:.1f}", "together"),
        options=[count_option("repeats", "Repeats of the whole sweep.", 9)],
    ),
    Bench(
        "loop-unrolling",
        """What it wins to unroll a loop.

        Of a sum with 1 to 16 loads a turn, which go together and whose values are then checked or not, or
        each of which waits for the check of the one before; and of 1 to 16 chains of multiply-adds.""",
        Table(
            "values {n} | warps | loads | factor | GB/s {gb_per_s:.1f} | p20 {p20:.1f} | p80 {p80:.1f}"
            " | issued",
            derived(lambda row: {"issued": row["issued"] or NOT_COUNTED}),
        ),
        Table(
            "warps | chains {factor} | cycles a multiply-add {cycles:.3f} | p20 {p20:.3f} | p80 {p80:.3f}",
            "chains",
        ),
        options=[count_option("launches", "Launches of each case.", 10)],
    ),
    Bench(
        "memory",
        """Latencies and bandwidths of shared memory, L2 and DRAM.

        A pointer chase, and reads, writes and copies by all SMs, over growing footprints; lines that several
        SMs read at the same time; operand tiles by TMA and by cp.async, with one to six in flight; and the
        tensor cores on operands that stand in shared memory.""",
        rows.constants,
        Table(
            "a pointer chase {where} | order | cycles {cycles[*]:.1f} | ns {ns[p50]:.1f}"
            " | MHz {sm_mhz[p50]:.0f}",
            derived(rows.chased, "latency"),
        ),
        Table(
            "all SMs {what} | from {source} | GB/s {gb_per_s[*]:.0f}"
            " | bytes a clock and SM {bytes_per_clock[p50]:.1f}",
            rows.read_by_all,
        ),
        "\ncycles a stage, by how many are in flight",
        Table(f"tile | by | from {{source}} | SMs {{sms}} | together | {IN_FLIGHT}", rows.by_stages),
        Table(
            "tile | dtype | warps | blocks {ctas_per_sm} | MACs a clock and SM {macs_per_clock[*]:.1f}"
            " | MHz {sm_mhz[p50]:.0f}",
            "multiplying",
        ),
        Table("tile | beside loads by {by} | a K-step, cycles {cycles[p50]:.1f}", "contention"),
        Table("shared memory, bytes a clock and SM {bytes_per_clock[p50]:.1f}", "shared_reads"),
        options=[count_option("repeats", "Repeats of the whole sweep.", 5)],
    ),
    Bench(
        "memory-hierarchy",
        """Bytes that a product asks for, and from where they come.

        Cubes of 2048, 4096 and 8192 in bf16, one thread block a tile.""",
        Table("size | times | asked MB {requested_bytes:.0f/1e6} | traffic"),
        options=[samples_option("size", 50)],
    ),
    Bench(
        "pipelining",
        "What it wins to load K-steps ahead: 2048x2048x2048 in bf16 with 1, 2, 3 and 4 stages.",
        Table("stages | times | TFLOP/s | K-step ns {k_step_ns:.1f} | cycles {k_step_cycles:.1f}"),
        options=[samples_option("kernel", 100)],
    ),
    Bench(
        "reductions",
        "Five ways to sum a vector, each better by one idea, beside a copy and torch.sum.",
        Table(
            "values {n} | sum {name} | times | GB/s {gb_per_s:.1f} | of copy {share_of_copy:.1%}"
            " | relative error {relative_error:.1e}"
        ),
        lambda report: ["", *dict.fromkeys(f"{row['name']}: {row['why']}" for row in report["rows"])],
        options=[
            sizes_option(
                "Values of fp32 to sum; repeat it for several.  [2^20, 2^24, 2^28]",
                Whole(1),
                metavar="VALUES",
            ),
            samples_option("step", 100),
        ],
    ),
    Bench(
        "sm-order",
        """Which SM gets which thread block of a launch.

        Finds the groups of SMs that are served in turn, and in how many launches they explain the order:
        cold, back to back and after a full GPU.""",
        rows.sm_groups,
        Table(
            "launched | blocks/SM {blocks_per_sm} | launches | alike | explained | begin with SMs {begin}",
            derived(rows.beginnings),
        ),
        options=[count_option("launches", "Launches of each kind.", 200, 2, 10_000)],
    ),
    Bench(
        "split-k-and-friends",
        "Nine schedules where the last wave is nearly empty: 165, 133, 297 and 512 tiles in bf16.",
        product_times,
        options=[samples_option("plan", 100)],
    ),
    Bench(
        "strided-sum",
        """One sum of a table, along its rows and down its columns.

        Of 67 million fp32 numbers, neighboring threads take numbers 1, 2, 4 ... apart, 1 to 16 at a time.""",
        Table(
            "columns | loads | times | GB/s {gb_per_s:.0f} | sectors asked {load_sectors}"
            " | DRAM MB {dram_read_bytes:.0f/1e6}",
        ),
        options=[samples_option("case", 40)],
    ),
    Bench(
        "tiling-hierarchy",
        """The tensor cores' rate by the columns of a wgmma.

        On a Hopper GPU, operands in shared memory. A narrow one reads more bytes for each multiplication than
        shared memory sends.""",
        Table("dtype | N {tile[1]} | MACs a clock {macs_per_clock[*]:.1f} | MHz {sm_mhz[p50]:.0f}"),
        Table("tile | times | TFLOP/s | MHz | L2 GB {l2_bytes:.2f/1e9}", "products"),
        options=[count_option("repeats", "Repeats of all cases.", 5)],
    ),
    Bench(
        "wave-quantization",
        "A product of 12 rows and 1 to 55 columns of tiles, past one full wave of SMs after another.",
        Table("tiles | kernel | times | TFLOP/s | MHz"),
        options=[samples_option("kernel", 30)],
    ),
    Bench(
        "turnaround",
        """From a thread block's end to its successor's begin, on one SM.

        The blocks only spin. They differ in threads, shared memory, and in whether all end at once.""",
        CLOCKS,
        "launch {launch_ns} ns, of blocks as matrix products have them",
        Table(
            "threads | KB {shared_kb} | on SM {residents} | spin | cycles {cycles[p50]} | ns {ns[*]:.1f}"
            f" | min {{ns[min]:.1f}} | gaps | {MEDIANS}",
            derived(rows.median_range),
        ),
        options=[count_option("repeats", "Repeats of the whole sweep.", 5)],
    ),
]
