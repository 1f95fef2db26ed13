"""The engine: plays a Plan on a Device's slots. Time advances in `events`, and nowhere else."""
