"""Counts as people read them."""


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "tile"), plural(18, "tile")
    ('1 tile', '18 tiles')
    """
    return f"{count} {noun}{'s' * (count != 1)}"
