"""Mends: what is wrong with a call's text and has one reading only. Used by ``on_error="repair"`` alone.

`json_text` mends JSON, `fit` asks whether arguments fit a tool, `package` asks the package json-repair where nothing
here knows a mend. All give edits of the model's own text; whoever made the error reads the edited text strictly, so
a mend that is none changes nothing.
"""

from __future__ import annotations
