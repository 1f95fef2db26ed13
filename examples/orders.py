"""What the order of tiles does: the same schedule and problem, visited in four sequences on an H200."""

from tilesim import Device, Problem, simulate

print(f"{'order':12} {'makespan':>12} {'utilisation':>12}")
for order in ("row-major", "column-major", "grouped:8", "hilbert"):
    trace = simulate("persistent", Problem(4096, 4096, 4096, order=order), Device.named("h200"))
    print(f"{order:12} {trace.makespan / 1000:>9.1f} µs {trace.utilization:>12.1%}")
