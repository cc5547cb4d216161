"""``<use_mcp_tool>``: an MCP server, its tool, and JSON arguments, as Cline's, Roo's and MiroThinker's prompts ask.

Source: Cline's prompt and MiroFlow's parser. The call's name is ``server/tool``.
"""

from ..format import Format
from ..pattern import arguments, call, either, server, tool, ws
from ._shared import THINK

SERVER = ("<server_name>", server(), "</server_name>", ws("\n"))
TOOL = ("<tool_name>", tool(), "</tool_name>", ws("\n"))

FORMAT = Format(
    call(
        "<use_mcp_tool>",
        ws("\n"),
        either((*SERVER, *TOOL), (*TOOL, *SERVER)),
        "<arguments>",
        ws("\n"),
        arguments("json"),
        ws("\n"),
        "</arguments>",
        ws("\n"),
        "</use_mcp_tool>",
    ),
    title="<use_mcp_tool> with JSON arguments",
    before=("\n\n", "\n"),
    between="\n",
    reasoning=THINK,
    turn_ends=("<|im_end|>", "</s>"),
    rank=60,
    families=("MiroThinker (prompted)", "any model in Cline or Roo Code"),
    models=(r"mirothinker",),
    source="client prompts and parsers",
)
