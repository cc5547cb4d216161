"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# A busy machine is slow, not wrong; what hangs is stopped by pytest's own timeout.
settings.register_profile("toolglot", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("toolglot")
