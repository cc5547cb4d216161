"""Mends: what is wrong with a call's text and has one reading only. Used by ``on_error="repair"`` alone.

`json_text` mends JSON, `fit` asks whether arguments fit a tool. All give edits of the model's own text; whoever made
the error reads the edited text strictly, so a mend that is none changes nothing.

The package json-repair was tried behind a guard (every key and value of its answer in the text, in order, nothing but
punctuation left over). It still cut strings short and put a call's own members among its arguments, so it is not asked.
"""

from __future__ import annotations
