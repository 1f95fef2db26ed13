"""Trace: when and where each segment ran, simulated or measured, in one form."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from itertools import chain
from os import PathLike
from typing import Annotated, Any, BinaryIO

import numpy as np

from tilesim import metrics
from tilesim.costs import badge
from tilesim.devices.device import Device
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import recall
from tilesim.errors import TilesimError, TraceError, shown, whole
from tilesim.kernel_config import KernelConfig
from tilesim.spans import checks
from tilesim.spans.columns import FIELDS, SPAN, TIMES
from tilesim.storage import files, trace_file
from tilesim.storage.decode import between, check, decode, one_of, text
from tilesim.text import plural, unprintable
from tilesim.version import __version__
from tilesim.work import Problem, Work, decode_work, gemm_of

ORIGINS = ("simulated", "measured")
MOST_META = 2**20
"""Characters of meta as JSON."""
LONGEST_NAME = 1000
"""Characters of a schedule's name; kernels compiled from templates have long ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A run of `schedule` for `problem` on `device`.

    `spans`: read-only SPAN array, a row per segment, sorted by (issue, start, sm, slot); times are ns from
    the first issue, `cycles` are clock64 ticks from start to drain, 0 where not known. What is given is
    copied, unless it is read-only and owns its memory. `origin`: "simulated" or "measured". `tick_ns`: the
    step of the clock that stamped it. `meta`: what else is known, JSON values: launches, costs, seed, or gpu,
    driver, versions, date, and kernel_config, which `str` of a KernelConfig wrote. A device without a name
    gets that of the preset that `gpu` is, a driver's name.

    Raises TraceError, naming the row, where a K-step is missing or done twice, times run backwards, a place
    is not on the device, or two main loops overlap in one slot; and where a text in it cannot be printed,
    which is refused, not dropped, so that names that differ stay different.
    """

    problem: Work
    device: Device
    schedule: Annotated[str, text(0, LONGEST_NAME)]
    spans: np.ndarray
    origin: Annotated[str, one_of(ORIGINS)] = "simulated"
    tick_ns: Annotated[int, between(1, 10**9)] = 1
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        spans = self.spans
        frozen = isinstance(spans, np.ndarray) and spans.base is None and not spans.flags.writeable
        spans = spans if frozen else np.array(spans)
        _check_form(self, spans)
        if not checks.is_sound(self.problem, self.device, spans):
            fault = checks.fault(self.problem, self.device, spans)
            if fault:
                raise TraceError(fault)
            spans = spans[np.lexsort((spans["slot"], spans["sm"], spans["start"], spans["issue"]))]
            zero = spans["issue"].min()
            for name in TIMES:
                spans[name] -= zero
        spans.flags.writeable = False
        object.__setattr__(self, "spans", spans)
        if not self.device.name and (preset := preset_of(str(self.meta.get("gpu", "")))):
            object.__setattr__(self, "device", replace(self.device, name=preset))

    def __deepcopy__(self, memo: Any) -> "Trace":
        """Itself: nothing in it changes."""
        return self

    @property
    def gemm(self) -> Problem:
        """Its matrix product; raises ProblemError for work items, which no schedule and no costs are of."""
        return gemm_of(self.problem)

    @property
    def config(self) -> KernelConfig:
        """The configuration of its kernel, as its meta tells it: `kernel_config`, or `kernel`, `warps` and
        `stages` in files of versions before 0.2. Raises ProblemError for work items, which have no tile."""
        if "kernel_config" in self.meta:
            return KernelConfig.parse(self.meta["kernel_config"])
        return KernelConfig.noted(self.meta, self.schedule, self.gemm)

    @property
    def kernel(self) -> str:
        """What its kernel is called, "" if its meta does not tell."""
        return self.config.name if "kernel_config" in self.meta else str(self.meta.get("kernel", ""))

    @property
    def gpu(self) -> str:
        """What the driver called its GPU, or else the title of its preset; "" where nobody knows it."""
        return str(self.meta.get("gpu") or (self.device.title if self.device.name else ""))

    @property
    def makespan(self) -> int:
        """ns from the first issue to the last done."""
        return metrics.makespan(self)

    @property
    def utilization(self) -> float:
        """Share of slot-time in main loops."""
        return metrics.utilization(self)

    @property
    def busy_share(self) -> float:
        """Share of slot-time between issue and done."""
        return metrics.busy_share(self)

    @property
    def waves(self) -> int:
        """Segments over slots, rounded up."""
        return metrics.waves(self)

    def __repr__(self) -> str:
        problem, name = self.problem, " ".join(self.schedule.split())[:80]
        tiled = f" {problem.dtype} in {plural(problem.tiles, 'tile')}" if isinstance(problem, Problem) else ""
        took = f"{self.makespan / 1000:.3f} µs"
        where = f"{self.gpu or self.device.title}, {self.origin}"
        return f"<Trace: {name} on {where}, {problem.title}{tiled}, {took}>"

    def summary(self) -> dict[str, Any]:
        """Every figure by its name, as `metrics.summary`, and what they are of: JSON values, times in ns."""
        return about(self) | metrics.summary(self)

    def film(self, path: str | PathLike[str] | None = None, **options: Any) -> Any:
        """Write a film of the run, as `tilesim export` makes it, and return its path; without one it is an
        `InlineFilm` of 10 s, which a notebook shows.

        `options` are those of the command line, such as size="720p", theme="light", from_=2; the path's
        ending tells the format. `scene` is a film's name, run where none is given. Raises TilesimError where
        it cannot be made so.
        """
        # By its name, as a trace knows nothing of films.
        films = import_module(f"{__package__}.films")
        return films.inline(self, options) if path is None else films.export(self, path, options)

    def _repr_html_(self) -> str:
        """The run in the player, as notebooks show it."""
        # By its name, as it is built on traces, and only notebooks need it.
        return import_module(f"{__package__}.player").framed(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trace as .npz; the file appears under its name only when it is complete."""
        trace_file.write(path, header(self), self.spans)

    @staticmethod
    def load(path: str | PathLike[str], file: BinaryIO | None = None) -> "Trace":
        """Read a trace from .npz, and check it again; `file` is what to read where it is open already. Raises
        TraceError, which starts with the path, where it is no complete trace, comes from a newer version, or
        contradicts itself."""
        described, spans = trace_file.read(path, file)
        try:
            return _described(described, spans)
        except TilesimError as error:
            raise TraceError(f"{path}: {error}") from None


