"""`pytest tests/fuzz --hypothesis-profile=hours` looks for hours, each time elsewhere; else the same examples."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "hours", deadline=None, max_examples=200_000, print_blob=True, suppress_health_check=list(HealthCheck)
)
