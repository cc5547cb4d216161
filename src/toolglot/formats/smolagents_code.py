"""smolagents' CodeAgent: a Python program between ``<code>`` tags, as the call ``python_interpreter(code=...)``.

Source: smolagents; older versions had a ``py`` fence and ``<end_code>``. The program is not looked into, and never run.
The first closer ends it, as the stop sequence does there.
"""

from ..format import Format
from ..pattern import call, either, lit, value
from ._shared import THINK

SAYS = {"name": "python_interpreter", "key": "code", "type": "string"}

FORMAT = Format(
    either(
        call(lit("<code>", **SAYS), value("\n"), lit("</code>", stop=True)),
        call(lit("```python", "```py", line=True, **SAYS), value("\n"), lit("```", stop=True)),
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