def provenance(schedule: str, problem: Work, device: Device) -> dict[str, Any]:
    """The fields of a plan's Problem and Device, its schedule, and the version of tilesim."""
    return {
        "tilesim": __version__,
        "schedule": schedule,
        "problem": problem.as_json(),
        "device": asdict(device) | {"title": device.title, "slots": device.slots},
    }


def about(trace: Trace) -> dict[str, Any]:
    """What a run is of: provenance, origin and meta; costs, badge and seed are None where it was measured."""
    meta = {name: value for name, value in trace.meta.items() if name not in ("launches", "costs", "seed")}
    costs = trace.meta.get("costs")
    return provenance(trace.schedule, trace.problem, trace.device) | {
        "origin": trace.origin,
        "costs": costs,
        "badge": None if costs is None else badge(costs, trace.device),
        "seed": trace.meta.get("seed"),
        "tick_ns": trace.tick_ns,
        "meta": meta,
    }


def header(trace: Trace) -> dict[str, Any]:
    """Everything of a trace but its spans, as JSON values."""
    return {
        "format": trace_file.FORMAT,
        "version": trace_file.VERSION,
        "problem": trace.problem.as_json(),
        "device": asdict(trace.device),
        **({"device_file": dict(entry)} if (entry := trace.device.own_entry) else {}),
        "schedule": trace.schedule,
        "origin": trace.origin,
        "tick_ns": trace.tick_ns,
        "meta": dict(trace.meta),
    }


@dataclass(frozen=True, slots=True)
class _Header:
    """What `header` says of a trace; other fields are left alone."""

    problem: dict[str, Any]
    device: dict[str, Any]
    schedule: str
    origin: str
    tick_ns: int
    meta: dict[str, Any]
    device_file: Any = None


def _described(values: Any, spans: np.ndarray) -> Trace:
    """The trace of `spans` whose header is `values`; raises TraceError where it lacks or does not fit one."""
    found = decode(_Header, values, "the header", TraceError, extra=True)
    problem = decode_work(found.problem, TraceError)
    if "device_file" in values:
        recall(decode(str, found.device.get("name"), "the device's name", TraceError), found.device_file)
    # It would have a default, which a file may not leave to us.
    device = decode(Device, {"sm_order": None} | found.device, "the device", TraceError)
    return Trace(problem, device, found.schedule, spans, found.origin, found.tick_ns, found.meta)


def _check_form(trace: Trace, spans: np.ndarray) -> None:
    if spans.dtype != SPAN or spans.ndim != 1:
        names = ", ".join(FIELDS)
        found = str(spans.dtype)[:200]
        raise TraceError(f"spans are {found}; they must be one row per segment with the fields {names}")
    if not len(spans):
        raise TraceError("the trace has no spans; it needs at least one")
    check(trace, TraceError, "schedule", "origin", "tick_ns")
    _check_meta(trace.meta)


def _check_meta(meta: object) -> None:
    if not isinstance(meta, Mapping):
        raise TraceError(f"meta is {shown(meta)}; it must be a mapping")
    if "launches" in meta:
        whole("meta's launches", meta["launches"], 1, 2**31, TraceError)
    values = dict(meta)
    if "kernel_config" in meta:
        KernelConfig.parse(meta["kernel_config"])
    for name in ("gpu", "kernel"):
        if not isinstance(values.get(name, ""), str):
            raise TraceError(f"meta's {name} is {shown(values[name])}; it must be a name")
    if files.fault(values):
        raise TraceError(f"meta must hold JSON values: {files.fault(values)}")
    try:
        text = json.dumps(values, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise TraceError(f"meta must hold JSON values: {str(error)[:200]}") from None
    if len(text) > MOST_META:
        raise TraceError(f"meta has {len(text)} characters as JSON; at most {MOST_META} are allowed")
    for each in chain.from_iterable(files.levels(values)):
        if isinstance(each, str) and (odd := unprintable(each)):
            raise TraceError(f"meta has the text {shown(each)} with a {odd}, which cannot be printed")
        for key in each if isinstance(each, dict) else ():
            if not isinstance(key, str):
                raise TraceError(f"meta has the key {shown(key)}; it must be a text")
