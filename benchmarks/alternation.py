"""Contenders measured in turns, so that what else a machine does meets all of them alike."""

from collections.abc import Callable, Mapping


def alternate(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """The figures that each contender returned, a call a round; each round begins with the next of them.

    >>> calls = []
    >>> contenders = {name: lambda name=name: calls.append(name) or len(calls) for name in "abc"}
    >>> alternate(contenders, 2)
    {'a': [1, 6], 'b': [2, 4], 'c': [3, 5]}
    >>> "".join(calls)
    'abcbca'
    """
    figures: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            figures[name].append(contenders[name]())
    return figures
