"""Seed-OSS: ``<function=...>`` elements in ``<seed:tool_call>``, values directly between their tags.

Source: the chat template of Seed-OSS. It writes what is no string as Python's literal; models write JSON as well.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import section, ws
from ._function import function_call

CLOSE = "</seed:tool_call>"

FORMAT = Format(
    section(("<seed:tool_call>", ws("\n")), function_call(CLOSE, python=True), (ws("\n"), CLOSE)),
    title="<function=> elements in <seed:tool_call>",
    before=("\n\n", "\n"),
    between="\n",
    per_call=True,
    reasoning=Reasoning("<seed:think>", "</seed:think>", after="\n"),
    results=(Results("<seed:bos>tool\n{result}<seed:eos>"),),
    tools=(Tools("seed", "python_seed", "\n\n", guards=('"""',)),),
    turn_ends=("<seed:eos>",),
    special=("<seed:eos>",),
    rank=22,
    template_checked=True,
    families=("Seed-OSS-36B",),
    engines={"vllm": ("seed_oss",)},
    models=(r"seed-?oss",),
    template=(("<seed:tool_call>", "<function="),),
    source="chat template",
)
