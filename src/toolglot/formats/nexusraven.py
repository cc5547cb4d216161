"""NexusRaven: ``Call: f(a=1); g()<bot_end>``; Gorilla OpenFunctions v2: ``<<function>>f(a=1)<<function>>g()``.

Source: BFCL's handlers and the models' cards. A call as an argument of another, which NexusRaven may write, is no
literal and therefore an error.
"""

from ..format import Format
from ..pattern import arguments, call, either, name, section, ws

FORMAT = Format(
    either(
        section(
            ("Call:", ws(" ")),
            call(name(), "(", arguments("pythonic")),
            "<bot_end>",
            separator="; ",
        ),
        call("<<function>>", name(), "(", arguments("pythonic")),
    ),
    title="Call: f(...), or <<function>>f(...)",
    detect=False,
    before=("\n",),
    turn_ends=("<|EOT|>", "</s>"),
    families=("NexusRaven-V2", "Gorilla OpenFunctions v2"),
    models=(r"nexusraven|gorilla",),
    verified=False,
    source="BFCL handlers",
)
