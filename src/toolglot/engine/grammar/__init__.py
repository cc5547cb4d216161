"""Grammars for constrained decoding: a declaration and the tools' schemas become a small tree that three writers spell.

``schema`` reads a JSON Schema, ``values`` spells it in a format's notation, ``calls`` walks the declaration, and
``gbnf``, ``lark`` and ``tags`` write what came of it.
"""
