"""Fill order: in which order the hardware gives the SMs of an idle GPU their first thread block."""

from collections.abc import Sequence

from tilesim.errors import DeviceError


def fill_order(tiers: Sequence[Sequence[Sequence[int]]], first: Sequence[int] = ()) -> tuple[int, ...]:
    """The SMs of a GPU without work in the order in which the hardware gives each a thread block.

    A tier is a list of groups that take turns in a cycle, and a group lists its SMs: a GPC's, say, TPC by
    TPC. All of a tier comes before the next, and a group has all its SMs served in its turn. Earlier launches
    decide where in its cycle a tier begins, which `first` tells: for each tier, the first SM of the group
    whose turn it is. Without it, each tier's first group begins.

    Raises DeviceError where no group begins with such an SM.

    >>> fill_order([[[6, 7]], [[0, 1, 4, 5], [2, 3]]])
    (6, 7, 0, 1, 4, 5, 2, 3)
    >>> fill_order([[[6, 7]], [[0, 1, 4, 5], [2, 3]]], first=(6, 2))
    (6, 7, 2, 3, 0, 1, 4, 5)
    """
    order: list[int] = []
    for i, groups in enumerate(tiers):
        heads = [group[0] for group in groups]
        if first and first[i] not in heads:
            raise DeviceError(f"no group begins with SM {first[i]}; in this tier they begin with {heads}")
        at = heads.index(first[i]) if first else 0
        order += [sm for group in (*groups[at:], *groups[:at]) for sm in group]
    return tuple(order)
