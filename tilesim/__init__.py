"""tilesim: which thread block computes which output tile, on which SM, in what order and when."""

from tilesim.costs import Costs
from tilesim.devices import Device
from tilesim.engine.simulate import simulate
from tilesim.plans import Plan
from tilesim.problems import Problem
from tilesim.schedules import SCHEDULES, plan
from tilesim.traces import Trace
from tilesim.version import __version__ as __version__

__all__ = ["SCHEDULES", "Costs", "Device", "Plan", "Problem", "Trace", "plan", "simulate"]
