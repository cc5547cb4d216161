"""Hand-written machines, for families whose text no pattern describes. They are operations like all others."""

from .beam import beam
from .harmony import harmony
from .muse import muse

MACHINES = {"beam": beam, "harmony": harmony, "muse": muse}
