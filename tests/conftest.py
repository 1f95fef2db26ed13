"""Every run draws the same examples; `pytest --hypothesis-profile=search` looks for new ones."""

from hypothesis import HealthCheck, settings

slow_machines = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=slow_machines)
settings.register_profile(
    "search", deadline=None, max_examples=2000, print_blob=True, suppress_health_check=slow_machines
)
settings.load_profile("same")
