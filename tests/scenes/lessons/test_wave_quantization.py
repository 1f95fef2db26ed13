"""The lesson on wave quantization: what it says is true of the data, or it is not made."""

from dataclasses import replace

import pytest

from tilesim.ladder.reports import report
from tilesim_scenes import wave_quantization
from tilesim_scenes.film.traces import shipped


def refused(settings=None):
    scene = wave_quantization.WaveQuantization(skip_animations=True)
    scene.settings = settings or {}
    with pytest.raises(SystemExit) as raised:
        scene.setup()
    return str(raised.value)


def test_a_second_wave_that_takes_no_longer_is_refused(monkeypatch):
    def altered(path):
        trace = shipped(path)
        if path != wave_quantization.TWO_WAVES:
            return trace
        spans = trace.spans.copy()
        for name in ("issue", "start", "drain", "ready", "fixup", "done"):
            spans[name] //= 2
        return replace(trace, spans=spans)

    monkeypatch.setattr(wave_quantization, "shipped", altered)
    assert "almost twice as long" in refused()


def test_times_that_do_not_climb_in_steps_are_refused(monkeypatch):
    measured = report("wave_quantization")
    rows = [row | {"us": 0.3 * row["tiles"]} for row in measured["rows"]]
    monkeypatch.setattr(
        wave_quantization.WaveQuantization, "report", lambda self, bench: {**measured, "rows": rows}
    )
    assert "the first step nearly doubles" in refused()


def test_steps_are_where_one_more_wave_is_needed():
    points = [(100, 40.0), (132, 44.0), (144, 88.0), (264, 90.0), (276, 135.0)]
    assert wave_quantization.steps(points, 132) == [(2, 1.0), (3, 0.5)]
