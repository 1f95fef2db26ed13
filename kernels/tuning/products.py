"""The products that `tilesim bench choice` times: layers of language models, and others drawn from seeds."""

from collections.abc import Iterable, Sequence
from functools import cache
from math import prod
from random import Random

from tilesim.products import Product

SHAPES = (
    (16, 512, 8192), (16, 7168, 2048), (16, 28672, 4096), (16, 4096, 14336), (32, 2560, 2560),
    (32, 10240, 8192), (48, 6144, 4096), (64, 4096, 4096), (64, 7168, 2048), (64, 8192, 28672),
    (64, 24576, 1536), (128, 1024, 1024), (128, 2112, 7168), (128, 10240, 8192), (128, 28672, 4096),
    (128, 4096, 14336), (200, 5120, 5120), (256, 2048, 16384), (256, 6144, 4096), (256, 8192, 8192),
    (512, 512, 28672), (512, 4096, 4096), (512, 14336, 4096), (512, 7168, 18432), (768, 3072, 768),
    (1024, 2560, 10240), (1024, 4096, 14336), (1024, 10240, 8192), (1024, 28672, 4096), (1536, 1536, 6144),
    (2000, 5120, 3584), (2048, 4096, 4096), (2048, 6144, 2048), (2048, 28672, 512), (3072, 3072, 3072),
    (4096, 1024, 7168), (4096, 4096, 14336), (4096, 10240, 8192), (4096, 28672, 4096), (6016, 2304, 1280),
    (8192, 2048, 2048), (8192, 6144, 4096), (8192, 14336, 4096), (16384, 512, 3072), (16384, 1536, 8960),
    (16384, 4096, 4096), (16384, 8192, 8192),
)  # fmt: skip
"""M, N and K of products that are timed: linear layers of language models, and others between them."""

DRAWN_KINDS, DRAWS = ("bf16:nn", "bf16:nt", "fp8:nt"), ((108, 4242), (240, 90210))
"""Further products are drawn: the kinds in turn; how many, and the seed of each draw."""

MOST_WORK, MOST_WEIGHTS = 1.2e12, 3e8
"""M · N · K and N · K of those, so that they take milliseconds at most."""

HELD_OUT = 5
"""Each of so many shapes, from the third on, is left out of all that is fitted; and of turns of the kinds."""


def drawn(count: int, seed: int, kinds: Sequence[str] = DRAWN_KINDS) -> list[tuple[int, int, int, str]]:
    """(M, N, K, kind) of sizes between those of a token and of a large batch, and of small and large layers,
    as multiples of 16, 64 or 128; the kinds in turn."""
    random, found = Random(seed), list[tuple[int, int, int, str]]()
    while len(found) < count:
        m, n, k = 2 ** random.uniform(4, 14), *(2 ** random.uniform(9, 14.8) for _ in range(2))
        step = random.choice((16, 64, 128))
        rows, *layer = max(16, int(m) // 16 * 16), *(max(512, int(side) // step * step) for side in (n, k))
        if rows * prod(layer) < MOST_WORK and prod(layer) < MOST_WEIGHTS:
            found.append((rows, layer[0], layer[1], kinds[len(found) % len(kinds)]))
    return found


@cache
def listed() -> list[tuple[tuple[int, int, int], str, bool]]:
    """M, N and K of products; their kind, "" for every kind; and whether nothing may be fitted to them."""
    found = [(shape, "", i % HELD_OUT == 2) for i, shape in enumerate(SHAPES)]
    for draw in DRAWS:
        for i, (*size, kind) in enumerate(drawn(*draw)):
            found.append((tuple(size), kind, i // len(DRAWN_KINDS) % HELD_OUT == 2))
    return found


def products(kinds: Iterable[str]) -> list[Product]:
    """Every shape of each kind, such as "bf16:nn", and what is drawn of it, in random order."""
    random, found = Random(0), []
    for kind in kinds:
        dtype, _, layout = kind.partition(":")
        sizes = [size for size, of, _ in listed() if of in ("", kind)]
        found += [Product(*size, dtype, layout) for size in random.sample(sizes, len(sizes))]
    return found


def held_out() -> frozenset[tuple[int, int, int]]:
    return frozenset(size for size, _, out in listed() if out)
