"""What is known of a device, a fact a line, each with its source or its rule."""

from collections.abc import Mapping
from typing import Any

from tilesim.devices.facts import UNITS, Fact, sources


def lines(facts: Mapping[str, Fact]) -> list[str]:
    return [*named(facts), "sources", *[f"  {name:23} {_words(name)}" for name in _listed(facts)]]


def named(facts: Mapping[str, Fact]) -> list[str]:
    rows = [(name, _value(name, fact.value), _whence(fact)) for name, fact in facts.items()]
    wide = max(len(value) for _, value, _ in rows)
    return [f"  {name:23} {value:{wide}}  {whence}" for name, value, whence in rows]


def as_json(facts: Mapping[str, Fact]) -> dict[str, Any]:
    """The same as JSON values; what a fact does not have is left out."""
    shown = {
        name: {"value": fact.value, "unit": UNITS[name]}
        | {key: found for key, found in fact._asdict().items() if found and key != "value"}
        for name, fact in facts.items()
    }
    return {"facts": shown, "sources": {name: sources()[name]._asdict() for name in _listed(facts)}}


def _listed(facts: Mapping[str, Fact]) -> list[str]:
    """The sources of some facts that devices.json lists, each once."""
    return [name for name in dict.fromkeys(fact.source for fact in facts.values()) if name in sources()]


def _value(name: str, value: Any) -> str:
    if name == "sm_tiers":
        return " + ".join(str(sum(map(len, groups))) for groups in value) + " SMs"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    words = (
        ", ".join(f"{dtype} {number:,}" for dtype, number in value.items())
        if isinstance(value, Mapping)
        else f"{value:,}"
    )
    return f"{words} {UNITS[name]}".rstrip()


def _whence(fact: Fact) -> str:
    whence = f"{fact.source}{' (unverified)' * fact.unverified}" if fact.source else f"derived: {fact.rule}"
    return f"{whence}; {fact.note}" if fact.note else whence


def _words(name: str) -> str:
    one = sources()[name]
    return ", ".join(filter(None, (one.title, f"{one.publisher} {one.year}", one.address)))
