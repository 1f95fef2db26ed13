"""How operands lie in memory.

A matrix is row-major where the elements of a row are neighbours, column-major where those of a column are:
its transpose is row-major then. Either way its *lines*, the rows or the columns, may lie further apart than
they are long, as in a slice of a larger matrix. A layout is one of tilesim.products.LAYOUTS.
"""

import torch


def lines(x: torch.Tensor) -> tuple[torch.Tensor, bool] | None:
    """(x, False), or its transpose and True, as a view whose rows are dense; None where neither's are.

    The view's first stride is how many elements lie between the beginnings of two lines, and where there are
    fewer than two, a line's length. Nothing is copied.

    >>> view, trans = lines(torch.zeros(3, 8)[:, 2:6].T)
    >>> list(view.shape), view.stride(), trans
    ([3, 4], (8, 1), True)
    >>> lines(torch.zeros(4, 6)[::2, ::2]) is None
    True
    """
    for view, trans in ((x, False), (x.T, True)):
        rows, columns = view.shape
        if columns <= 1 or view.stride(1) == 1:
            return view.as_strided((rows, columns), (view.stride(0) if rows > 1 else columns, 1)), trans
    return None


def layout(a: torch.Tensor, b: torch.Tensor) -> str:
    """One of LAYOUTS, of operands that have lines."""
    return "".join("nt"[trans] for _, trans in filter(None, map(lines, (a, b))))
