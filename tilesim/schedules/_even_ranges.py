"""What stream-k and stream-k-hybrid share: K-steps of many tiles, cut into one range per thread block."""

import numpy as np

from tilesim.plans import segments


def even_ranges(tiles: np.ndarray, k_steps: int, ctas: int) -> np.ndarray:
    """The segments of `ctas` thread blocks that share `tiles` evenly: a SEGMENT array, sorted by CTA.

    The tiles, `k_steps` K-steps each, are laid out as one row of `total` K-steps, of which CTA c takes
    [total * c // ctas, total * (c + 1) // ctas) (Stream-K, arXiv 2301.03598, figure 2b). It walks that range
    from its end back, tile by tile. So the owner of a tile, its highest CTA, waits for what other CTAs
    did first.

    >>> even_ranges(np.array([7, 5, 6]), 4, 2).tolist()
    [(0, 5, 0, 2), (0, 7, 0, 4), (1, 6, 0, 4), (1, 5, 2, 4)]
    """
    total, ranges = len(tiles) * k_steps, np.arange(ctas)
    share, rest = divmod(total, ctas)
    begins = share * ranges + rest * ranges // ctas
    cuts = np.union1d(np.arange(len(tiles)) * k_steps, begins[begins < total])
    cta = np.searchsorted(begins, cuts, side="right") - 1
    place = cuts // k_steps
    k0, k1 = cuts - place * k_steps, np.append(cuts, total)[1:] - place * k_steps
    return segments(cta, tiles[place], k0, k1)[np.lexsort((-cuts, cta))]
