"""Simulate a run, look at its figures, and film its end: simulate, summary, film."""

from tilesim import Device, Problem, simulate

trace = simulate("persistent", Problem(384, 1536, 512), Device.named("h200", sms=4))
print(trace)
for name, figure in trace.summary().items():
    print(f"{name:24} {figure}")
trace.film("persistent.png", size="480p")  # "persistent.mp4" is the whole film
