"""Hand-written machines, for families whose text no pattern describes. They are operations like all others."""

from .harmony import harmony

MACHINES = {"harmony": harmony}
