"""A format of one's own: ``toolglot check-format examples/angles.py``."""

from toolglot import Format
from toolglot.pattern import arguments, call, name, ws

FORMAT = Format(
    call("<<call ", name(), ">>", ws(), arguments("json"), ws(), "<</call>>"),
    title="JSON between double angle brackets",
    before=("\n",),
    between="\n",
    source="made up for this example",
)
