"""One JSON document: ``{"tool_call": {...}}`` or ``{"tool_calls": [...]}``, as llama.cpp forces it by grammar.

Source: llama.cpp's generic handler, for models without a format of their own. The list is what is written. A document
``{"response": "..."}`` is no call and stays content as it is.
"""

from ..format import Format
from ..pattern import call, call_object, section

FORMAT = Format(
    section('{"tool_calls": [', call(call_object(wrapper="tool_call")), "]}", separator=", "),
    title='a JSON document with "tool_calls"',
    tier="json",
    start=True,
    detect=False,
    families=("models without a format of their own",),
    source="parser sources",
)
