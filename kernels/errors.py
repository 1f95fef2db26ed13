"""What can go wrong on the way to a GPU."""

from tilesim.errors import TilesimError


class KernelError(TilesimError):
    """A product that cannot be run here: no GPU, a dtype, tile or size out of reach, a wrong result."""


class OperandError(KernelError, RuntimeError):
    """Operands that have no product, or none here; a RuntimeError too, since that is what torch.mm raises."""
