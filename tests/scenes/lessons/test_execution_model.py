"""Execution model: what fits on an SM follows from the rules, and data that says otherwise is refused."""

from copy import deepcopy

import pytest
from prepared import prepared

from tilesim.ladder.reports import report
from tilesim_scenes.execution_model import ExecutionModel


def made(monkeypatch, changed=None):
    """The film on the shipped data, with some figures of its kernel changed."""
    other = deepcopy(dict(report("execution_model")))
    for kernel in other["kernels"]:
        if (kernel["name"], kernel["tile"], kernel["stages"]) == ("naive-tma", [128, 128, 64], 3):
            kernel.update(changed or {})
    monkeypatch.setattr(ExecutionModel, "report", lambda self, bench: other)
    return prepared(ExecutionModel)


def test_two_blocks_fit_and_a_third_does_not(monkeypatch):
    scene = made(monkeypatch)
    assert 2 * scene.shared.of_block <= scene.shared.of_sm < 3 * scene.shared.of_block
    assert scene.at_once == 264 and scene.blocks == 576


@pytest.mark.parametrize(
    ("changed", "claim"),
    [
        ({"registers": 255}, "shared memory runs out first"),
        ({"seen": 1}, "two blocks were seen"),
    ],
)
def test_a_report_that_says_otherwise_is_refused(changed, claim, monkeypatch):
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, changed)
