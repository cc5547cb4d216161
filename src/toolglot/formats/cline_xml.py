"""Cline, Roo Code and Kilo: the tool is a tag, and each parameter a tag in it.

Source: Cline's prompt and parser. Only declared tools and parameters are markup, so it needs ``tools``; everything else
is text. A line break behind an opening and before a closing tag is no part of a value.
"""

from ..format import Format
from ..pattern import again, call, each, key, name, value, ws
from ._shared import THINK

FORMAT = Format(
    call(
        "<",
        name(),
        ">",
        ws("\n"),
        each("<", key(), ">", value("\n", needed=True), "</", again("key"), ">", ws("\n")),
        "</",
        again("name"),
        ">",
    ),
    title="a tag for the tool, tags for its parameters",
    by_tool=True,
    detect=False,
    before=("\n\n", "\n"),
    between="\n",
    reasoning=THINK,
    families=("any model in Cline (XML mode), Roo Code, Kilo Code",),
    source="client prompt and parser",
)
