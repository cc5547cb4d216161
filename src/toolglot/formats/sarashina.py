"""Sarashina: a Python list of dictionaries behind ``<|tool_calls|>``, which Solar Open uses as well.

Source: SMG's parser.
"""

from ..format import Format
from ..pattern import arguments, call, lit, maybe, name, section, ws

FORMAT = Format(
    section(
        ("<|tool_calls|>", ws(), "["),
        call(
            "{",
            ws(),
            lit("'name'", '"name"'),
            ws(),
            ":",
            ws(" "),
            lit("'", '"'),
            name(),
            lit("'", '"'),
            ws(),
            ",",
            ws(" "),
            lit("'arguments'", '"arguments"'),
            ws(),
            ":",
            ws(" "),
            arguments("python_dict"),
            ws(),
            maybe(",", write=False),
            ws(),
            "}",
        ),
        "]",
        separator=", ",
    ),
    title="<|tool_calls|> with a Python list of dictionaries",
    turn_ends=("</s>",),
    special=("<|tool_calls|>", "</s>"),
    families=("Sarashina 2.2", "Sarashina 3"),
    engines={"smg": ("sarashina",)},
    models=(r"sarashina",),
    source="parser sources",
)
