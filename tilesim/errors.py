"""The errors that a user can cause: each is a sentence that says what was wrong and what is allowed."""

from collections.abc import Iterable
from difflib import get_close_matches
from operator import index
from reprlib import Repr


class TilesimError(ValueError):
    """Base of all errors that tilesim raises on purpose."""


class ProblemError(TilesimError):
    """A matrix product that cannot be tiled: a size, tile, dtype or order out of range."""


class DeviceError(TilesimError):
    """A device that does not exist or has no free slot."""


class CostsError(TilesimError):
    """A cost that is negative, not finite or not a number."""


class ScheduleError(TilesimError):
    """A schedule that is not registered or whose parameters do not fit."""


class PlanError(TilesimError):
    """A plan that leaves out or repeats work, or that could never finish."""


class SweepError(TilesimError):
    """A sweep with an empty axis, too many combinations, or what no picture can show."""


class ReportError(TilesimError):
    """A report of `tilesim bench` that cannot be read, contradicts itself, or lacks what is asked of it."""


class KernelConfigError(TilesimError):
    """A kernel configuration that cannot be, or that a kernel does not have."""


class ChoiceError(TilesimError):
    """A product that no kernel here computes, or a measurement of choices that is none."""


class TraceError(TilesimError):
    """A trace, or a trace file, that contradicts itself."""


def whole(what: str, value: object, low: int, high: int, error: type[TilesimError]) -> int:
    """`value` as an int in [low, high], or `error` with a sentence about `what`."""
    try:
        number = index(value) if not isinstance(value, bool) else None  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise error(f"{what} is {shown(value)}; it must be a whole number from {low} to {high}")
    return number


def unknown(what: str, value: str, choices: Iterable[str]) -> str:
    """The sentence for a name that is not one of `choices`, with the nearest one offered."""
    return f"there is no {what} {shown(value)}; {nearest(value, choices)}"


def nearest(value: str, choices: Iterable[str]) -> str:
    """The end of a sentence about a name that is not one of `choices`: the nearest one, or all there are."""
    choices = list(choices)
    near = get_close_matches(value[:LONGEST_QUOTE].lower(), choices, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(choices)}"


LONGEST_QUOTE = 40
"""Characters of a value that a sentence quotes."""
_brief = Repr()
_brief.maxstring = _brief.maxother = 2 * LONGEST_QUOTE
_brief.maxlevel = 4


def shown(value: object) -> str:
    """A value as a sentence quotes it, cut where it is long; what is cut away is never written out."""
    if isinstance(value, str | bytes):
        text = repr(value[:LONGEST_QUOTE]) + "..." * (len(value) > LONGEST_QUOTE)
    else:
        try:
            text = _brief.repr(value)
        except ValueError:  # Python writes out no integer of more than 4300 digits
            return "an int of thousands of digits"
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 3]}..."
