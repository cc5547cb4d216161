"""smolagents' CodeAgent: a Python program between ``<code>`` tags, as the call ``python_interpreter(code=...)``.

Source: smolagents; older versions had a ``py`` fence and ``<end_code>``. The program is not looked into, and never run.
The first closer ends it, as the stop sequence does there.
"""

from ..format import Format
from ..pattern import Lit, call, either, lit, value
from ._shared import THINK


def program(*openers: str, line: bool = False) -> Lit:
    """What opens a program."""
    return lit(*openers, line=line, name="python_interpreter", key="code", type="string")


FORMAT = Format(
    either(
        call(program("<code>"), value("\n"), lit("</code>", stop=True)),
        call(program("```python", "```py", line=True), value("\n"), lit("\n```", stop=True)),
    ),
    title="a Python program between <code> tags",
    detect=False,
    before=("\n",),
    max_calls=1,
    reasoning=THINK,
    wrappers=("<end_code>",),
    families=("any, prompted (smolagents CodeAgent)",),
    source="client parser",
)
