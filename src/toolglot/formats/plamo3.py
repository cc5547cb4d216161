"""PLaMo 3: requests between tags of the model's own spelling, name and JSON arguments each in a pair.

Source: vLLM's parsers. Only ``<|plamo:tag|>`` is one token; other clients leave ``<|plamo:constrain|>json`` out.
"""

from ..format import Format, Reasoning
from ..pattern import arguments, call, maybe, name, section, ws


def begin(word: str) -> str:
    """An opening tag."""
    return f"<|plamo:begin_{word}:plamo|>"


def end(word: str) -> str:
    """A closing tag."""
    return f"<|plamo:end_{word}:plamo|>"


FORMAT = Format(
    section(
        begin("tool_requests"),
        call(
            begin("tool_request"),
            ws(),
            begin("tool_name"),
            name(),
            end("tool_name"),
            ws(),
            begin("tool_arguments"),
            ws(),
            maybe("<|plamo:constrain|>json"),
            "<|plamo:msg|>",
            arguments("json"),
            ws(),
            end("tool_arguments"),
            ws(),
            end("tool_request"),
        ),
        (ws(), end("tool_requests")),
    ),
    title="<|plamo:begin_tool_requests:plamo|> with name and JSON",
    reasoning=Reasoning(begin("think"), end("think"), opened=True),
    calls_in_reasoning=True,
    turn_ends=("<|plamo:tag|>",),
    special=("<|plamo:tag|>",),
    families=("PLaMo 3",),
    engines={"vllm": ("plamo3",)},
    models=(r"plamo-?3",),
    template=(("<|plamo:begin_tool_requests:plamo|>",),),
    source="parser sources",
)
