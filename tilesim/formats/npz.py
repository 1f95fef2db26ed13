"""The native form, which carries any trace whole: see `tilesim.storage.trace_file`."""

from tilesim.traces import Trace

save, load = Trace.save, Trace.load
